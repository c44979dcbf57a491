// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Downloads with URLSession", .throttled, .timeLimit(.minutes(2)))
struct URLSessionDownloadTests {
    @Test("No hidden file is left when a cancelled download ends, even during a write")
    func cancelledWhileWritten() async throws {
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Length": "8388608"]), .body(Data(count: 8 << 20)),
        ])
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let provider = Provider<TestTarget>(transport: URLSessionTransport.another())
        for number in 0..<100 {
            let started = Gate()
            let target = TestTarget(server.baseURL).with {
                $0.task = .download(to: folder.url.appendingPathComponent("file\(number)"))
            }
            let call = Task { for try await _ in provider.events(for: target) { started.open() } }
            await started.wait()
            call.cancel()
            // A quick one may be whole.
            guard case .failure = await call.result else {
                try FileManager.default.removeItem(at: folder.url.appendingPathComponent("file\(number)"))
                continue
            }
            try #require(folder.names == [])
        }
    }

    @Test("A call cancelled by its last report has its whole file, or an error")
    func cancelledByLastReport() async throws {
        // Chunked, so that the total is known only at the end.
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Transfer-Encoding": "chunked"]), .chunk(Data(count: 1_000)), .endChunks,
        ])
        let folder = try TemporaryFolder()
        let call = Locked<Task<TransportResponse, any Error>?>(nil)
        let request = TransportRequest(
            urlRequest: URLRequest(url: server.baseURL),
            destination: .file(folder.url.appendingPathComponent("file")),
            progress: { if $0.direction == .download, $0.total != nil { call.withLock { $0 }?.cancel() } }
        )
        let gate = Gate()
        let task = Task {
            await gate.wait()
            return try await URLSessionTransport.another().send(request)
        }
        call.withLock { $0 = task }
        gate.open()
        guard case .success = await task.result else { return }
        #expect(try Data(contentsOf: folder.url.appendingPathComponent("file")).count == 1_000)
    }
}
