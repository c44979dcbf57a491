// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("RecordingPlugin", .throttled, .timeLimit(.minutes(2)))
struct RecordingPluginTests {
    @Test("It records hooks, requests and finished calls")
    func records() async throws {
        let recorder = RecordingPlugin(retry: { _, context in
            context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
        })
        let provider = Provider<TeaShop>(stubClosure: { _ in .immediate }, plugins: [recorder])
        _ = try await provider.request(.order(count: 2))
        #expect(
            recorder.events == [
                .prepare(attempt: 0), .willSend(attempt: 0), .didReceive(attempt: 0, .status(200)), .retry(attempt: 0),
                .prepare(attempt: 1), .willSend(attempt: 1), .didReceive(attempt: 1, .status(200)), .retry(attempt: 1),
                .process(.status(200)),
            ]
        )
        let order = RequestPattern.target(TeaShop.order(count: 2))
        try recorder.log.expect([order, .post("/orders").with(.json("count", 2))])
        #expect(recorder.finishedCalls.count == 1)
    }

    @Test("Its closures stand for a plugin that changes requests and results")
    func closures() async throws {
        let recorder = RecordingPlugin(
            prepare: { request, _ in
                var request = request
                request.setValue("1", forHTTPHeaderField: "X-One")
                return request
            },
            process: { _, _ in .failure(TargetKitError(stage: .envelope)) }
        )
        let provider = Provider<TeaShop>(stubClosure: { _ in .immediate }, plugins: [recorder])
        await #expect(throws: TargetKitError.self) { try await provider.request(.product(id: 1)) }
        #expect(recorder.log.requests.first?.headers["X-One"] == "1")
        let finished = try #require(recorder.finishedCalls.first)
        let error = #expect(throws: TargetKitError.self) { try finished.result.get() }
        #expect(error?.stage == .envelope)
    }
}
