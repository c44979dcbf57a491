// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The response to a call.
public final class Response: CustomDebugStringConvertible, Equatable, Sendable {
    /// The status code.
    public let statusCode: Int
    /// The body; empty if it was stored in a file.
    public let data: Data
    /// The request that was sent; `nil` if it is unknown.
    public let request: URLRequest?
    /// The head of the response; `nil` if the call was stubbed by a status code and data.
    public let response: HTTPURLResponse?

    /// Creates a response.
    public init(statusCode: Int, data: Data, request: URLRequest? = nil, response: HTTPURLResponse? = nil) {
        self.statusCode = statusCode
        self.data = data
        self.request = request
        self.response = response
    }

    /// The status code and the length of the body.
    public var description: String { "Status Code: \(statusCode), Data Length: \(data.count)" }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// Whether both have the same status code, body and head. The requests aren't compared.
    public static func == (left: Response, right: Response) -> Bool {
        left.statusCode == right.statusCode && left.data == right.data && left.response == right.response
    }
}

extension Response: CustomReflectable {
    /// A mirror with only the description, because the request and the body can contain secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Returns the result of a response, its body and a failure.
public func convertResponseToResult(
    _ response: HTTPURLResponse?,
    request: URLRequest?,
    data: Data?,
    error: (any Error)?
) -> Result<Response, MoyaError> {
    let response = response.map {
        Response(statusCode: $0.statusCode, data: data ?? Data(), request: request, response: $0)
    }
    if let error { return .failure(.underlying(error, response)) }
    guard let response else {
        return .failure(.underlying(NSError(domain: NSURLErrorDomain, code: NSURLErrorUnknown, userInfo: nil), nil))
    }
    return .success(response)
}
