// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
@testable import TargetKit
import TargetKitJSON
import TargetKitTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A shared exchange is a call of its own: its hooks, its attempts, its storage and its end.
extension SharedExchangeTests {
    /// What has become of each call.
    private func ends(_ calls: [Task<Result<Response, any Error>, Never>]) async -> [RecordingPlugin.Outcome] {
        var ends: [RecordingPlugin.Outcome] = []
        for call in calls {
            switch await call.value {
            case .success(let response): ends.append(.status(response.statusCode))
            case .failure(let error): ends.append(.failure((error as? TargetKitError)?.stage ?? .request))
            }
        }
        return ends
    }

    /// Expects nothing to be left of calls and exchanges.
    private func expectRest(_ provider: Provider<MultiTarget>) async {
        await provider.scope.shutdown(grace: .seconds(60))
        let exchanges = provider.configuration.sharedExchanges
        #expect(exchanges.count == 0 && exchanges.waiterCount == 0)
        let state = provider.scope.state.withLock { $0 }
        #expect(state.calls.isEmpty && state.pendingCount == 0)
    }

    /// Repeats the first attempt when the gate opens.
    private static func retrying(_ gate: Gate) -> RecordingPlugin {
        RecordingPlugin(
            place: .retrying,
            retry: { _, context in
                guard context.attempt == 0 else { return .doNotRetry }
                await gate.wait()
                return .retry(after: .zero)
            }
        )
    }

