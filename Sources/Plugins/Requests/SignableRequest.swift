// SPDX-License-Identifier: MIT
import TargetKit

/// A request before it is sent, for a ``RequestSigningPlugin`` to sign.
public struct SignableRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The URL, with its query.
    public let url: URL
    /// The header fields, including the fields of other plugins and the cookies of a `CookieStore`. The transport later
    /// adds `Host` and `Content-Length`, and `User-Agent` and `Accept-Encoding` if they are missing.
    public let headers: HTTPHeaders
    /// The body.
    public let body: TransportRequest.Body

    /// Creates a request for testing a signature.
    package init(method: HTTPMethod, url: URL, headers: HTTPHeaders = [:], body: TransportRequest.Body = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Reads the body from its start in chunks, so that large files need no memory. It can be read any number of times,
    /// and is opened again when it is sent.
    ///
    /// - Parameter take: Receives up to 64 KiB at a time, which are valid only during the call. It isn't called for an
    ///   empty body.
    /// - Throws: The error of opening or reading the body, or the closure's error.
    public func readBody(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch body {
        case .none: return
        case .data(let data):
            try data.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: Self.pieceSize) {
                    let end = min(start + Self.pieceSize, bytes.count)
                    try take(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                }
            }
        case .file, .stream: try body.source()?.readAll(take)
        }
    }

    /// Returns the complete body in memory, for small bodies.
    ///
    /// - Throws: The same errors as ``readBody(_:)``.
    public func bodyData() throws -> Data {
        if case .data(let data) = body { return data }
        var data = Data()
        try readBody { data.append(contentsOf: $0) }
        return data
    }

    /// Creates a signable request; returns `nil` if the request has no URL.
    init?(_ request: TransportRequest) {
        guard let url = request.urlRequest.url else { return nil }
        self.init(
            method: HTTPMethod(rawValue: request.urlRequest.httpMethod ?? HTTPMethod.get.rawValue),
            url: url,
            headers: HTTPHeaders(request.urlRequest.allHTTPHeaderFields ?? [:]),
            body: request.body
        )
    }

    private static let pieceSize = 64 << 10
}

extension SignableRequest: RedactedDescription {
    /// The method, URL and size, with secrets redacted.
    package var redactedDescription: String { "\(method) \(RedactedURL(url)), \(body)".inOneLine }
}
