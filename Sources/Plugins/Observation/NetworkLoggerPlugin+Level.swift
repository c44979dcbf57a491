// SPDX-License-Identifier: MIT
import TargetKit

extension NetworkLoggerPlugin {
    /// The parts of a call that are logged. Levels can be combined.
    ///
    /// ```swift
    /// NetworkLoggerPlugin(level: .basic)
    /// NetworkLoggerPlugin(level: [.basic, .errors])
    /// NetworkLoggerPlugin(level: [.basic, .curl])
    /// ```
    public struct Level: OptionSet, Sendable, Hashable {
        /// The bits, one for each part of a call.
        public let rawValue: Int

        /// Creates a level from bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Failures, with the bodies of rejected responses, for a released app.
        public static let errors: Level = [.failure, .errorBody]
        /// A line for each request, response and failure.
        public static let basic: Level = [.request, .response, .failure]
        /// ``basic`` with header fields.
        public static let headers: Level = [.basic, .requestHeaders, .responseHeaders]
        /// ``basic`` with header fields and bodies.
        public static let body: Level = [.headers, .requestBody, .responseBody, .errorBody]
        /// Each request as a curl command, instead of its line, header fields and body.
        public static let curl = Level(rawValue: 1 << 8)

        /// Method and URL.
        package static let request = Level(rawValue: 1 << 0)
        /// The request's header fields.
        package static let requestHeaders = Level(rawValue: 1 << 1)
        /// The request's body.
        package static let requestBody = Level(rawValue: 1 << 2)
        /// The response's status, size and time.
        package static let response = Level(rawValue: 1 << 3)
        /// The response's header fields.
        package static let responseHeaders = Level(rawValue: 1 << 4)
        /// The response's body.
        package static let responseBody = Level(rawValue: 1 << 5)
        /// The reason for a failure in one line, and the ``response`` line of a status of 400 or higher.
        package static let failure = Level(rawValue: 1 << 6)
        /// The body of a response that the target doesn't accept, or whose status is 400 or higher.
        package static let errorBody = Level(rawValue: 1 << 7)
    }
}
