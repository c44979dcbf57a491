// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Stubbed calls", .throttled)
struct StubTests {
    @Test("A call without delay ends before the method returns, on the same thread", arguments: ["zen", "user"])
    func immediate(name: String) throws {
        let provider = MoyaProvider<GitHub>(stubClosure: MoyaProvider.immediatelyStub)
        let target = name == "zen" ? GitHub.zen : .userProfile("ann")
        var result: Result<Moya.Response, MoyaError>?
        let thread = Thread.current
        provider.request(target) {
            #expect(Thread.current === thread)
            result = $0
        }
        let response = try #require(result).get()
        #expect(response.data == target.sampleData)
        #expect(response.statusCode == 200)
        #expect(response.request?.url == URL(target: target))
        #expect(response.response == nil)
    }

    @Test("Equal targets have equal endpoints")
    func endpoints() {
        let provider = MoyaProvider<GitHub>()
        #expect(provider.endpoint(.zen) == provider.endpoint(.zen))
        #expect(provider.endpoint(.zen) != provider.endpoint(.userProfile("ann")))
    }

    @Test("The default session does not start requests itself")
    func session() {
        #expect(!MoyaProvider<GitHub>().session.startRequestsImmediately)
        let session = Session()
        #expect(MoyaProvider<GitHub>(session: session).session === session)
    }

