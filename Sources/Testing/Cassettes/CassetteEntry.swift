// SPDX-License-Identifier: MIT
import TargetKit

/// A recorded call: one document of a cassette.
public struct CassetteEntry: Sendable, Hashable {
    /// The name of the document without its extension, for example `001-GET-products`.
    public let name: String
    /// The method of the request.
    public let method: HTTPMethod
    /// The URL of the request, with secrets redacted.
    public let url: String
    /// The status of the response; `nil` for a failure without a response.
    public let statusCode: Int?
}

extension CassetteEntry: CustomStringConvertible {
    /// The name, request and status on one line.
    public var description: String {
        "\(name): \(method.rawValue) \(url)".inOneLine + (statusCode.map { " → \($0)" } ?? " → failure")
    }
}
