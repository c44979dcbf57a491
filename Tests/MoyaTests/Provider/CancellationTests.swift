// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Cancelling at any moment", .throttled, .timeLimit(.minutes(2)))
struct CancellationTests {
    /// A plugin that cancels the calls of a test in one of its hooks.
    final class CancellingPlugin: PluginType, Sendable {
        enum Hook: CaseIterable { case prepare, willSend, didReceive, process }

        let hook: Hook
        let call = Locking<[any Moya.Cancellable]>([])

        init(in hook: Hook) {
            self.hook = hook
        }

        private func cancel(in hook: Hook) {
            if hook == self.hook { call.value.first?.cancel() }
        }

        func prepare(_ request: URLRequest, target: TargetType) -> URLRequest {
            cancel(in: .prepare)
            return request
        }

        func willSend(_ request: RequestType, target: TargetType) { cancel(in: .willSend) }

        func didReceive(_ result: Result<Moya.Response, MoyaError>, target: TargetType) { cancel(in: .didReceive) }

        func process(
            _ result: Result<Moya.Response, MoyaError>,
            target: TargetType
        ) -> Result<Moya.Response, MoyaError> {
            cancel(in: .process)
            return result
        }
    }

    /// Passes requests on after a random time, once, twice or never.
    struct Requests: Sendable {
        func pass(_ endpoint: Endpoint, _ done: @escaping MoyaProvider<Call>.RequestResultClosure) {
            let finish = Held { MoyaProvider<Call>.defaultRequestMapping(for: endpoint, closure: done) }
            switch Int.random(in: 0..<4) {
            case 0: finish.run()
            case 1: DispatchQueue.global().async { finish.run() }
            case 2:
                for _ in 0..<2 { DispatchQueue.global().async { finish.run() } }
            default: break
            }
        }
    }

    /// A closure of the interface, which isn't `Sendable`.
    struct Held: @unchecked Sendable {
        let run: () -> Void
    }

    @Test("A plugin's hook cancels its call, which ends once", arguments: CancellingPlugin.Hook.allCases)
    func hooks(hook: CancellingPlugin.Hook) async throws {
        let server = try EchoServer()
        let (log, plugin) = (Log(), CancellingPlugin(in: hook))
        let held = Locking<[Held]>([])
        let provider = MoyaProvider<Call>(
            requestClosure: { endpoint, done in
                held.update {
                    $0.append(Held { MoyaProvider<Call>.defaultRequestMapping(for: endpoint, closure: done) })
                }
            },
            plugins: [plugin]
        )
        let call = provider.request(Call(baseURL: server.baseURL), callbackQueue: .global()) { result in
            log.append(result.afError?.isExplicitlyCancelledError == true ? "cancelled" : "response")
        }
        plugin.call.update { $0 = [call] }
        held.value.first?.run()
        let isEarly = hook == .prepare || hook == .willSend
        #expect(await log.waitForCount(1) == [isEarly ? "cancelled" : "response"])
        #expect(call.isCancelled)
    }

    @Test("Calls cancelled at random moments end once, and release their provider", arguments: [true, false])
    func storm(isStubbed: Bool) async throws {
        let server = try EchoServer()
        let (log, requests) = (Log(), Requests())
        weak var released: MoyaProvider<Call>?
        weak var releasedPlugin: RecordingPlugin?
        do {
            let plugin = RecordingPlugin()
            let provider = MoyaProvider<Call>(
                requestClosure: requests.pass,
                stubClosure: isStubbed ? MoyaProvider.delayedStub(0.002) : MoyaProvider.neverStub,
                plugins: [plugin],
                trackInflights: true
            )
            (released, releasedPlugin) = (provider, plugin)
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<300 {
                    group.addTask {
                        let call = Call(
                            baseURL: server.baseURL,
                            task: index % 3 == 0 ? .requestData(Data(count: 100_000)) : .requestPlain,
                            headers: ["X-Group": "\(index % 40)"]
                        )
                        let token = provider.request(call, callbackQueue: .global()) { _ in log.append("\(index)") }
                        let cancel = Held { token.cancel() }
                        let delay = DispatchTimeInterval.microseconds(Int.random(in: 0..<4_000))
                        for _ in 0..<2 {
                            DispatchQueue.global().asyncAfter(deadline: .now() + delay) { cancel.run() }
                        }
                    }
                }
            }
            let lines = await log.waitForCount(300)
            #expect(Set(lines).count == 300)
            #expect(provider.inflightRequests.values.allSatisfy { !$0.isEmpty })
        }
        while released != nil || releasedPlugin != nil, !_Concurrency.Task.isCancelled {
            try await _Concurrency.Task.sleep(for: .milliseconds(5))
        }
        #expect(log.lines.count == 300)
        #expect(released == nil)
    }
}
