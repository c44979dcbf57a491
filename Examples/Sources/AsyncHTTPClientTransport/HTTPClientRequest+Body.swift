// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Foundation
import NIOCore
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPClientRequest {
    init(_ request: TransportRequest) throws {
        let urlRequest = request.urlRequest
        guard let url = urlRequest.url, ["http", "https"].contains(url.scheme?.lowercased()) else {
            throw URLError(.unsupportedURL)
        }
        self.init(url: url.absoluteString)
        method = .init(rawValue: urlRequest.httpMethod ?? "GET")
        headers = .init((urlRequest.allHTTPHeaderFields ?? [:]).map { ($0.key, $0.value) })
        guard let source = try request.body.source() else { return }
        body = .stream(
            BodyPieces(source: source, progress: request.progress),
            length: source.length.map { .known($0) } ?? .unknown
        )
    }
}

/// The pieces of a request's body, each read when the connection has room for it.
private struct BodyPieces: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    struct Iterator: AsyncIteratorProtocol {
        let source: any BodySource
        var meter: ProgressMeter
        var reader: (any BodyReader)?

        mutating func next() async throws -> ByteBuffer? {
            let reader = try reader ?? source.open()
            self.reader = reader
            var piece = ByteBuffer()
            let count = try piece.writeWithUnsafeMutableBytes(minimumWritableBytes: 1 << 16) { buffer in
                try reader.read(into: buffer)
            }
            count == 0 ? meter.finish() : meter.add(count)
            return count == 0 ? nil : piece
        }
    }

    let source: any BodySource
    let progress: (@Sendable (TransferProgress) -> Void)?

    func makeAsyncIterator() -> Iterator {
        Iterator(source: source, meter: ProgressMeter(.upload, total: source.length, report: progress))
    }
}
