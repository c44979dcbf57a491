// SPDX-License-Identifier: MIT
import TargetKit

extension NetworkLoggerPlugin {
    /// Redaction, body limit, clock, and whether the logger is enabled.
    public struct Options: Sendable {
        /// What is redacted; default: ``LogRedaction/standard``.
        let redaction: LogRedaction
        /// How many bytes of a body are shown; default 4096. A longer body is cut off, and its size is shown.
        let bodyLimit: Int
        /// The clock that measures durations; default the continuous clock.
        let clock: any Clock<Duration>
        /// Whether the logger is enabled, evaluated at each hook; default: always. A disabled logger makes no texts.
        let isEnabled: @Sendable () -> Bool

        /// Options; by default secrets are redacted, 4096 bytes of a body are shown, and the logger is enabled.
        public init(
            redaction: LogRedaction = .standard,
            bodyLimit: Int = 4096,
            clock: any Clock<Duration> = ContinuousClock(),
            isEnabled: @escaping @Sendable () -> Bool = { true }
        ) {
            self.redaction = redaction
            self.bodyLimit = bodyLimit
            self.clock = clock
            self.isEnabled = isEnabled
        }
    }
}

extension NetworkLoggerPlugin {
    /// What is logged: one of the levels, or a set of parts.
    ///
    /// ```swift
    /// NetworkLoggerPlugin(level: .basic)
    /// NetworkLoggerPlugin(level: [.basic, .errorBody])
    /// NetworkLoggerPlugin(level: [.curl, .response, .failure])
    /// ```
    public struct Level: OptionSet, Sendable, Hashable {
        /// A bit for each part.
        public let rawValue: Int

        /// The parts whose bits are set.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Method and URL.
        public static let request = Level(rawValue: 1 << 0)
        /// The request's header fields.
        public static let requestHeaders = Level(rawValue: 1 << 1)
        /// The request's body.
        public static let requestBody = Level(rawValue: 1 << 2)
        /// The response's status, size and time.
        public static let response = Level(rawValue: 1 << 3)
        /// The response's header fields.
        public static let responseHeaders = Level(rawValue: 1 << 4)
        /// The response's body.
        public static let responseBody = Level(rawValue: 1 << 5)
        /// Why a call failed, in one line; and the ``response`` line of a status of 400 or more.
        public static let failure = Level(rawValue: 1 << 6)
        /// The body of a response that the target does not accept, or whose status is 400 or more.
        public static let errorBody = Level(rawValue: 1 << 7)
        /// The request as a curl command, instead of its other parts.
        public static let curl = Level(rawValue: 1 << 8)

        /// Nothing.
        public static let none: Level = []
        /// Failures, with the bodies of refused responses: for a released app.
        public static let errors: Level = [.failure, .errorBody]
        /// A line for each request, response and failure.
        public static let basic: Level = [.request, .response, .failure]
        /// ``basic`` with header fields.
        public static let headers: Level = [.basic, .requestHeaders, .responseHeaders]
        /// ``basic`` with header fields and bodies.
        public static let body: Level = [.headers, .requestBody, .responseBody, .errorBody]
    }
}
