// SPDX-License-Identifier: MIT

/// The types that generated code uses and that belong to no schema. Only those that are used are written.
struct SupportRenderer {
    let access: Access
    let names: APINames
    let usesDates: Bool

    /// The files for what the other files use.
    func files(for texts: [String], from document: String) -> [SourceFile] {
        let used = Self.words(of: texts)
        var files: [SourceFile] = []
        func add(_ name: String, _ source: String) {
            let imported = Access(isPublic: access.isPublic && source.contains("public "))
            let source = access.isPublic ? source : Self.internalSource(source)
            files.append(
                SourceWriter.file(name + ".swift", from: document, access: imported, imports: ["TargetKit"]) {
                    $0.lines(source)
                }
            )
        }
        add(SwiftName.type(names.module) + "Coders", coders)
        if used.contains("CalendarDate") { add("CalendarDate", Self.calendarDate) }
        if used.contains("FileUpload") { add("FileUpload", Self.fileUpload) }
        if used.contains("Indirect") { add("Indirect", Self.indirect) }
        if used.contains("AnyCodingKey") { add("AnyCodingKey", Self.anyCodingKey) }
        if used.contains("QueryFields") { add("QueryFields", Self.queryFields) }
        if !used.isDisjoint(with: ["escapedList", "escapedQuery", "ObjectText"]) { add("EscapedText", escapedText) }
        if used.contains("ObjectText") { add("ObjectText", objectText) }
        if used.contains("JSONText") { add("JSONText", jsonText) }
        if used.contains("cookieText") { add("CookieText", Self.cookieText) }
        if used.contains("checking") { add("EncodingCheck", encodingCheck) }
        return files
    }

    /// The words of the files that are the name of one of the types.
    private static func words(of texts: [String]) -> Set<String> {
        let names: Set = [
            "CalendarDate", "FileUpload", "Indirect", "AnyCodingKey", "QueryFields", "ObjectText", "JSONText",
            "checking", "cookieText", "escapedList", "escapedQuery",
        ]
        let lengths = Set(names.map(\.utf8.count))
        var found: Set<String> = []
        for text in texts {
            for word in text.utf8.split(whereSeparator: { !isPartOfWord($0) }) where lengths.contains(word.count) {
                if let word = String(word), names.contains(word) { found.insert(word) }
            }
        }
        return found
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }

    private static func internalSource(_ source: String) -> String { source.replacing("public ", with: "") }

    /// Dates with their fractions of a second, as in JSON.
    private var dates: String { usesDates ? ".custom { try RFC3339.checked($0) }" : ".iso8601" }

    private var coders: String {
        var text = """
            extension ParameterEncoding where Self == URLEncoding {
                /// Writes parameters as OpenAPI's style `form` does: `key=a&key=b`, `true`, ISO 8601.
                nonisolated static var \(names.coders): URLEncoding {
                    URLEncoding(destination: .query, arrays: .plain, bools: .literal, dates: \(dates))
                }
            }

            extension URLEncodedFormEncoder {
                /// Writes values as OpenAPI's style `form` does: `key=a&key=b`, `true`, ISO 8601.
                nonisolated static let \(names.coders) = URLEncodedFormEncoder(
                    arrayEncoding: .plain,
                    boolEncoding: .literal,
                    dateEncoding: \(dates)
                )
            }
            """
        if usesDates { text += "\n\n" + dateCoders }
        return text
    }

