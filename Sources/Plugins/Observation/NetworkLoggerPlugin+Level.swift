// SPDX-License-Identifier: MIT
import TargetKit

extension NetworkLoggerPlugin {
    /// What is logged: one of the levels, or several together.
    ///
    /// ```swift
    /// NetworkLoggerPlugin(level: .basic)
    /// NetworkLoggerPlugin(level: [.basic, .errors])
    /// NetworkLoggerPlugin(level: [.basic, .curl])
    /// ```
    public struct Level: OptionSet, Sendable, Hashable {
        /// A bit for each part of a call.
        public let rawValue: Int

        /// The parts whose bits are set.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Failures, with the bodies of refused responses: for a released app.
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
        /// Why a call failed, in one line; and the ``response`` line of a status of 400 or more.
        package static let failure = Level(rawValue: 1 << 6)
        /// The body of a response that the target doesn't accept, or whose status is 400 or more.
        package static let errorBody = Level(rawValue: 1 << 7)
    }
}