    @Test("A hook of an exchange makes the identical call, which has an exchange of its own", arguments: [true, false])
    func withinHook(inNewTask: Bool) async throws {
        let transport = StubTransport { _ in .response(status: 200, data: Data()) }
        let (identical, statuses) = (Recorder<@Sendable () async throws -> Int>(), Recorder<Int>())
        let repeating = RecordingPlugin(
            retry: { _, _ in
                guard statuses.count == 0 else { return .doNotRetry }
                statuses.append(0)
                let status =
                    inNewTask
                    ? try? await Task { try await identical.elements[0]() }.value : try? await identical.elements[0]()
                statuses.append(status ?? -1)
                return .doNotRetry
            }
        )
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [repeating],
            options: .setting(\.sharesInFlight, true)
        )
        identical.append { try await provider.request(TestTarget(.example)).statusCode }
        #expect(try await provider.request(TestTarget(.example)).statusCode == 200)
        #expect(statuses.elements == [0, 200])
        await provider.scope.shutdown(grace: .seconds(60))
        #expect(provider.configuration.sharedExchanges.count == 0)
    }

    @Test("The first of 20 calls is cancelled during a retry: the others get their response, each context its hooks")
    func cancelledDuringRetry() async throws {
        let (hooks, gate) = (HookRecorder(place: .standard), Gate())
        let provider = provider(plugins: [hooks, Self.retrying(gate)])
        let calls = calls(provider, Array(repeating: target, count: 20))
        await joined(20, provider)
        await transport.release(0)
        await gate.waitForArrivals()
        calls[0].cancel()
        #expect(await ends([calls[0]]) == [.failure(.cancelled)])
        #expect(hooks.hooks.count { $0 == "process" } == 1)
        #expect(provider.configuration.sharedExchanges.waiterCount == 19)
        gate.open()
        await transport.release(1)
        #expect(await ends(calls) == [.failure(.cancelled)] + Array(repeating: .status(200), count: 19))
        await expectRest(provider)
        let waiter = ["prepare", "process", "didFinish"]
        // The plugin that decides the first time is asked before this one.
        let exchange = ["willSend", "didReceive", "prepare", "willSend", "didReceive", "retry"]
        let contexts = hooks.hooksOfContexts
        #expect(contexts.count { $0 == waiter } == 20)
        #expect(contexts.count { $0 == exchange } == 1)
        #expect(contexts.count == 21)
        #expect(transport.sent.count == 2)
    }

    @Test("All of 20 calls are cancelled during a retry: nothing is sent again, and nothing is left")
    func allCancelledDuringRetry() async throws {
        let (hooks, gate) = (HookRecorder(place: .standard), Gate())
        let provider = provider(plugins: [hooks, Self.retrying(gate)])
        let calls = calls(provider, Array(repeating: target, count: 20))
        await joined(20, provider)
        await transport.release(0)
        await gate.waitForArrivals()
        for call in calls { call.cancel() }
        #expect(await ends(calls) == Array(repeating: .failure(.cancelled), count: 20))
        #expect(provider.configuration.sharedExchanges.count == 0)
        gate.open()
        await expectRest(provider)
        #expect(hooks.hooksOfContexts.count { $0 == ["willSend", "didReceive"] } == 1)
        #expect(hooks.hooksOfContexts.count { $0 == ["prepare", "process", "didFinish"] } == 20)
        #expect(transport.sent.count == 1)
    }

    private enum NoteKey: RequestContextKey { typealias Value = String }

    @Test("The exchange starts with a copy of what the first call has stored, and its own storage ends with it")
    func storage() async throws {
        struct Notes: Plugin {
            let seen = Recorder<String?>()
            let contexts = Recorder<RequestContext>()

            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                context[NoteKey.self] = "call \(contexts.count)"
                contexts.append(context)
                return request
            }

            func willSend(_ request: URLRequest, context: RequestContext) {
                seen.append(context[NoteKey.self])
                context[NoteKey.self] = "exchange"
                contexts.append(context)
            }

            func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
                seen.append(context[NoteKey.self])
            }

            func process(
                _ result: Result<Response, TargetKitError>,
                context: RequestContext
            ) async -> Result<Response, TargetKitError> {
                seen.append(context[NoteKey.self])
                return result
            }
        }
        let notes = Notes()
        let provider = provider(plugins: [notes])
        let first = calls(provider, [target])
        await transport.sent.waitForCount(1)
        let second = calls(provider, [target])
        await joined(2, provider)
        await transport.release(0)
        _ = await ends(first + second)
        await expectRest(provider)
        #expect(notes.seen.elements.prefix(2) == ["call 0", "exchange"])
        #expect(Set(notes.seen.elements.suffix(2)) == ["call 0", "call 2"])
        #expect(Set(notes.contexts.elements.map(\.id)).count == 3)
        #expect(notes.contexts.elements.allSatisfy { $0[NoteKey.self] == nil })
    }

    /// Signs requests, or refuses to.
    private struct Signing: Plugin {
        let signed = Recorder<String>()
        var gate: Gate?
        let place = PluginPlace.signing
        let hooks: PluginHooks = [.exchange, .retry]

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            if let gate {
                await gate.wait()
                throw TargetKitError(stage: .request, underlying: Boom())
            }
            var request = request
            signed.append("\(context.id).\(context.attempt)")
            request.urlRequest.setValue(signed.elements.last, forHTTPHeaderField: "X-Signature")
            return try await next(request)
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
        }
    }

    @Test("What a plugin signs in exchange keeps no calls apart, and each attempt is signed once")
    func signing() async throws {
        let signing = Signing()
        let provider = provider(plugins: [signing])
        let calls = calls(provider, [target, target, target])
        await joined(3, provider)
        await transport.release(0)
        await transport.release(1)
        #expect(await ends(calls) == Array(repeating: .status(200), count: 3))
        let signatures = transport.sent.elements.map {
            $0.request.urlRequest.value(forHTTPHeaderField: "X-Signature")
        }
        #expect(signatures.count == 2 && signatures == signing.signed.elements)
        #expect(Set(signing.signed.elements.map { $0.prefix { $0 != "." } }).count == 1)
        await expectRest(provider)
    }

    @Test("A plugin that can't sign ends all calls, before anything is sent")
    func failedSigning() async throws {
        let gate = Gate()
        let provider = provider(plugins: [Signing(gate: gate)])
        let calls = calls(provider, [target, target])
        await joined(2, provider)
        gate.open()
        #expect(await ends(calls) == [.failure(.request), .failure(.request)])
        #expect(transport.sent.count == 0)
        await expectRest(provider)
    }

    @Test(
        "didReceive, retry, process and the caller see the same error whether the exchange is shared or not",
        arguments: [
            SampleResponse.response(status: 404, data: Data("no".utf8)),
            .response(status: 409, data: Data(#"{"code":9,"message":"no"}"#.utf8)), .failure(URLError(.timedOut)),
            .failure(URLError(.cannotFindHost)), .response(status: 200, data: Data(#"{"code":9}"#.utf8)),
        ]
    )
    func errors(sample: SampleResponse) async throws {
        func texts(isShared: Bool) async throws -> [String] {
            let seen = Recorder<String>()
            struct Witness: Plugin {
                let seen: Recorder<String>

                func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
                    seen.append("didReceive \(result)")
                }
            }
            let recorder = RecordingPlugin(
                retry: { result, _ in
                    seen.append("retry \(result)")
                    return .doNotRetry
                },
                process: { result, _ in
                    seen.append("process \(result)")
                    return result
                }
            )
            let provider = Provider<TestTarget>(
                transport: StubTransport(sample),
                plugins: [Witness(seen: seen), recorder],
                options: .setting(\.envelope, CodeMessageData()).setting(\.sharesInFlight, isShared)
            )
            let error = try await #require(throws: TargetKitError.self) {
                try await provider.request(target.with { $0.validation = .successCodes })
            }
            #expect(error.target is TestTarget)
            return seen.elements + ["caller \(error)"]
        }
        let (own, shared) = (try await texts(isShared: false), try await texts(isShared: true))
        // A response that arrived and reports a failure is the call's to judge: the exchange is asked before.
        #expect(shared.filter { !$0.hasPrefix("retry success") } == own)
    }

    @Test("A refused status with an envelope is retried as often as for a call of its own")
    func retriesOfRefusedStatus() async throws {
        let sent = Tally()
        let transport = StubTransport { _ in
            sent.add()
            return .response(status: 503, data: Data(#"{"code":9,"message":"busy"}"#.utf8))
        }
        let plugin = RecordingPlugin(retry: { _, context in context.attempt < 2 ? .retry(after: .zero) : .doNotRetry })
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [plugin],
            options: .setting(\.sharesInFlight, true).setting(\.envelope, CodeMessageData())
        )
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(target.with { $0.validation = .successCodes })
        }
        #expect(error?.stage == .envelope)
        #expect(sent.value == 3)
    }

    @Test("Calls that share an exchange decode with their own decoders and envelopes")
    func ownDecodersAndEnvelopes() async throws {
        let transport = HeldTransport { _ in
            .response(status: 409, data: Data(#"{"code":9,"error":3,"user_name":"a"}"#.utf8))
        }
        let provider = Provider<TestTarget>(transport: transport, options: .setting(\.sharesInFlight, true))
        struct User: Decodable, Sendable { var userName: String }
        func call(_ options: CallOptions, _ validation: StatusValidation) -> Task<Result<User, any Error>, Never> {
            Task {
                await Result {
                    let target = target.with { $0.validation = validation }
                    return try await provider.request(target, as: User.self, options: options)
                }
            }
        }
        let plain = call(CallOptions(), .none)
        await transport.sent.waitForCount(1)
        let snake = call(.setting(\.decoder, .snakeCase()), .none)
        await waiters(2, of: provider)
        let code = call(.setting(\.envelope, CodeMessageData()), .successCodes)
        await transport.sent.waitForCount(2)
        let error = call(.setting(\.envelope, CodeMessageData(code: "error")), .successCodes)
        let none = call(CallOptions(), .successCodes)
        await waiters(5, of: provider)
        await transport.release(0)
        await transport.release(1)
        #expect((await plain.value.failure as? TargetKitError)?.stage == .decoding)
        #expect(try await snake.value.get().userName == "a")
        func refusal(_ result: Result<User, any Error>) -> String? {
            ((result.failure as? TargetKitError)?.underlying as? ServerDefinedError)?.code
        }
        #expect(refusal(await code.value) == "9")
        #expect(refusal(await error.value) == "3")
        #expect((await none.value.failure as? TargetKitError)?.stage == .status)
        #expect(transport.sent.count == 2)
    }

    @Test("The error of a call that leaves a shared exchange has its request, like that of a call of its own")
    func requestOfCancelledCall() async throws {
        let transport = HeldTransport { _ in .response(status: 200, data: Data()) }
        let provider = Provider<TestTarget>(transport: transport, options: .setting(\.sharesInFlight, true))
        let calls = (0..<2).map { _ in Task { try await provider.request(target) } }
        await waiters(2, of: provider)
        calls[0].cancel()
        let error = try await #require(throws: TargetKitError.self) { try await calls[0].value }
        #expect(error.stage == .cancelled)
        #expect(error.request?.url?.host == target.baseURL.host)
        await transport.release(0)
        #expect(try await calls[1].value.statusCode == 200)
    }

    private func waiters(_ count: Int, of provider: Provider<TestTarget>) async {
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < count { await Task.yield() }
    }

    @Test("Each call is asked about a body that it cannot decode, and those that repeat share the next exchange")
    func businessCode() async throws {
        let transport = HeldTransport { request in
            let isNew = request.urlRequest.value(forHTTPHeaderField: "X-Token") == "new"
            return .response(status: 200, data: Data((isNew ? #"{"code":0,"data":7}"# : #"{"code":401}"#).utf8))
        }
        let (plugin, hooks) = (CallDecodingTests.Refreshing(), HookRecorder(place: .standard))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [plugin, hooks],
            options: .setting(\.sharesInFlight, true).setting(\.envelope, CodeMessageData())
        )
        let calls = (0..<5).map { _ in Task { try await provider.request(target, as: Int.self) } }
        await waiters(5, of: provider)
        await transport.release(0)
        await transport.sent.waitForCount(2)
        await waiters(5, of: provider)
        await transport.release(1)
        for call in calls { #expect(try await call.value == 7) }
        #expect(transport.sent.count == 2)
        #expect(plugin.seen.count == 5)
        let waiter = ["prepare", "prepare", "process", "didFinish"]
        #expect(hooks.hooksOfContexts.count { $0 == waiter } == 5)
        #expect(hooks.hooksOfContexts.count { $0 == ["willSend", "didReceive", "retry"] } == 2)
        await provider.scope.shutdown(grace: .seconds(60))
        #expect(provider.configuration.sharedExchanges.count == 0)
    }

    @Test("The shutdown of a scope waits for an exchange whose calls have been cancelled")
    func shutdown() async throws {
        let (arrived, end, isDown) = (Gate(), Gate(), Gate())
        let hooks = HookRecorder(place: .standard)
        let provider = Provider<MultiTarget>(
            transport: StubTransport { _ in
                arrived.open()
                // Takes no notice of a cancel.
                await end.wait()
                return .response(status: 200, data: Data())
            },
            plugins: [hooks],
            options: .setting(\.sharesInFlight, true)
        )
        let calls = calls(provider, [target, target])
        await joined(2, provider)
        await arrived.wait()
        let shutdown = Task {
            await provider.scope.shutdown(grace: .zero)
            isDown.open()
        }
        #expect(await ends(calls) == [.failure(.cancelled), .failure(.cancelled)])
        while !Task.isCancelled, provider.scope.inFlightCount > 0 { await Task.yield() }
        for _ in 0..<200 { await Task.yield() }
        #expect(!isDown.isOpen)
        #expect(!hooks.hooks.contains("didReceive"))
        end.open()
        await shutdown.value
        #expect(hooks.hooksOfContexts.contains(["willSend", "didReceive"]))
    }
}
