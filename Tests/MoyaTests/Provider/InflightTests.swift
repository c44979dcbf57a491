// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Tracked calls in flight", .throttled, .timeLimit(.minutes(1)))
struct InflightTests {
    /// Holds the requests of a provider back.
    final class Requests: @unchecked Sendable {
        private let waiting = Locking<[() -> Void]>([])

        var count: Int { waiting.value.count }

        func hold(_ endpoint: Endpoint, _ done: @escaping MoyaProvider<GitHub>.RequestResultClosure) {
            waiting.update { $0.append { MoyaProvider<GitHub>.defaultRequestMapping(for: endpoint, closure: done) } }
        }

        func release() {
            for done in waiting.value { done() }
        }
    }

    private func provider(_ requests: Requests) -> MoyaProvider<GitHub> {
        MoyaProvider(requestClosure: requests.hold, stubClosure: MoyaProvider.immediatelyStub, trackInflights: true)
    }

    @Test("Equal calls share one request and its response")
    func shared() throws {
        let requests = Requests()
        let provider = provider(requests)
        var responses: [Moya.Response] = []
        for _ in 0..<3 { provider.request(.zen) { responses += [$0.response].compactMap(\.self) } }
        provider.request(.userProfile("ann")) { _ in }
        #expect(requests.count == 2)
        #expect(provider.inflightRequests[provider.endpoint(.zen)]?.count == 3)
        requests.release()
        #expect(responses.count == 3)
        #expect(responses.allSatisfy { $0 === responses.first })
        #expect(provider.inflightRequests.isEmpty)
    }

    @Test("A request is in flight until all of its completions have been called, and a call of theirs starts another")
    func completions() {
        let requests = Requests()
        let provider = provider(requests)
        let counts = Log()
        for _ in 0..<2 {
            provider.request(.zen) { _ in
                counts.append("\(provider.inflightRequests.count)")
                if requests.count == 1 { provider.request(.zen) { _ in counts.append("own") } }
            }
        }
        requests.release()
        #expect(counts.lines == ["1", "1"])
        #expect(requests.count == 2)
        requests.release()
        #expect(counts.lines == ["1", "1", "own"])
        #expect(provider.inflightRequests.isEmpty)
    }

    @Test("Without tracking, each call has its request")
    func untracked() {
        let requests = Requests()
        let provider = MoyaProvider<GitHub>(requestClosure: requests.hold, stubClosure: MoyaProvider.immediatelyStub)
        for _ in 0..<2 { provider.request(.zen) { _ in } }
        #expect(requests.count == 2)
        #expect(provider.inflightRequests.isEmpty)
    }

    @Test("A cancelled call leaves the others alone, and ends at once")
    func cancelOne() async {
        let requests = Requests()
        let provider = provider(requests)
        let log = Log()
        let first = provider.request(.zen, callbackQueue: .global()) { log.append("first \($0.error != nil)") }
        provider.request(.zen, callbackQueue: .global()) { log.append("second \($0.error != nil)") }
        first.cancel()
        #expect(first.isCancelled)
        #expect(await log.waitForCount(1) == ["first true"])
        requests.release()
        #expect(await log.waitForCount(2) == ["first true", "second false"])
        // The request is in flight until its completions have returned.
        while !provider.inflightRequests.isEmpty, !_Concurrency.Task.isCancelled { await _Concurrency.Task.yield() }
    }

    @Test("The last cancelled call cancels the request")
    func cancelLast() async {
        let requests = Requests()
        let provider = provider(requests)
        let log = Log()
        let calls = (0..<2).map { _ in
            provider.request(.zen, callbackQueue: .global()) { log.append("\($0.error != nil)") }
        }
        for call in calls { call.cancel() }
        requests.release()
        #expect(await log.waitForCount(2) == ["true", "true"])
        #expect(provider.inflightRequests.isEmpty)
    }

    @Test("A call after the last one was cancelled starts a request of its own")
    func afterCancel() async {
        let requests = Requests()
        let provider = provider(requests)
        let log = Log()
        let first = provider.request(.zen, callbackQueue: .global()) { log.append("first \($0.error != nil)") }
        first.cancel()
        provider.request(.zen, callbackQueue: .global()) { log.append("second \($0.error != nil)") }
        #expect(requests.count == 2)
        requests.release()
        #expect(await Set(log.waitForCount(2)) == ["first true", "second false"])
        // The request is in flight until its completions have returned.
        while !provider.inflightRequests.isEmpty, !_Concurrency.Task.isCancelled { await _Concurrency.Task.yield() }
    }

    @Test("A call whose request cannot be created leaves nothing behind")
    func failedRequest() {
        let provider = MoyaProvider<GitHub>(
            requestClosure: { _, done in done(.failure(.requestMapping(""))) },
            stubClosure: MoyaProvider.immediatelyStub,
            trackInflights: true
        )
        let log = Log()
        for _ in 0..<2 { provider.request(.zen) { _ in log.append("") } }
        #expect(log.lines.count == 2)
        #expect(provider.inflightRequests.isEmpty)
    }

    @Test("Many threads share their requests, and each call ends once")
    func threads() async {
        let server = try? EchoServer()
        guard let server else { return }
        let provider = MoyaProvider<Call>(trackInflights: true)
        let log = Log()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let result = await provider.result(of: Call(baseURL: server.baseURL))
                    log.append(result.response == nil ? "failure" : "success")
                }
            }
        }
        #expect(log.lines == Array(repeating: "success", count: 50))
        // The request is in flight until its completions have returned.
        while !provider.inflightRequests.isEmpty, !_Concurrency.Task.isCancelled { await _Concurrency.Task.yield() }
    }
}
