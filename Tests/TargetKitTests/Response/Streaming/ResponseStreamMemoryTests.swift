// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("Memory of a long stream", .throttled, .timeLimit(.minutes(2)))
struct ResponseStreamMemoryTests {
    // In a process of its own: other tests' memory would count.
    @Test(
        "100 MB of lines from a server are read within 16 MiB",
        .enabled(if: ProcessMemory.isReused, "a sanitizer changes the use of memory")
    )
    func lines() async {
        await #expect(processExitsWith: .success) {
            let line = Data(repeating: 0x78, count: 999) + [0x0A]
            var piece = Data()
            for _ in 0..<64 { piece.append(line) }
            let server = try TestServer(response: .download(byteCount: 100_000_000, repeating: piece))
            let provider = Provider<TestTarget>(transport: SystemTransport.patient)
            let stream = try await provider.stream(TestTarget(server.baseURL))
            let before = try ProcessMemory.peak()
            var count = 0
            for try await line in stream.lines() where line.utf8.count == 999 { count += 1 }
            #expect(count == 100_000)
            #expect(try ProcessMemory.peak() - before < 16 << 20)
        }
    }
}
#endif
