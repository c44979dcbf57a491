// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A request as it is about to go out, for a ``RequestSigningPlugin`` to sign.
public struct SignableRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The URL, with its query.
    public let url: URL
    /// The header fields, those of all plugins included. The transport adds some of its own later: `Host`, `Content-Length`,
    /// `User-Agent` and `Accept-Encoding` where nobody has set them, and the cookies of a `CookieStore`.
    public let headers: HTTPHeaders
    /// Where the body's bytes come from.
    public let body: TransportRequest.Body

    /// A request made by hand, to test a signature.
    public init(method: HTTPMethod, url: URL, headers: HTTPHeaders = [:], body: TransportRequest.Body = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Reads the body from its start, piece by piece, so that a large file costs no memory. It may be read any number of times:
    /// what goes out is opened anew.
    ///
    /// - Parameter take: Gets up to 64 KiB at a time, only to be used until it returns. Is not called for a body without bytes.
    /// - Throws: What opening or reading the body throws, and what the closure throws.
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
        case .file(let url): try Self.read(try FileBodySource(url), take)
        case .stream(let source): try Self.read(source, take)
        }
    }

    /// The whole body in memory: for bodies that are known to be small.
    ///
    /// - Throws: What ``readBody(_:)`` throws.
    public func bodyData() throws -> Data {
        if case .data(let data) = body { return data }
        var data = Data()
        try readBody { data.append(contentsOf: $0) }
        return data
    }

    private static let pieceSize = 64 << 10

    private static func read(_ source: any BodySource, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        let reader = try source.open()
        try withUnsafeTemporaryAllocation(byteCount: pieceSize, alignment: 16) { buffer in
            while true {
                let count = try reader.read(into: buffer)
                guard count > 0 else { return }
                try take(UnsafeRawBufferPointer(rebasing: buffer[..<min(count, buffer.count)]))
            }
        }
    }
}

extension SignableRequest: RedactedDescription {
    /// The method, URL and size, with secrets redacted.
    var redactedDescription: String { "\(method) \(RedactedURL(url)), \(body)".inOneLine }
}
