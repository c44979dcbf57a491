// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
import TargetKit

/// Sends requests with any client that takes an `HTTPRequest` and a body, and returns an `HTTPResponse` and a body.
///
/// Bodies are in memory: the size of a response is checked when it is complete, and there is no progress.
public struct HTTPTypesTransport: Transport {
    /// Performs one exchange: it follows no redirects, and ends with its task.
    public typealias Exchange = @Sendable (HTTPRequest, Data) async throws -> (HTTPResponse, Data)

    /// `false`, because a body is delivered when it is complete.
    public var streamsResponses: Bool { false }
    private let exchange: Exchange

    /// Creates a transport that uses a client.
    public init(_ exchange: @escaping Exchange) {
        self.exchange = exchange
    }

    /// Performs one exchange.
    ///
    /// - Throws: A `URLError` or `CancellationError`, or the error of the client or of the request's ``BodySource``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let (head, content) = (try HTTPRequest(request), try Self.content(of: request.body))
        let (response, body) = try await exchange(head, content)
        return TransportResponse(head: ResponseHead(response), body: try Self.body(body, for: request.destination))
    }

    private static func content(of body: TransportRequest.Body) throws -> Data {
        switch body {
        case .none: return Data()
        case .data(let data): return data
        case .file(let url): return try Data(contentsOf: url)
        case .stream(let source):
            let reader = try source.open()
            var (content, piece) = (Data(), [UInt8](repeating: 0, count: 64 << 10))
            while case let count = try piece.withUnsafeMutableBytes({ try reader.read(into: $0) }), count > 0 {
                content += piece[..<count]
            }
            return content
        }
    }

    private static func body(_ data: Data, for destination: TransportRequest.Destination) throws
        -> TransportResponse.Body
    {
        switch destination {
        case .memory(let limit):
            guard data.count <= limit else { throw URLError(.dataLengthExceedsMaximum) }
            return .data(data)
        case .file(let url):
            try data.write(to: url)
            return .file(url)
        // Not requested, because the transport doesn't say that it streams responses or upgrades connections.
        case .stream, .upgrade: throw URLError(.unsupportedURL)
        }
    }
}
