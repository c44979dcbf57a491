// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitRedaction

extension NetworkLoggerPlugin {
    /// The settings of a ``NetworkLoggerPlugin``.
    public struct Configuration: Sendable {
        /// Receives the lines about a request or a response.
        public typealias OutputType = (_ target: any TargetType, _ items: [String]) -> Void

        /// Formats the lines.
        public var formatter: Formatter
        /// Receives the lines.
        public var output: OutputType {
            get { outputs.value }
            set { outputs = Unchecked(newValue) }
        }
        /// The parts that are logged.
        public var logOptions: LogOptions

        private var outputs: Unchecked<OutputType>

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - formatter: Formats the lines; default: with the date and the time.
        ///   - output: Receives the lines; default: prints each of them.
        ///   - logOptions: The parts that are logged; default: the method and the header fields.
        public init(
            formatter: Formatter = Formatter(),
            output: @escaping OutputType = defaultOutput,
            logOptions: LogOptions = .default
        ) {
            self.formatter = formatter
            outputs = Unchecked(output)
            self.logOptions = logOptions
        }

        /// Prints each line.
        public static func defaultOutput(target: any TargetType, items: [String]) {
            for item in items { print(item) }
        }
    }
}

extension NetworkLoggerPlugin.Configuration {
    /// The parts of requests and responses that are logged.
    public struct LogOptions: OptionSet, Sendable {
        /// The bits of the options.
        public let rawValue: Int

        /// Creates options.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The method of the request.
        public static let requestMethod = LogOptions(rawValue: 1 << 0)
        /// The body of the request, if it is in memory.
        public static let requestBody = LogOptions(rawValue: 1 << 1)
        /// The header fields of the request.
        public static let requestHeaders = LogOptions(rawValue: 1 << 2)
        /// The request as a cURL command, instead of its method, header fields and body.
        public static let formatRequestAscURL = LogOptions(rawValue: 1 << 3)
        /// The body of each response.
        public static let successResponseBody = LogOptions(rawValue: 1 << 4)
        /// The body of a response that is an error.
        public static let errorResponseBody = LogOptions(rawValue: 1 << 5)

        /// The method and the header fields.
        public static let `default`: LogOptions = [requestMethod, requestHeaders]
        /// All parts, without the cURL command.
        public static let verbose: LogOptions = [
            requestMethod, requestHeaders, requestBody, successResponseBody, errorResponseBody,
        ]
    }

    /// The format of the lines.
    public struct Formatter: Sendable {
        /// Returns the text of a body.
        public typealias DataFormatterType = (Data) -> (String)
        /// Returns a line.
        public typealias EntryFormatterType = (
            _ identifier: String, _ message: String, _ target: any TargetType
        ) -> String

        /// Returns a line.
        public var entry: EntryFormatterType {
            get { functions.value.entry }
            set { functions = Unchecked((newValue, requestData, responseData)) }
        }
        /// Returns the text of a request's body.
        public var requestData: DataFormatterType {
            get { functions.value.requestData }
            set { functions = Unchecked((entry, newValue, responseData)) }
        }
        /// Returns the text of a response's body.
        public var responseData: DataFormatterType {
            get { functions.value.responseData }
            set { functions = Unchecked((entry, requestData, newValue)) }
        }

        private typealias Functions = (
            entry: EntryFormatterType, requestData: DataFormatterType, responseData: DataFormatterType
        )

        private var functions: Unchecked<Functions>

        /// Creates a formatter.
        ///
        /// - Parameters:
        ///   - entry: Returns a line; default: one with the date and the time.
        ///   - requestData: Returns the text of a request's body; default: without the values of secret fields.
        ///   - responseData: Returns the text of a response's body; default: without the values of secret fields.
        public init(
            entry: @escaping EntryFormatterType = defaultEntryFormatter,
            requestData: @escaping DataFormatterType = defaultDataFormatter,
            responseData: @escaping DataFormatterType = defaultDataFormatter
        ) {
            functions = Unchecked((entry, requestData, responseData))
        }

        /// Returns the text of a body, without the values of fields such as `password` and `token`.
        public static func defaultDataFormatter(_ data: Data) -> String {
            guard String(data: data, encoding: .utf8) != nil else { return "## Cannot map data to String ##" }
            return String(decoding: Redaction().body(data, contentType: nil), as: UTF8.self)
        }

        /// Returns a line: `Moya_Logger: [date] identifier: message`.
        public static func defaultEntryFormatter(
            identifier: String,
            message: String,
            target: any TargetType
        ) -> String {
            "Moya_Logger: [\(dateFormatter.value.string(from: Date()))] \(identifier): \(message)"
        }

        private static let dateFormatter: Unchecked<DateFormatter> = {
            let formatter = DateFormatter()
            formatter.timeStyle = .short
            formatter.dateStyle = .short
            return Unchecked(formatter)
        }()
    }
}
