// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// Transports of somebody else's, and what ends their exchanges.
@Suite("Interrupting a transport", .throttled, .timeLimit(.minutes(3)))
struct TransportInterruptionTests {
    /// Has `send(_:)` and nothing else; its exchanges end when their task is cancelled.
    private struct Plain: Transport {
        let sent = Recorder<Int?>()
        let cancelled = Expectation()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            sent.append(currentTask())
            do {
                try await Gate().waitUnlessCancelled()
            } catch {
                cancelled.fulfill()
                throw error
            }
            throw Boom()
        }
    }

    /// Answers at once.
    private struct Quick: Transport {
        let sent = Recorder<Int?>()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            sent.append(currentTask())
            return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()))
        }
    }

    enum Means: CaseIterable, Sendable { case task, handle, provider, scope, timeout }

    /// Makes a call that is interrupted by that means once it is sent, and returns its error.
    private func interrupted(
        by means: Means,
        _ transport: any Transport,
        plugins: [any Plugin] = [],
        sent: Recorder<Int?>
    ) async throws -> TargetKitError {
        let scope = RequestScope()
        let options: CallOptions =
            means == .timeout ? .setting(\.timeout, .wholeCall(.seconds(3))) : CallOptions()
        let provider = Provider<TestTarget>(transport: transport, plugins: plugins, options: options, scope: scope)
        let target = TestTarget(.example)
        let handle =
            means == .handle ? provider.request(target, on: DispatchQueue(label: "test"), completion: { _ in }) : nil
        let call = Task {
            if let handle { return try await handle.response() }
            return try await provider.request(target)
        }
        await sent.waitForCount(1)
        switch means {
        case .task: call.cancel()
        case .handle: handle?.cancel()
        case .provider: provider.cancelAll()
        case .scope: scope.cancelAll()
        case .timeout: break
        }
        let error = try #require(await call.result.failure as? TargetKitError)
        #expect(scope.inFlightCount == 0)
        return error
    }

    @Test(
        "A transport is interrupted by task, handle, provider, scope and timeout",
        arguments: Means.allCases,
        [true, false]
    )
    func plain(means: Means, hasPlugin: Bool) async throws {
        let transport = Plain()
        let plugins: [any Plugin] = hasPlugin ? [HookRecorder()] : []
        let error = try await interrupted(by: means, transport, plugins: plugins, sent: transport.sent)
        await transport.cancelled.wait()
        #expect(error.kind == (means == .timeout ? .timedOut : .cancelled))
        #expect(error.stage == (means == .timeout ? .transport : .cancelled))
    }

    @Test("A call runs in a task of its own, whoever makes it", arguments: [true, false], [true, false])
    func task(hasPlugin: Bool, isAwaited: Bool) async throws {
        let plugins: [any Plugin] = hasPlugin ? [RecordingPlugin()] : []
        let quick = Quick()
        let provider = Provider<TestTarget>(transport: quick, plugins: plugins)
        let response =
            if isAwaited {
                try await provider.request(TestTarget(.example))
            } else {
                try await provider.request(
                    TestTarget(.example),
                    on: DispatchQueue(label: "test"),
                    completion: { _ in }
                )
                .response()
            }
        #expect(response.statusCode == 200)
        #expect(quick.sent.count == 1)
        #expect(quick.sent.elements != [currentTask()])
    }
}

/// Identifies the task that runs this.
private func currentTask() -> Int? {
    withUnsafeCurrentTask { $0?.hashValue }
}
