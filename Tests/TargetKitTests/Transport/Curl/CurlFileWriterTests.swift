// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

@Suite("Writing a download off the loop's thread", .throttled, .timeLimit(.minutes(3)))
struct CurlFileWriterTests {
    private let folder: TemporaryFolder
    private let file: URL
    /// A disk that does not respond: nothing is written before the queue is resumed.
    private let disk = DispatchQueue(label: "test.disk")
    private let wakes = Tally()
    private let writer: CurlFileWriter

    init() throws {
        folder = try TemporaryFolder()
        file = folder.url.appendingPathComponent("file")
        writer = CurlFileWriter(file, on: disk) { [wakes] in wakes.add() }
    }

    private func give(_ bytes: Data) throws -> Bool {
        try bytes.withUnsafeBytes { try writer.receive($0) }
    }

    private func close(_ outcome: Result<TransportResponse, any Error>) async -> Result<TransportResponse, any Error> {
        await withCheckedContinuation { continuation in
            writer.close(outcome) { continuation.resume(returning: $0) }
        }
    }

    private var success: Result<TransportResponse, any Error> {
        .success(TransportResponse(head: ResponseHead(statusCode: 200), body: .file(file)))
    }

    @Test("While a disk does not respond, bytes are accepted up to a limit, and again once it responds")
    func stuckDisk() async throws {
        disk.suspend()
        let piece = Data(count: 16 << 10)
        var taken = 0
        while taken <= CurlFileWriter.limit, try give(piece) { taken += piece.count }
        #expect(taken == CurlFileWriter.limit)
        #expect(wakes.value == 0)
        disk.resume()
        try await wakes.wait(for: 1)
        #expect(try give(piece))
        _ = try await close(success).get()
        #expect(try Data(contentsOf: file).count == taken + piece.count)
        #expect(folder.names == ["file"])
    }

    @Test("Bytes are written in order, in any number of pieces")
    func order() async throws {
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for start in stride(from: 0, to: bytes.count, by: 1_000) {
            #expect(try give(bytes[start..<min(start + 1_000, bytes.count)]))
        }
        _ = try await close(success).get()
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test("A failure is reported only after the last write, so that the file can be removed or written again")
    func failure() async throws {
        disk.suspend()
        #expect(try give(Data(count: 100_000)))
        async let end = close(.failure(TransportFailure.cancelled))
        disk.resume()
        guard case .failure = await end else {
            Issue.record("a failure became a success")
            return
        }
        #expect(try Data(contentsOf: file).count == 100_000)
    }

    @Test("A file that cannot be created is an error of the next piece, and of the end")
    func missingFolder() async throws {
        try FileManager.default.removeItem(at: folder.url)
        #expect(try give(Data(count: 1)))
        await wakes.waitRegardless(for: 1)
        let error = #expect(throws: TransportFailure.self) { _ = try give(Data(count: 1)) }
        #expect(error?.code == .cannotCreateFile)
        #expect(error?.message.contains(folder.url.path) == true)
        guard case .failure(let failure as TransportFailure) = await close(success) else {
            Issue.record("a success without a file")
            return
        }
        #expect(failure.code == .cannotCreateFile)
    }
}
#endif
