// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Foundation
import NIOCore
import TargetKit

extension TransportResponse {
    /// Receives the body, but for a stream's.
    init(_ response: HTTPClientResponse, to request: TransportRequest) async throws {
        let fields = response.headers.map { HTTPHeaders.Field(name: .init(rawValue: $0.name), value: $0.value) }
        let head = ResponseHead(
            statusCode: Int(response.status.code),
            headers: .init(fields),
            httpVersion: response.version.major == 2 ? "HTTP/2" : "HTTP/1.\(response.version.minor)"
        )
        let reading = BodyReading(response, progress: request.progress)
        switch request.destination {
        case .memory(let limit):
            var bytes = Data()
            while let piece = try await reading.next() {
                guard bytes.count + piece.count <= limit else { throw URLError(.dataLengthExceedsMaximum) }
                bytes.append(piece)
            }
            self.init(head: head, body: .data(bytes))
        case .file(let url):
            try await reading.write(to: url)
            self.init(head: head, body: .file(url))
        case .stream:
            self.init(head: head, body: .stream(ResponseBody { try await reading.next() }))
        // Not requested, because the transport doesn't say that it upgrades connections.
        case .upgrade: throw URLError(.unsupportedURL)
        }
    }
}

/// Reads the body of a response; the exchange is cancelled when this is released.
private actor BodyReading {
    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var meter: ProgressMeter

    init(_ response: HTTPClientResponse, progress: (@Sendable (TransferProgress) -> Void)?) {
        iterator = response.body.makeAsyncIterator()
        // The length of an encoded body is not that of the decoded bytes.
        let isEncoded = response.headers.contains(name: "Content-Encoding")
        let length = response.headers.first(name: "Content-Length").flatMap { Int64($0) }
        meter = ProgressMeter(.download, total: isEncoded ? nil : length, report: progress)
    }

    /// The next piece, which is not empty; `nil` at the end.
    func next() async throws -> Data? {
        var iterator = iterator
        defer { self.iterator = iterator }
        do {
            while let piece = try await iterator.next(isolation: self) {
                meter.add(piece.readableBytes)
                if piece.readableBytes > 0 { return Data(piece.readableBytesView) }
            }
        } catch {
            throw urlError(for: error)
        }
        meter.finish()
        return nil
    }

    /// Writes the body into a file, which may exist, from its start.
    func write(to url: URL) async throws {
        let exists = FileManager.default.fileExists(atPath: url.path)
        guard exists || FileManager.default.createFile(atPath: url.path, contents: nil) else {
            throw URLError(.cannotCreateFile)
        }
        do {
            let file = try FileHandle(forWritingTo: url)
            try file.truncate(atOffset: 0)
            while let piece = try await next() { try file.write(contentsOf: piece) }
            try file.close()
        } catch {
            throw error is CocoaError ? URLError(.cannotWriteToFile) : error
        }
    }
}