    private var dateCoders: String {
        """
        extension JSONDecoder {
            /// Reads dates as RFC 3339 writes them, with or without fractions of a second.
            nonisolated static let \(names.coders): JSONDecoder = {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .custom { decoder in
                    let container = try decoder.singleValueContainer()
                    let text = try container.decode(String.self)
                    if let date = RFC3339.date(text) { return date }
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\\(text)” is no date.")
                }
                return decoder
            }()
        }

        extension JSONEncoder {
            /// Writes dates as RFC 3339 does. Keys are sorted.
            nonisolated static let \(names.coders): JSONEncoder = {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                encoder.dateEncodingStrategy = .custom { date, encoder in
                    var container = encoder.singleValueContainer()
                    try container.encode(RFC3339.checked(date))
                }
                return encoder
            }()
        }

        /// Dates as RFC 3339 §5.6 writes them.
        enum RFC3339 {
            /// Reads `2024-01-31T09:05:00.25+01:00`. Without an offset, the time is UTC.
            nonisolated static func date(_ text: String) -> Date? {
                let marks = text.split { !$0.isNumber }.compactMap { Int($0) }
                guard marks.count >= 5, text.utf8.count >= 16 else { return nil }
                let rest = text.dropFirst(16)
                let seconds = rest.hasPrefix(":") ? rest.dropFirst().prefix { $0.isNumber || $0 == "." } : "0"
                let zone = rest.drop { $0 == ":" || $0 == "." || $0.isNumber }
                guard let second = Double(seconds), let offset = offset(zone) else { return nil }
                var days = DateComponents(year: marks[0], month: marks[1], day: marks[2])
                days.calendar = Calendar(identifier: .gregorian)
                days.timeZone = TimeZone(secondsFromGMT: 0)
                guard days.isValidDate, let day = days.date, marks[3] < 24, marks[4] < 60 else { return nil }
                return day.addingTimeInterval(Double(marks[3] * 3600 + marks[4] * 60 - offset) + second)
            }

            private nonisolated static func offset(_ zone: Substring) -> Int? {
                if zone.isEmpty || zone == "Z" || zone == "z" { return 0 }
                let digits = zone.dropFirst().filter(\\.isNumber)
                guard let sign = zone.first, sign == "+" || sign == "-", let number = Int(digits) else { return nil }
                let seconds = digits.count > 2 ? number / 100 * 3600 + number % 100 * 60 : number * 3600
                return sign == "-" ? -seconds : seconds
            }

            /// Writes a date in UTC, with milliseconds if it has a fraction. A date outside of the years 1 to 9999, which the
            /// format can't express, is a number of seconds.
            nonisolated static func text(_ date: Date) -> String { (try? checked(date)) ?? "\\(date.timeIntervalSince1970)" }

            /// Writes a date as `text` does.
            ///
            /// - Throws: `EncodingError` for a date outside of the years 1 to 9999.
            nonisolated static func checked(_ date: Date) throws -> String {
                let seconds = date.timeIntervalSince1970
                guard (-62_135_596_800..<253_402_300_799).contains(seconds) else {
                    let context = EncodingError.Context(codingPath: [], debugDescription: "RFC 3339 has no such year.")
                    throw EncodingError.invalidValue(date, context)
                }
                return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: seconds != seconds.rounded()))
            }
        }
        """
    }

    private static let calendarDate = """
        /// A day of the calendar without a time, such as `2024-01-31` (RFC 3339's `full-date`).
        public struct CalendarDate: RawRepresentable, Hashable, Codable, ResponseModel, RequestModel {
            /// The text, as it is sent.
            public var rawValue: String

            /// Creates a day from its text, which isn't checked.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// Creates a day.
            public init(year: Int, month: Int, day: Int) {
                func padded(_ number: Int, _ count: Int) -> String {
                    String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
                }
                rawValue = "\\(padded(year, 4))-\\(padded(month, 2))-\\(padded(day, 2))"
            }

            /// Year, month and day; `nil` if the text isn't a day.
            public var components: DateComponents? {
                let parts = rawValue.split(separator: "-").compactMap { Int($0) }
                guard parts.count == 3 else { return nil }
                return DateComponents(year: parts[0], month: parts[1], day: parts[2])
            }
        }
        """

    private static let fileUpload = """
        /// A file in a form.
        public enum FileUpload: Sendable, Hashable {
            /// A file on disk, which is read while it is sent.
            case file(URL, mimeType: String? = nil)
            /// Bytes in memory with a name for them.
            case data(Data, fileName: String, mimeType: String? = nil)

            /// The part of the form for a field.
            nonisolated func part(named name: String, mimeType: String? = nil) -> MultipartForm.Part {
                switch self {
                case .file(let url, let type):
                    .file(url, name: name, mimeType: type ?? mimeType)
                case .data(let data, let fileName, let type):
                    .data(data, name: name, fileName: fileName, mimeType: type ?? mimeType)
                }
            }
        }
        """

    private static let indirect = """
        /// A value in a box, for a struct that contains values of its own type.
        public indirect enum Indirect<Value: Sendable & Hashable & Codable>: Hashable, Codable, ResponseModel, RequestModel {
            /// The boxed value.
            case boxed(Value)

            /// Puts a value in a box.
            public init(_ value: Value) {
                self = .boxed(value)
            }

            /// Decodes the value itself.
            public init(from decoder: any Decoder) throws {
                self = .boxed(try Value(from: decoder))
            }

            /// Encodes the value itself.
            public func encode(to encoder: any Encoder) throws {
                try value.encode(to: encoder)
            }

            /// The value in the box.
            public var value: Value {
                get {
                    switch self {
                    case .boxed(let value): value
                    }
                }
                set { self = .boxed(newValue) }
            }
        }
        """

    private static let anyCodingKey = """
        /// The name of any member of an object.
        struct AnyCodingKey: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) {
                self.stringValue = stringValue
            }

            init?(intValue: Int) {
                nil
            }
        }
        """.replacing("        nil\n", with: "        return nil\n")

    private static let cookieText = """
        extension String {
            /// The text as the value of a cookie: characters that it can't have (RFC 6265 §4.1.1), and `%`, are escaped.
            nonisolated var cookieText: String {
                var text = ""
                for byte in utf8 {
                    switch byte {
                    case 0x21, 0x23, 0x24, 0x26...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E:
                        text.unicodeScalars.append(Unicode.Scalar(byte))
                    default:
                        text += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
                    }
                }
                return text
            }
        }
        """

