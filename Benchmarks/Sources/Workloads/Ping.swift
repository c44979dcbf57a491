// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The smallest call: a GET of the server's root.
public struct Ping: TargetType {
    /// The server's URL.
    public let baseURL: URL

    /// A call of a server.
    public init(baseURL: URL) {
        self.baseURL = baseURL
    }

    /// The root.
    public var path: RequestPath { "/" }
    /// A status between 200 and 299.
    public var validation: StatusValidation { .successCodes }
}
