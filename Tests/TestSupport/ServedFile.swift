// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting

/// One version of a file on a server.
public struct ServedFile: Sendable {
    /// The bytes.
    public var data: Data
    /// `ETag` and `Last-Modified`.
    public var validators: HTTPHeaders
    /// The time between two pieces of 128 KiB; `nil`: none.
    public var pace: Duration?

    /// Bytes that depend on the seed, with a strong entity tag.
    public init(size: Int, seed: UInt64 = 1, validators: HTTPHeaders? = nil) {
        var random = SeededGenerator(seed: seed)
        let words = (0..<(size + 7) / 8).map { _ in random.next() }
        self.data = words.withUnsafeBytes { Data($0.prefix(size)) }
        self.validators = validators ?? ["ETag": "\"v\(seed)\""]
    }

    /// A response as RFC 9110 §14 requires it.
    ///
    /// - Parameter cut: The number of bytes of the body after which the connection is closed; with a pace, after which
    ///   nothing more is sent.
    public func response(to request: TestServer.Request, cut: Int? = nil) -> TestServer.Response {
        let condition = request.headers["if-range"]
        let isCurrent = condition == nil || validators.contains { $0.value == condition }
        guard isCurrent, let field = request.headers["range"], let (first, last) = Self.range(of: field) else {
            return response(status: 200, data, ["Accept-Ranges": "bytes"], cut: cut)
        }
        guard first < data.count else {
            return response(status: 416, Data(), ["Content-Range": "bytes */\(data.count)"])
        }
        let end = min(last.map { $0 + 1 } ?? data.count, data.count)
        let range = "bytes \(first)-\(end - 1)/\(data.count)"
        return response(status: 206, data[first..<end], ["Content-Range": range], cut: cut)
    }

    /// A response with the validators.
    ///
    /// - Parameter cut: As in ``response(to:cut:)``.
    public func response(status: Int, _ body: Data, _ fields: HTTPHeaders, cut: Int? = nil) -> TestServer.Response {
        var headers = validators.merging(fields)
        if let pace {
            headers.add("Content-Length", value: String(body.count))
            let body = TestServer.Step.drip(body.prefix(cut ?? body.count), chunkSize: 128 << 10, every: pace)
            let head = TestServer.Step.head(status: status, headers: headers)
            return cut == nil ? [head, body] : [head, body, .hang]
        }
        guard let cut, cut < body.count else {
            return TestServer.Response(status: status, headers: headers, body: body)
        }
        headers.add("Content-Length", value: String(body.count))
        return [.head(status: status, headers: headers), .body(body.prefix(cut)), .close]
    }

    /// The first position of `bytes=123-`.
    public static func first(of field: String) -> Int? { range(of: field)?.first }

    /// The positions of `bytes=123-` or `bytes=123-456`.
    public static func range(of field: String) -> (first: Int, last: Int?)? {
        guard field.hasPrefix("bytes=") else { return nil }
        let bounds = field.dropFirst("bytes=".count).split(separator: "-")
        guard let first = bounds.first.flatMap({ Int($0) }) else { return nil }
        return (first, bounds.dropFirst().first.flatMap { Int($0) })
    }
}