    private static let queryFields = """
        /// The properties of a value as items of a query; none for `nil`.
        struct QueryFields<Value: Encodable & Sendable>: RequestModel {
            private let value: Value?

            init(_ value: Value?) {
                self.value = value
            }

            func encode(to encoder: any Encoder) throws {
                if let value { try value.encode(to: encoder) } else { try [String: String]().encode(to: encoder) }
            }
        }
        """

    private var escapedText: String {
        """
        /// Returns the items of a query, without those that are `nil`, after `?` or `&`. The values are escaped already.
        nonisolated func escapedQuery(_ start: String, _ items: KeyValuePairs<String, String?>) -> String {
            let items = items.compactMap { name, value in value.map { [name].escapedList(separator: "") + "=" + $0 } }
            return items.isEmpty ? "" : start + items.joined(separator: "&")
        }

        extension [String] {
            /// The values with a separator that isn't escaped. In the values, everything is escaped but the unreserved
            /// characters of RFC 3986 §2.3.
            nonisolated func escapedList(separator: String) -> String {
                map { $0.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
                    .joined(separator: separator)
            }

            private nonisolated static var unreserved: CharacterSet {
                CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
            }
        }
        """
    }

    private var objectText: String {
        let encoder = usesDates ? ".\(names.coders)" : "JSONEncoder()"
        return """
            /// The names and values of an object as one text.
            struct ObjectText: Sendable {
                /// The members in the order of their names. An `EncodingCheck` fails the call if the value can't be encoded.
                private let members: [(name: String, value: String)]

                nonisolated init(_ value: some Encodable) {
                    let object = try? JSONValue(encoding: value, using: \(encoder)).object
                    members = (object ?? [:]).filter { $0.value != .null }.sorted { $0.key < $1.key }
                        .map { ($0.key, $0.value.lenient.string ?? $0.value.description) }
                }

                /// The text as it is in a header field.
                nonisolated func text(pair: String, separator: String) -> String {
                    members.map { $0.name + pair + $0.value }.joined(separator: separator)
                }

                /// The text with the names and values escaped, and neither `pair` nor `separator`.
                nonisolated func escaped(pair: String, separator: String) -> String {
                    members.map { [$0.name, $0.value].escapedList(separator: pair) }.joined(separator: separator)
                }
            }
            """
    }

    private var jsonText: String {
        let encoder = usesDates ? ".\(names.coders)" : "Self.encoder"
        let sorted =
            usesDates
            ? ""
            : """


                /// Keys are sorted, so that equal values give equal text.
                private static var encoder: JSONEncoder {
                    let encoder = JSONEncoder()
                    encoder.outputFormatting = .sortedKeys
                    return encoder
                }
            """
        return """
            /// A value as JSON text.
            struct JSONText<Value: Encodable & Sendable>: RequestModel {
                private let value: Value?

                init(_ value: Value?) {
                    self.value = value
                }

                /// The text. An `EncodingCheck` fails the call if the value can't be encoded.
                var text: String {
                    value.flatMap { try? JSONValue(encoding: $0, using: \(encoder)) }?.description ?? ""
                }

                func encode(to encoder: any Encoder) throws {
                    var container = encoder.singleValueContainer()
                    guard let value else { return try container.encodeNil() }
                    try container.encode(JSONValue(encoding: value, using: \(encoder)).description)
                }\(sorted)
            }
            """
    }

    private var encodingCheck: String {
        let encoder = usesDates ? ".\(names.coders)" : "JSONEncoder()"
        return """
            extension HTTPTask {
                /// Fails the call if a value that is written into its path or header fields can't be encoded.
                nonisolated static func checking(_ value: (some Encodable & Sendable)?, of parameter: String) -> HTTPTask {
                    .plain.checking(value, of: parameter)
                }

                /// Fails the call if a value that is written into its path or header fields can't be encoded.
                nonisolated func checking(_ value: (some Encodable & Sendable)?, of parameter: String) -> HTTPTask {
                    query(EncodingCheck(value, of: parameter))
                }
            }

            /// An addition to the query that has no items, and an error for a value that can't be encoded.
            private struct EncodingCheck<Value: Encodable & Sendable>: RequestModel {
                private let value: Value?
                private let parameter: String

                init(_ value: Value?, of parameter: String) {
                    self.value = value
                    self.parameter = parameter
                }

                func encode(to encoder: any Encoder) throws {
                    do {
                        if let value { _ = try JSONValue(encoding: value, using: \(encoder)) }
                    } catch {
                        let context = EncodingError.Context(
                            codingPath: [Name(stringValue: parameter)],
                            debugDescription: "The value of the parameter can't be encoded.",
                            underlyingError: error
                        )
                        throw EncodingError.invalidValue(value as Any, context)
                    }
                    try [String: String]().encode(to: encoder)
                }

                /// The parameter in the error's path, which descriptions of errors keep.
                private struct Name: CodingKey {
                    let stringValue: String
                    var intValue: Int? { nil }

                    init(stringValue: String) {
                        self.stringValue = stringValue
                    }

                    init?(intValue: Int) {
                        return nil
                    }
                }
            }
            """
    }
}
