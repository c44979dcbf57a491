// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("RequestHandle", .throttled, .timeLimit(.minutes(2)))
struct RequestHandleTests {
    @Test("Its response is the completion's, for any number of tasks, also afterwards")
    func response() async throws {
        let transport = HeldTransport()
        let provider = Provider<TestTarget>(transport: transport)
        let completed = Expectation()
        let handle = provider.request(TestTarget(.example), on: DispatchQueue(label: "test")) { _ in
            completed.fulfill()
        }
        async let one = handle.response()
        async let two = handle.response()
        await transport.release(0)
        #expect(try await one.statusCode == 200)
        #expect(try await two.statusCode == 200)
        await completed.wait()
        #expect(try await handle.response().statusCode == 200)
        #expect(!handle.isCancelled)
    }

    @Test("Cancelling the task that waits for the response cancels the call")
    func waiting() async throws {
        let transport = HeldTransport()
        let provider = Provider<TestTarget>(transport: transport)
        let completed = Recorder<TargetKitError.Stage?>()
        let handle = provider.request(TestTarget(.example), on: DispatchQueue(label: "test")) { result in
            if case .failure(let error) = result { completed.append(error.stage) } else { completed.append(nil) }
        }
        await transport.sent.waitForCount(1)
        let waiting = Task { try await handle.response() }
        waiting.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await waiting.value }
        #expect(error?.stage == .cancelled)
        #expect(await completed.waitForCount(1) == [.cancelled])
        #expect(handle.isCancelled)
    }

    @Test("Progress and completion are called on the queue that the call names")
    func queueOfCall() async throws {
        let queue = DispatchQueue(label: "provider")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        let seen = Recorder<Bool>()
        provider.request(
            TestTarget(.example),
            on: queue,
            progress: { _ in
                seen.append(DispatchQueue.getSpecific(key: key) == true)
            }
        ) { _ in
            seen.append(DispatchQueue.getSpecific(key: key) == true)
        }
        #expect(await seen.waitForCount(2).allSatisfy { $0 })
    }
}
