// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("Memory of a long stream", .timeLimit(.minutes(2)))
struct ResponseStreamMemoryTests {
    /// The largest size that this process has had in memory, in bytes.
    private static func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first) << 10
    }

    // In a process of its own: other tests' memory would count.
    @Test("100 MB of lines from a server are read within 16 MiB")
    func lines() async {
        await #expect(processExitsWith: .success) {
            let line = Data(repeating: 0x78, count: 999) + [0x0A]
            var piece = Data()
            for _ in 0..<64 { piece.append(line) }
            let server = try LoopbackServer(reply: .download(byteCount: 100_000_000, repeating: piece))
            let provider = Provider<TestTarget>()
            let stream = try await provider.stream(TestTarget(server.baseURL))
            let before = try ResponseStreamMemoryTests.peakMemory()
            var count = 0
            for try await line in stream.lines where line.utf8.count == 999 { count += 1 }
            #expect(count == 100_000)
            #expect(try ResponseStreamMemoryTests.peakMemory() - before < 16 << 20)
        }
    }
}
#endif