    @Test("The plugins' hooks run in order, each through all plugins")
    func hooks() {
        let log = Log()
        let provider = MoyaProvider<GitHub>(
            stubClosure: MoyaProvider.immediatelyStub,
            plugins: [RecordingPlugin("1", log: log), RecordingPlugin("2", log: log)]
        )
        var request: URLRequest?
        provider.request(.zen) { result in
            log.append("completion")
            request = result.response?.request
        }
        #expect(
            log.lines == [
                "prepare1", "prepare2", "willSend1", "willSend2", "didReceive1", "didReceive2", "process1", "process2",
                "completion",
            ]
        )
        #expect(request?.value(forHTTPHeaderField: "X-Prepared2") == "yes")
    }

    /// Replaces the result of each call.
    struct Replacing: PluginType {
        func process(
            _ result: Result<Moya.Response, MoyaError>,
            target: TargetType
        ) -> Result<Moya.Response, MoyaError> {
            switch result {
            case .success(let response): return .success(Response(statusCode: -1, data: response.data))
            case .failure: return .success(Response(statusCode: -2, data: Data()))
            }
        }
    }

    @Test("A plugin can replace the response and the error", arguments: [(200, -1), (500, -2)])
    func process(status: Int, expected: Int) {
        let provider = MoyaProvider<Call>(
            endpointClosure: { target in
                Endpoint(
                    url: URL(target: target).absoluteString,
                    sampleResponseClosure: { .networkResponse(status, Data()) },
                    method: target.method,
                    task: target.task,
                    httpHeaderFields: nil
                )
            },
            stubClosure: MoyaProvider.immediatelyStub,
            plugins: [Replacing()]
        )
        var received: Int?
        provider.request(Call(validationType: .successCodes)) { received = $0.response?.statusCode }
        #expect(received == expected)
    }

    @Test("A status that the target does not accept is a failure with the response")
    func validation() throws {
        var result: Result<Moya.Response, MoyaError>?
        let provider = MoyaProvider<Call>(stubClosure: MoyaProvider.immediatelyStub)
        provider.request(Call(validationType: .customCodes([204]))) { result = $0 }
        guard case .underlying(let error, let response) = try #require(result?.error) else {
            Issue.record("not an underlying error")
            return
        }
        #expect(response?.statusCode == 200)
        guard case MoyaError.statusCode(let failed) = error else {
            Issue.record("not a status error")
            return
        }
        #expect(failed === response)
    }

    @Test(
        "Stubs apply the target's validation",
        arguments: [
            (ValidationType.none, 500, true), (.successCodes, 204, true), (.successCodes, 301, false),
            (.successAndRedirectCodes, 301, true), (.successAndRedirectCodes, 404, false),
            (.customCodes([404]), 404, true), (.customCodes([404]), 200, false), (.customCodes([]), 500, true),
        ]
    )
    func validation(type: ValidationType, status: Int, isSuccess: Bool) {
        let provider = MoyaProvider<Call>(
            endpointClosure: { Self.endpoint(of: $0, .networkResponse(status, Data())) },
            stubClosure: MoyaProvider.immediatelyStub
        )
        var result: Result<Moya.Response, MoyaError>?
        provider.request(Call(validationType: type)) { result = $0 }
        #expect((result?.response != nil) == isSuccess)
    }

    static func endpoint(of target: some TargetType, _ sample: EndpointSampleResponse) -> Endpoint {
        Endpoint(
            url: URL(target: target).absoluteString,
            sampleResponseClosure: { sample },
            method: target.method,
            task: target.task,
            httpHeaderFields: target.headers
        )
    }

    @Test("A sample can be a head with a body")
    func head() throws {
        let url = try #require(URL(string: "https://example.com"))
        let head = try #require(HTTPURLResponse(url: url, statusCode: 418, httpVersion: nil, headerFields: ["A": "b"]))
        let provider = MoyaProvider<GitHub>(
            endpointClosure: { Self.endpoint(of: $0, .response(head, Data("tea".utf8))) },
            stubClosure: MoyaProvider.immediatelyStub
        )
        var result: Result<Moya.Response, MoyaError>?
        provider.request(.zen) { result = $0 }
        // The target accepts 200 to 399 only.
        #expect(result?.error?.response?.response === head)
        #expect(result?.error?.response?.data == Data("tea".utf8))
    }

    @Test("A sample can be a failure")
    func failure() {
        let error = NSError(domain: "com.moya.error", code: 0, userInfo: [NSLocalizedDescriptionKey: "Houston"])
        let log = Log()
        let provider = MoyaProvider<GitHub>(
            endpointClosure: { Self.endpoint(of: $0, .networkError(error)) },
            stubClosure: MoyaProvider.immediatelyStub,
            plugins: [RecordingPlugin(log: log)]
        )
        var text: String?
        provider.request(.zen) { text = $0.error?.errorDescription }
        #expect(text == "Houston")
        #expect(log.lines == ["prepare", "willSend", "didReceive error", "process"])
    }

    @Test("A request closure can fail the call, without a request")
    func requestClosure() {
        let log = Log()
        let provider = MoyaProvider<GitHub>(
            requestClosure: { _, done in done(.failure(.requestMapping("no"))) },
            stubClosure: MoyaProvider.immediatelyStub,
            plugins: [RecordingPlugin(log: log)]
        )
        var result: Result<Moya.Response, MoyaError>?
        provider.request(.zen) { result = $0 }
        guard case .requestMapping("no")? = result?.error else {
            Issue.record("not the closure's error")
            return
        }
        #expect(log.lines == ["process"])
    }

    @Test("A request closure that calls back twice ends the call once")
    func callsBackTwice() {
        let count = Log()
        let provider = MoyaProvider<GitHub>(
            requestClosure: { endpoint, done in
                MoyaProvider<GitHub>.defaultRequestMapping(for: endpoint, closure: done)
                MoyaProvider<GitHub>.defaultRequestMapping(for: endpoint, closure: done)
            },
            stubClosure: MoyaProvider.immediatelyStub
        )
        provider.request(.zen) { _ in count.append("") }
        #expect(count.lines.count == 1)
    }

    @Test("The endpoint and the stub closure are called once for each call")
    func closures() {
        let log = Log()
        let provider = MoyaProvider<GitHub>(
            endpointClosure: { target in
                log.append("endpoint")
                return MoyaProvider.defaultEndpointMapping(for: target)
            },
            stubClosure: { _ in
                log.append("stub")
                return .immediate
            }
        )
        provider.request(.zen) { _ in }
        #expect(log.lines == ["endpoint", "stub"])
    }

    @Test("An unencodable task is an error of the call")
    func unencodable() {
        let provider = MoyaProvider<Call>(stubClosure: MoyaProvider.immediatelyStub)
        var result: Result<Moya.Response, MoyaError>?
        let task = Task.requestParameters(parameters: ["a": Date()], encoding: JSONEncoding.default)
        provider.request(Call(method: .post, task: task)) { result = $0 }
        guard case .parameterEncoding? = result?.error else {
            Issue.record("not an encoding error")
            return
        }
    }
}

@Suite("Stubbed calls: queues, delays and cancellation", .throttled, .timeLimit(.minutes(1)))
struct StubQueueTests {
    static let key = DispatchSpecificKey<String>()

    static func queue(_ name: String) -> DispatchQueue {
        let queue = DispatchQueue(label: name)
        queue.setSpecific(key: key, value: name)
        return queue
    }

    /// Makes a stubbed call and returns the name of the queue on which it ends.
    static func queueName(
        _ provider: MoyaProvider<GitHub>,
        on queue: DispatchQueue? = nil
    ) async -> String? {
        await withCheckedContinuation { continuation in
            provider.request(.zen, callbackQueue: queue) { _ in
                let name = DispatchQueue.isMain ? "main" : DispatchQueue.getSpecific(key: key)
                continuation.resume(returning: name)
            }
        }
    }

