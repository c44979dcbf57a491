// SPDX-License-Identifier: MIT
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

@Suite("URLSession's callback queue", .throttled, .timeLimit(.minutes(3)))
struct URLSessionCallbackQueueTests {
    @Test("Adding to a full queue waits until one of its operations has finished")
    func limit() async throws {
        let queue = URLSessionCallbackQueue(patience: .never)
        let (gate, added, done) = (DispatchSemaphore(value: 0), Tally(), Tally())
        queue.addOperation { gate.wait() }
        Thread.detachNewThread {
            for _ in 0..<URLSessionCallbackQueue.limit * 2 {
                queue.addOperation { done.add() }
                added.add()
            }
        }
        await added.waitRegardless(for: URLSessionCallbackQueue.limit - 1)
        #expect(added.value == URLSessionCallbackQueue.limit - 1)
        gate.signal()
        await done.waitRegardless(for: URLSessionCallbackQueue.limit * 2)
    }

    @Test("An operation can add another one to a full queue, in order")
    func reentry() async throws {
        let queue = URLSessionCallbackQueue()
        let seen = Recorder<Int>()
        let gate = DispatchSemaphore(value: 0)
        queue.addOperation {
            gate.wait()
            for number in 1_000..<1_300 { queue.addOperation { seen.append(number) } }
        }
        for number in 1..<URLSessionCallbackQueue.limit { queue.addOperation { seen.append(number) } }
        gate.signal()
        let numbers = await seen.waitForCount(URLSessionCallbackQueue.limit - 1 + 300)
        #expect(numbers == Array(1..<URLSessionCallbackQueue.limit) + Array(1_000..<1_300))
    }

    // In a separate process, because the memory of other tests would count.
    @Test("A download written more slowly than it arrives uses little memory", .enabled(if: ProcessMemory.isReused))
    func memory() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer(response: .download(byteCount: 256 << 20, repeating: Data(count: 256 << 10)))
            let folder = try TemporaryFolder()
            let before = try ProcessMemory.peak()
            let reports = Tally()
            let request = TransportRequest(
                urlRequest: URLRequest(url: server.baseURL),
                destination: .file(folder.url.appendingPathComponent("file")),
                // Blocks the writer, like a slow disk, for less than the patience of the queue.
                progress: { _ in
                    reports.add()
                    if reports.value < 5 { usleep(300_000) }
                }
            )
            _ = try await URLSessionTransport.another().send(request)
            #expect(try ProcessMemory.peak() - before < 64 << 20)
        }
    }
}
#endif
