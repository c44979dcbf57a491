// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plugin's `exchange` surrounds the transport.
@Suite("Exchanges of plugins", .throttled, .timeLimit(.minutes(2)))
struct ExchangeTests {
    /// Does in `exchange` what a closure says.
    private struct Surrounding: Plugin {
        typealias Body = @Sendable (TransportRequest, RequestContext, Exchange) async throws -> TransportResponse

        var hooks: PluginHooks = .exchange
        let body: Body

        init(hooks: PluginHooks = .exchange, _ body: @escaping Body) {
            self.hooks = hooks
            self.body = body
        }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            try await body(request, context, next)
        }
    }

    /// The ways in which a call is run: in the caller's task, or in its own.
    enum Way: CaseIterable, Sendable {
        case awaited, closure, shared
    }

    private struct Refusal: Error {}

    private static func response(_ status: Int) -> TransportResponse {
        TransportResponse(head: ResponseHead(statusCode: status), body: .data(Data()))
    }

    private func call(_ provider: Provider<TestTarget>, by way: Way = .awaited) async throws -> Response {
        let target = TestTarget(.example)
        return switch way {
        case .awaited: try await provider.request(target)
        case .closure: try await provider.request(target, on: .global(), completion: { _ in }).response()
        case .shared: try await provider.request(target, options: .setting(\.sharesInFlight, true))
        }
    }

    @Test("A plugin passes a request on, changed, once, twice or never", arguments: [0, 1, 2], Way.allCases)
    func passes(times: Int, way: Way) async throws {
        let sent = Recorder<String?>()
        let transport = StubTransport { request in
            sent.append(request.urlRequest.value(forHTTPHeaderField: "X-Try"))
            return .response(status: 200 + sent.count, data: Data())
        }
        let plugin = Surrounding { request, _, next in
            var (request, response) = (request, Self.response(299))
            for number in 0..<times {
                request.urlRequest.setValue("\(number)", forHTTPHeaderField: "X-Try")
                response = try await next(request)
            }
            return response
        }
        let response = try await call(Provider(transport: transport, plugins: [plugin]), by: way)
        #expect(response.statusCode == (times == 0 ? 299 : 200 + times))
        #expect(sent.elements == (0..<times).map { "\($0)" })
    }

    @Test("It surrounds the request of each redirect, which says whether it has left the origin")
    func redirects() async throws {
        let seen = Recorder<String>()
        let transport = StubTransport { request in
            let next =
                switch request.urlRequest.url?.path() {
                case "/v1/things": "/second"
                case "/second": "https://other.example/third"
                case "/third": "http://localhost/fourth"
                default: nil as String?
                }
            guard let next else { return .response(status: 200, data: Data()) }
            return .response(status: 302, headers: ["Location": next], data: Data())
        }
        let plugin = Surrounding { request, _, next in
            seen.append("\(request.urlRequest.url?.path() ?? "") \(request.isCrossOrigin)")
            return try await next(request)
        }
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [plugin],
            redirects: .follow(allowsDowngrade: true)
        )
        #expect(try await call(provider).statusCode == 200)
        #expect(seen.elements == ["/v1/things false", "/second false", "/third true", "/fourth true"])
    }

    @Test("It does not surround stubbed calls", arguments: [StubBehavior.immediate, .delayed(.zero)])
    func stubs(behavior: StubBehavior) async throws {
        let plugin = Surrounding { _, _, _ in throw Refusal() }
        let provider = Provider<TestTarget>(stubClosure: { _ in behavior }, plugins: [plugin])
        #expect(try await call(provider).statusCode == 200)
    }

    @Test("An error ends the attempt, and a TargetKitError the call", arguments: [false, true], Way.allCases)
    func errors(isFinal: Bool, way: Way) async throws {
        let plugin = Surrounding { request, context, next in
            if context.attempt > 0 { return try await next(request) }
            throw isFinal ? TargetKitError(stage: .request, underlying: Refusal()) : Refusal()
        }
        let recorder = RecordingPlugin(retry: { _, context in
            context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
        })
        let provider = Provider<TestTarget>(
            transport: StubTransport { _ in .response(status: 200, data: Data()) },
            plugins: [plugin, recorder]
        )
        let result: Result<Response, any Error>
        do { result = .success(try await call(provider, by: way)) } catch { result = .failure(error) }
        let events = recorder.events.filter { if case .prepare = $0 { false } else { true } }
        if isFinal {
            let error = #expect(throws: TargetKitError.self) { try result.get() }
            #expect(error?.stage == .request)
            #expect(error?.underlying is Refusal)
            #expect(error?.request?.url?.path() == "/v1/things")
            #expect(
                events == [
                    .willSend(attempt: 0), .didReceive(attempt: 0, .failure(.request)), .process(.failure(.request)),
                ]
            )
        } else {
            #expect(try result.get().statusCode == 200)
            #expect(
                events == [
                    .willSend(attempt: 0), .didReceive(attempt: 0, .failure(.transport)), .retry(attempt: 0),
                    .willSend(attempt: 1), .didReceive(attempt: 1, .status(200)), .retry(attempt: 1),
                    .process(.status(200)),
                ]
            )
        }
    }

    @Test(
        "A request that a plugin makes invalid is not sent",
        arguments: ["a\r\nb": "Value", "b": "Value\r\nX: y", "c d": "Value", "Content-Length": "1"]
    )
    func invalid(name: String, value: String) async throws {
        let sent = Recorder<Int>()
        let plugin = Surrounding { request, _, next in
            var request = request
            request.urlRequest.allHTTPHeaderFields = [name: value]
            return try await next(request)
        }
        let transport = StubTransport { _ in
            sent.append(1)
            return .response(status: 200, data: Data())
        }
        let provider = Provider<TestTarget>(transport: transport, plugins: [plugin])
        let error = await #expect(throws: TargetKitError.self) { try await call(provider) }
        #expect(error?.stage == .request)
        #expect(error?.underlying is InvalidRequest)
        #expect(sent.count == 0)
    }

    @Test("What it waits for is cancelled with the call", arguments: Way.allCases, ["scope", "task", "timeout"])
    func cancels(way: Way, reason: String) async throws {
        let (gate, clock) = (Gate(), ManualClock())
        let plugin = Surrounding { request, _, next in
            try await gate.waitUnlessCancelled()
            return try await next(request)
        }
        let provider = Provider<TestTarget>(
            transport: StubTransport { _ in .response(status: 200, data: Data()) },
            plugins: [plugin],
            options: .setting(\.timeout, .wholeCall(.seconds(1))),
            clock: clock
        )
        let call = Task { try await self.call(provider, by: way) }
        await gate.waitForArrivals()
        switch reason {
        case "scope": provider.cancelAll()
        case "task": call.cancel()
        default:
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.kind == (reason == "timeout" ? .timedOut : .cancelled))
        #expect(provider.scope.inFlightCount == 0)
    }

    @Test("Of two requests that it passes on at the same time, it can cancel one", arguments: Way.allCases)
    func races(way: Way) async throws {
        let held = HeldTransport()
        let plugin = Surrounding { request, _, next in
            try await withThrowingTaskGroup(of: TransportResponse.self) { group in
                group.addTask { try await next(request) }
                group.addTask { try await next(request) }
                defer { group.cancelAll() }
                return try await group.next() ?? Self.response(500)
            }
        }
        let provider = Provider<TestTarget>(transport: held, plugins: [plugin])
        let call = Task { try await self.call(provider, by: way) }
        let sent = await held.sent.waitForCount(2)
        sent[1].gate.open()
        #expect(try await call.value.statusCode == 200)
        await held.cancelled.wait()
    }

    @Test("The timeout of the exchange does not include what plugins wait for")
    func timeout() async throws {
        let (gate, clock, held) = (Gate(), ManualClock(), HeldTransport())
        let plugin = Surrounding { request, _, next in
            try await gate.waitUnlessCancelled()
            return try await next(request)
        }
        let provider = Provider<TestTarget>(
            transport: held,
            plugins: [plugin],
            options: .setting(\.timeout, .exchange(.seconds(10))),
            clock: clock
        )
        let call = Task { try await self.call(provider) }
        await gate.waitForArrivals()
        clock.advance(by: .seconds(60))
        gate.open()
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps == [.seconds(10)])
        clock.advance(by: .seconds(10))
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.kind == .timedOut)
        #expect(error?.stage == .transport)
    }

    @Test("An exchange in the background outlives its call, and ends with the scope", arguments: [false, true])
    func background(isShutDown: Bool) async throws {
        let held = HeldTransport()
        let ended = Recorder<Result<Int, any Error>>()
        let contexts = Recorder<RequestContext.ID>()
        let plugin = Surrounding { request, context, next in
            contexts.append(context.id)
            let begins = next.inBackground(request) { result, context in
                contexts.append(context.id)
                ended.append(result.map(\.head.statusCode))
            }
            return Self.response(begins ? 201 : 202)
        }
        let provider = Provider<TestTarget>(transport: held, plugins: [plugin])
        #expect(try await call(provider).statusCode == 201)
        let sent = await held.sent.waitForCount(1)
        #expect(provider.scope.inFlightCount == 1)
        if isShutDown {
            await provider.scope.shutdown(grace: .zero)
        } else {
            sent[0].gate.open()
        }
        let result = await ended.waitForCount(1)[0]
        if isShutDown {
            #expect(throws: (any Error).self) { try result.get() }
        } else {
            #expect(try result.get() == 200)
        }
        #expect(Set(contexts.elements).count == 2)
        await provider.scope.shutdown(grace: .seconds(10))
        #expect(provider.scope.inFlightCount == 0)
    }

    @Test("A test of a plugin creates what follows it")
    func alone() async throws {
        let plugin = Surrounding { request, _, next in
            var response = try await next(request)
            response.head.statusCode += 1
            return response
        }
        let request = TransportRequest(urlRequest: URLRequest(url: .example))
        let response = try await plugin.exchange(
            request,
            context: RequestContext(target: TestTarget(.example)),
            next: Exchange { _ in Self.response(200) }
        )
        #expect(response.head.statusCode == 201)
    }
}