    @Test("A call ends on its own queue, else on the provider's", arguments: [true, false], [true, false])
    func queues(isDelayed: Bool, hasOwn: Bool) async {
        let provider = MoyaProvider<GitHub>(
            stubClosure: isDelayed ? MoyaProvider.delayedStub(0.01) : MoyaProvider.immediatelyStub,
            callbackQueue: Self.queue("provider")
        )
        let name = await Self.queueName(provider, on: hasOwn ? Self.queue("call") : nil)
        #expect(name == (hasOwn ? "call" : "provider"))
    }

    @Test("A delayed call without a queue ends on the main queue")
    func mainQueue() async {
        let provider = MoyaProvider<GitHub>(stubClosure: MoyaProvider.delayedStub(0.01))
        #expect(!DispatchQueue.isMain)
        #expect(await Self.queueName(provider) == "main")
    }

    @Test("A delayed call does not end before its delay")
    func delay() async throws {
        let provider = MoyaProvider<GitHub>(stubClosure: MoyaProvider.delayedStub(0.05))
        let clock = ContinuousClock()
        let duration = await clock.measure {
            #expect(await provider.result(of: .zen).response?.data == GitHub.zen.sampleData)
        }
        #expect(duration >= .milliseconds(50))
    }

    @Test("A cancelled delayed call fails once, and its plugins are told")
    func cancel() async {
        let log = Log()
        let provider = MoyaProvider<GitHub>(
            stubClosure: MoyaProvider.delayedStub(0.02),
            plugins: [RecordingPlugin(log: log)]
        )
        let queue = DispatchQueue(label: "stubs")
        let error: MoyaError? = await withCheckedContinuation { continuation in
            queue.suspend()
            let call = provider.request(.zen, callbackQueue: queue) { continuation.resume(returning: $0.error) }
            #expect(!call.isCancelled)
            call.cancel()
            #expect(call.isCancelled)
            call.cancel()
            queue.resume()
        }
        guard case .underlying(let cause, nil)? = error else {
            Issue.record("not cancelled")
            return
        }
        #expect((cause as NSError).code == NSURLErrorCancelled)
        #expect(log.lines == ["prepare", "willSend", "didReceive error", "process"])
    }

    /// A request closure that waits for the test.
    final class Waiting: @unchecked Sendable {
        var done: (() -> Void)?

        func close(_ endpoint: Endpoint, _ closure: @escaping MoyaProvider<GitHub>.RequestResultClosure) {
            done = { MoyaProvider<GitHub>.defaultRequestMapping(for: endpoint, closure: closure) }
        }
    }

    @Test("A call whose request comes later ends with it")
    func delayedRequest() {
        let waiting = Waiting()
        let provider = MoyaProvider<GitHub>(
            requestClosure: waiting.close,
            stubClosure: MoyaProvider.immediatelyStub
        )
        var result: Result<Moya.Response, MoyaError>?
        provider.request(.zen) { result = $0 }
        #expect(result == nil)
        waiting.done?()
        #expect(result?.response != nil)
    }

    @Test("A cancelled call ends at once and once, whether its request comes later or never", arguments: [true, false])
    func cancelledBeforeRequest(isTracked: Bool) async {
        let (log, waiting) = (Log(), Waiting())
        let provider = MoyaProvider<GitHub>(
            requestClosure: waiting.close,
            stubClosure: MoyaProvider.immediatelyStub,
            plugins: [RecordingPlugin(log: log)],
            trackInflights: isTracked
        )
        let call = provider.request(.zen, callbackQueue: Self.queue("call")) { result in
            let isCancelled =
                result.afError?.isExplicitlyCancelledError == true || result.error?.isURLCancellation == true
            log.append("completion \(isCancelled) on \(DispatchQueue.getSpecific(key: Self.key) ?? "none")")
        }
        call.cancel()
        call.cancel()
        _ = await log.waitForCount(3)
        waiting.done?()
        waiting.done?()
        #expect(Set(log.lines) == ["didReceive error", "process", "completion true on call"])
        #expect(log.lines.count == 3)
    }

    @Test("A cancelled delayed stub doesn't wait for its delay")
    func cancelledDelay() async {
        let log = Log()
        let provider = MoyaProvider<GitHub>(
            stubClosure: MoyaProvider.delayedStub(3_600),
            plugins: [RecordingPlugin(log: log)]
        )
        let call = provider.request(.zen, callbackQueue: Self.queue("call")) { result in
            log.append("\(result.error?.isURLCancellation == true)")
        }
        call.cancel()
        #expect(await log.waitForCount(5) == ["prepare", "willSend", "didReceive error", "process", "true"])
    }

    @Test("A token calls its action once")
    func token() {
        let log = Log()
        let token = CancellableToken { log.append("cancel") }
        #expect(!token.isCancelled)
        token.cancel()
        token.cancel()
        #expect(token.isCancelled)
        #expect(log.lines == ["cancel"])
        #expect(token.debugDescription == "Empty Request")
    }
}
