// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("Unauthorized", .throttled, .timeLimit(.minutes(2)))
struct UnauthorizedPluginTests {
    /// How the server reports that the session has ended.
    enum Sign: String, CaseIterable, Sendable {
        case status, numberInBody, textInBody

        var answer: SampleResponse {
            switch self {
            case .status: .response(status: 401, data: Data())
            case .numberInBody: .response(status: 200, data: Data(#"{"status":401}"#.utf8))
            case .textInBody: .response(status: 200, data: Data(#"{"status":"401"}"#.utf8))
            }
        }
    }

    private let signedOut = Recorder<RequestContext>()

    private var plugin: UnauthorizedPlugin {
        UnauthorizedPlugin(bodyCodes: [BodyCode(keyPath: "status", equals: 401)]) { [signedOut] context in
            signedOut.append(context)
        }
    }

    /// A call that carries a credential.
    private func target(_ sign: Sign = .status, _ validation: StatusValidation = .none) -> PluginTarget {
        PluginTarget(headers: Self.credential, validation: validation, sampleResponse: sign.answer)
    }

    private static let credential: HTTPHeaders = ["Authorization": "Bearer token"]

    @Test(
        "The user is signed out, and the caller gets the server's response",
        arguments: Sign.allCases,
        [StatusValidation.none, .successCodes]
    )
    func signsOut(_ sign: Sign, _ validation: StatusValidation) async {
        let result = await Provider<PluginTarget>.stubbed(plugin).result(target(sign, validation))
        #expect(signedOut.count == 1)
        switch result {
        case .success(let response): #expect(response.statusCode == (sign == .status ? 401 : 200))
        case .failure(let error):
            #expect(error.stage == .status)
            #expect(error.kind == .unauthorized)
        }
        #expect((result.failure == nil) == (sign != .status || validation == .none))
    }

    @Test("Other results do not sign out", arguments: CallEnding.allCases)
    func otherResults(_ ending: CallEnding) async {
        _ = await ending.run(through: plugin)
        #expect(signedOut.count == 0)
    }

    @Test(
        "A rejected token in a header field of the target's own signs out, as the log knows that it is a secret",
        arguments: ["token", "X-Token", "accessToken", "X-Session-Key", "sessionid", "jwt", "X-Auth"],
        Sign.allCases
    )
    func ownField(_ name: String, _ sign: Sign) async {
        let target = PluginTarget(
            headers: [HTTPHeaderName(rawValue: name).rawValue: "secret"],
            sampleResponse: sign.answer
        )
        _ = await Provider<PluginTarget>.stubbed(plugin).result(target)
        #expect(signedOut.count == 1)
    }

    @Test(
        "A secret that guests have, too, does not sign out",
        arguments: [
            "X-Api-Key", "apikey", "X-App-Key", "Client-Secret", "X-CSRF-Token", "X-XSRF-TOKEN", "csrfToken",
            "X-Signature", "Cookie", "X-RapidAPI-Key", "X-Request-Signature", "X-Firebase-AppCheck-Token",
        ]
    )
    func guestsField(_ name: String) async {
        let target = PluginTarget(headers: [name: "secret"], sampleResponse: Sign.status.answer)
        _ = await Provider<PluginTarget>.stubbed(plugin).result(target)
        #expect(signedOut.count == 0)
    }

    @Test("Without a body code, bodies are not looked at")
    func statusOnly() async {
        let plugin = UnauthorizedPlugin { [signedOut] context in signedOut.append(context) }
        let provider = Provider<PluginTarget>.stubbed(plugin)
        _ = await provider.result(target(.numberInBody))
        #expect(signedOut.count == 0)
        _ = await provider.result(target(.status))
        #expect(signedOut.count == 1)
    }

    @Test("Any of several body codes signs out", arguments: [#"{"status":401}"#, #"{"error":{"code":"EXPIRED"}}"#])
    func severalCodes(_ body: String) async {
        let codes = [
            BodyCode(keyPath: "status", equals: 401), BodyCode(keyPath: "error.code", equals: "EXPIRED", "REVOKED"),
        ]
        let plugin = UnauthorizedPlugin(bodyCodes: codes) { [signedOut] context in signedOut.append(context) }
        let target = PluginTarget(
            headers: Self.credential,
            sampleResponse: .response(status: 200, data: Data(body.utf8))
        )
        _ = await Provider<PluginTarget>.stubbed(plugin).result(target)
        #expect(signedOut.count == 1)
    }

    @Test(
        "Of twenty rejected calls of two providers, one signs out",
        arguments: Sign.allCases,
        [StatusValidation.none, .successCodes]
    )
    func twentyCalls(_ sign: Sign, _ validation: StatusValidation) async {
        let (plugin, scope, held) = (plugin, RequestScope(), HeldTransport(sign.answer))
        let one = Provider<PluginTarget>(transport: held.transport, plugins: [plugin], scope: scope)
        let two = Provider<MultiTarget>(transport: held.transport, plugins: [plugin], scope: scope)
        let results = Recorder<RecordingPlugin.Outcome>()
        let target = target(sign, validation)
        for _ in 0..<10 {
            one.request(target, on: .global()) { results.append(.init($0)) }
            two.request(MultiTarget(target), on: .global()) { results.append(.init($0)) }
        }
        await held.requests.waitForCount(20)
        held.gate.open()
        let outcomes = await results.waitForCount(20)
        #expect(signedOut.count == 1)
        let answered: RecordingPlugin.Outcome =
            switch (sign, validation) {
            case (.status, .none): .status(401)
            case (.status, _): .failure(.status)
            default: .status(200)
            }
        #expect(outcomes.contains(answered))
        #expect(outcomes.allSatisfy { $0 == answered || $0 == .failure(.cancelled) })
        #expect(scope.inFlightCount == 0)
    }

    @Test("Cancelling a call whose handler waits ends the call, and not the handler", arguments: [true, false])
    func cancelledInHandler(isAwaited: Bool) async {
        let (started, gate, ended) = (Tally(), Gate(), Tally())
        let plugin = UnauthorizedPlugin { _ in
            started.add()
            await gate.wait()
            ended.add()
        }
        let provider = Provider<PluginTarget>.stubbed(plugin)
        let results = Recorder<RecordingPlugin.Outcome>()
        let call = Task { [target = target()] in
            if isAwaited {
                results.append(.init(await provider.result(target)))
            } else {
                provider.request(target, on: .global()) { results.append(.init($0)) }
            }
        }
        await started.waitRegardless(for: 1)
        provider.cancelAll()
        await results.waitForCount(1)
        #expect(results.elements == [.failure(.cancelled)])
        #expect(ended.value == 0)
        gate.open()
        await call.value
    }

    /// A call in flight while another call ends the session.
    enum Bystander: CaseIterable, Sendable {
        case sameScope, childScope, otherScope
        /// Without the session's credential.
        case guest
        /// Without the session's credential, in an exchange that identical calls share.
        case sharingGuest
        /// In an exchange that identical calls share.
        case sharing
        case signIn
        /// Of a provider without the plugin.
        case otherService
        /// Of a provider with the plugin of another session.
        case otherSession

        var isCancelled: Bool {
            switch self {
            case .sameScope, .childScope, .otherScope, .sharing: true
            case .guest, .sharingGuest, .signIn, .otherService, .otherSession: false
            }
        }

        var isGuest: Bool { self == .guest || self == .sharingGuest }
        var isShared: Bool { self == .sharing || self == .sharingGuest }
    }

    @Test(
        "The calls of the session are cancelled before the handler runs, in every scope; other calls go on",
        arguments: Bystander.allCases
    )
    func cancelsOthers(_ bystander: Bystander) async throws {
        let scope = RequestScope()
        let held = HeldTransport()
        let plugin = plugin
        let own =
            switch bystander {
            case .childScope: RequestScope(parent: scope)
            case .otherScope: RequestScope()
            default: scope
            }
        let plugins: [any Plugin] =
            switch bystander {
            case .otherService: []
            case .otherSession: [self.plugin]
            default: [plugin]
            }
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: plugins,
            options: .setting(\.sharesInFlight, bystander.isShared),
            scope: own
        )
        let target = PluginTarget(
            headers: bystander.isGuest ? [:] : Self.credential,
            endsSessionOnUnauthorized: bystander != .signIn
        )
        let rejecting = HeldTransport(.response(status: 401, data: Data()))
        let rejected = Provider<PluginTarget>(
            transport: rejecting.transport,
            plugins: [plugin],
            scope: bystander == .sameScope ? scope : RequestScope(parent: scope)
        )
        async let result = rejected.result(self.target())
        await rejecting.requests.waitForCount(1)
        async let other = provider.result(target)
        await held.requests.waitForCount(1)
        // A call that joins an exchange sends nothing itself.
        async let joining = provider.result(target)
        if bystander.isShared {
            await provider.waitForJoinedCalls(2)
        } else {
            await held.requests.waitForCount(2)
        }
        rejecting.gate.open()
        #expect(RecordingPlugin.Outcome(await result) == .status(401))
        #expect(signedOut.count == 1)
        held.gate.open()
        for outcome in await [RecordingPlugin.Outcome(other), RecordingPlugin.Outcome(joining)] {
            #expect(outcome == (bystander.isCancelled ? .failure(.cancelled) : .status(200)))
        }
    }

    /// What a handler does with the calls of the ended session.
    enum Cleanup: CaseIterable, Sendable {
        case nothing, cancelProvider, cancelScope, cancelParent, shutDown
    }

    @Test("The call that signs out keeps its result, whatever the handler cancels", arguments: Cleanup.allCases)
    func handlerCancels(_ cleanup: Cleanup) async throws {
        let parent = RequestScope()
        let scope = RequestScope(parent: parent)
        let own = Locked<Provider<PluginTarget>?>(nil)
        let handled = Tally()
        let plugin = UnauthorizedPlugin { _ in
            // A task of the handler has the same rule.
            await Task {
                switch cleanup {
                case .nothing: break
                case .cancelProvider: own.withLock(\.self)?.cancelAll()
                case .cancelScope: scope.cancelAll()
                case .cancelParent: parent.cancelAll()
                case .shutDown: await parent.shutdown(grace: .zero)
                }
            }
            .value
            handled.add()
        }
        let provider = Provider<PluginTarget>.stubbed(plugin, scope: scope)
        own.withLock { $0 = provider }
        defer { own.withLock { $0 = nil } }
        let result = await provider.result(target(.status, .successCodes))
        #expect(handled.value == 1)
        #expect(result.failure?.kind == .unauthorized)
        #expect(result.failure?.stage == .status)
    }

    @Test("A call that is still being prepared when the session ends is cancelled, too")
    func preparing() async throws {
        let (plugin, arrived, gate) = (plugin, Gate(), Gate())
        let waiting = RecordingPlugin(
            place: .observation,
            prepare: { request, _ in
                arrived.open()
                try await gate.waitUnlessCancelled()
                return request
            }
        )
        let provider = Provider<PluginTarget>.stubbed(plugin, waiting, scope: RequestScope())
        async let other = provider.result(PluginTarget(headers: Self.credential))
        await arrived.wait()
        _ = await Provider<PluginTarget>.stubbed(plugin).result(target())
        #expect(signedOut.count == 1)
        gate.open()
        #expect(RecordingPlugin.Outcome(await other) == .failure(.cancelled))
    }

    @Test("The handler is called again after reset, and not before")
    func reset() async {
        let plugin = plugin
        let copy = plugin
        let provider = Provider<PluginTarget>.stubbed(plugin)
        for _ in 0..<3 { _ = await provider.result(target()) }
        #expect(signedOut.count == 1)
        copy.reset()
        for _ in 0..<3 { _ = await provider.result(target()) }
        #expect(signedOut.count == 2)
    }

    @Test("Once signed out, a further 401 cancels nothing")
    func cancelsOnce() async {
        let (plugin, scope, held) = (plugin, RequestScope(), HeldTransport())
        let stubbed = Provider<PluginTarget>.stubbed(plugin, scope: scope)
        let provider = Provider<PluginTarget>(transport: held.transport, plugins: [plugin], scope: scope)
        _ = await stubbed.result(target())
        async let signIn = provider.result(PluginTarget())
        await held.requests.waitForCount(1)
        _ = await stubbed.result(target())
        held.gate.open()
        #expect(RecordingPlugin.Outcome(await signIn) == .status(200))
    }

    @Test("A 401 to a call from before reset does not end the new session", arguments: Sign.allCases)
    func staleAnswer(_ sign: Sign) async {
        let (plugin, scope, held) = (plugin, RequestScope(), HeldTransport(sign.answer))
        let stubbed = Provider<PluginTarget>.stubbed(plugin, scope: scope)
        _ = await stubbed.result(target())
        let provider = Provider<PluginTarget>(transport: held.transport, plugins: [plugin], scope: scope)
        async let late = provider.result(target())
        await held.requests.waitForCount(1)
        plugin.reset()
        held.gate.open()
        _ = await late
        #expect(signedOut.count == 1)
        _ = await stubbed.result(target(sign))
        #expect(signedOut.count == 2)
    }

    @Test("A call opts out by its options, or by the closure of the plugin", arguments: [true, false])
    func optOut(_ byClosure: Bool) async {
        let signIn = target().with { $0.endsSessionOnUnauthorized = byClosure }
        let plugin =
            byClosure
            ? UnauthorizedPlugin(belongsToSession: { _ in false }) { [signedOut] in signedOut.append($0) } : plugin
        let result = await Provider<PluginTarget>.stubbed(plugin).result(signIn)
        #expect(RecordingPlugin.Outcome(result) == .status(401))
        #expect(signedOut.count == 0)
    }

    @Test("A call that has opted out is not cancelled either")
    func optOutSurvives() async {
        let (plugin, scope, held) = (plugin, RequestScope(), HeldTransport())
        let provider = Provider<PluginTarget>(transport: held.transport, plugins: [plugin], scope: scope)
        async let signIn = provider.result(PluginTarget(endsSessionOnUnauthorized: false))
        await held.requests.waitForCount(1)
        _ = await Provider<PluginTarget>.stubbed(plugin, scope: scope).result(target())
        #expect(signedOut.count == 1)
        held.gate.open()
        #expect(RecordingPlugin.Outcome(await signIn) == .status(200))
    }

    @Test("A call whose retry succeeds does not sign out; one whose retry fails does")
    func afterRetry() async {
        let refresh = RecordingPlugin(retry: { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry }
        )
        let answers = Tally()
        let provider = Provider<PluginTarget>(
            transport: StubTransport { _ in
                answers.add()
                return .response(status: answers.value == 2 ? 200 : 401, data: Data())
            },
            plugins: [plugin, refresh]
        )
        #expect(RecordingPlugin.Outcome(await provider.result(target())) == .status(200))
        #expect(signedOut.count == 0)
        #expect(RecordingPlugin.Outcome(await provider.result(target())) == .status(401))
        #expect(signedOut.elements.map(\.attempt) == [1])
    }

    /// Replaces the result by an error.
    private struct ReplacingPlugin: Plugin {
        var place = PluginPlace.standard
        var keepsResponse = true

        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            result.flatMap { .failure(TargetKitError(stage: .envelope, response: keepsResponse ? $0 : nil)) }
        }
    }

    @Test("A plugin before it may wrap the response in an error")
    func wrapped() async {
        let provider = Provider<PluginTarget>.stubbed(ReplacingPlugin(place: .environment), plugin)
        let result = await provider.result(target(.numberInBody))
        #expect(result.failure?.stage == .envelope)
        #expect(signedOut.count == 1)
    }

    @Test(
        "A plugin that discards the response in `process` comes later, wherever it is in the array",
        arguments: [0, 1]
    )
    func discarded(_ position: Int) async {
        var plugins: [any Plugin] = [plugin]
        plugins.insert(ReplacingPlugin(keepsResponse: false), at: position)
        let provider = Provider<PluginTarget>(stubClosure: { _ in .immediate }, plugins: plugins)
        let result = await provider.result(target(.numberInBody))
        #expect(result.failure?.stage == .envelope)
        #expect(signedOut.count == 1)
    }

    @Test("Two plugins keep their sessions apart")
    func twoPlugins() async {
        let (one, two) = (plugin, plugin)
        let provider = Provider<PluginTarget>.stubbed(one, two)
        for _ in 0..<3 { one.reset() }
        _ = await provider.result(target())
        #expect(signedOut.count == 2)
        two.reset()
        _ = await provider.result(target())
        #expect(signedOut.count == 3)
    }

    @Test("A cancelled call waits neither for the handler nor for a plugin after it")
    func cancelsOtherPlugins() async throws {
        let (handling, handled) = (Gate(), Gate())
        let plugin = UnauthorizedPlugin { _ in
            handling.open()
            await handled.wait()
        }
        let waiting = RecordingPlugin(
            place: .observation,
            process: { result, _ in
                try? await Task.sleep(for: .seconds(600))
                return result
            }
        )
        let provider = Provider<PluginTarget>.stubbed(plugin, waiting)
        let call = Task { await provider.result(target()) }
        await handling.wait()
        call.cancel()
        #expect(await call.value.failure?.stage == .cancelled)
        handled.open()
    }

    @Test("The call waits for the handler until it is cancelled; the handler runs to its end")
    func handlerRunsToItsEnd() async {
        let scope = RequestScope()
        let (reached, goOn) = (Gate(), Gate())
        let outcome = Recorder<RecordingPlugin.Outcome>()
        let wasCancelled = Recorder<Bool>()
        let plain = Provider<PluginTarget>.stubbed(scope: scope)
        let plugin = UnauthorizedPlugin { _ in
            reached.open()
            await goOn.wait()
            wasCancelled.append(Task.isCancelled)
            outcome.append(.init(await plain.result(PluginTarget())))
        }
        let target = target()
        let provider = Provider<PluginTarget>.stubbed(plugin, scope: scope)
        let call = Task {
            defer { reached.open() }
            return await provider.result(target)
        }
        await reached.wait()
        #expect(scope.inFlightCount == 1)
        call.cancel()
        goOn.open()
        #expect(await call.value.failure?.stage == .cancelled)
        // The cancelled caller no longer waits for it.
        await outcome.waitForCount(1)
        #expect(wasCancelled.elements == [false])
        #expect(outcome.elements == [.status(200)])
    }
}

@Suite("Unauthorized: whose 401", .throttled, .timeLimit(.minutes(2)))
struct UnauthorizedOriginTests {
    private let signedOut = Recorder<RequestContext>()

    private var plugins: [any Plugin] {
        [
            AccessTokenPlugin { _ in "token" },
            UnauthorizedPlugin { [signedOut] context in signedOut.append(context) },
        ]
    }

    @Test("A wrong password on a call without a credential does not sign out; a later 401 does")
    func signIn() async throws {
        let provider = Provider<PluginTarget>(transport: ScriptedTransport(.status(401)).transport, plugins: plugins)
        _ = await provider.result(PluginTarget(path: "/sign-in", authorization: .none))
        #expect(signedOut.count == 0)
        _ = await provider.result(PluginTarget())
        #expect(signedOut.count == 1)
    }

    @Test("The fields that carry the credential can be chosen", arguments: [nil, [.cookie]] as [Set<HTTPHeaderName>?])
    func fields(_ names: Set<HTTPHeaderName>?) async throws {
        let unauthorized = UnauthorizedPlugin(credentialHeaders: names) { [signedOut] in signedOut.append($0) }
        let provider = Provider<PluginTarget>(
            transport: ScriptedTransport(.status(401)).transport,
            plugins: [unauthorized]
        )
        _ = await provider.result(PluginTarget(headers: ["Cookie": "session=1"]))
        #expect(signedOut.count == (names == nil ? 0 : 1))
        _ = await provider.result(PluginTarget(headers: ["Authorization": "Bearer token"]))
        #expect(signedOut.count == 1)
    }

    @Test("A 401 of another origin after a redirect does not sign out")
    func redirect() async throws {
        let other = try TestServer(response: .status(401))
        let server = try TestServer(response: .redirect(to: other.baseURL.absoluteString))
        let provider = Provider<PluginTarget>(plugins: plugins)
        #expect(try await provider.request(PluginTarget(baseURL: server.baseURL)).statusCode == 401)
        #expect(other.requestCount == 1)
        #expect(signedOut.count == 0)
    }

    @Test("The handler may shut down the scope of the call", arguments: [0, 3600])
    func shutdown(_ grace: Int) async throws {
        let (scope, ended) = (RequestScope(clock: ManualClock()), Expectation())
        let unauthorized = UnauthorizedPlugin { context in
            await context.scope.shutdown(grace: .seconds(grace))
            ended.fulfill()
        }
        let plugins: [any Plugin] = [AccessTokenPlugin { _ in "token" }, unauthorized]
        let provider = Provider<PluginTarget>(
            transport: ScriptedTransport(.status(401)).transport,
            plugins: plugins,
            scope: scope
        )
        let result = await provider.result(PluginTarget())
        await ended.wait()
        #expect(RecordingPlugin.Outcome(result) == .status(401))
        #expect(scope.isShutDown)
        #expect(scope.inFlightCount == 0)
    }
}

@Suite("Body code", .throttled)
struct BodyCodeTests {
    @Test(
        "Numbers and strings are matched alike",
        arguments: [
            (#"{"status":401}"#, true), (#"{"status":"401"}"#, true), (#"{"status":401.0}"#, true),
            (#"{"status":4.01e2}"#, true),
            (#"{ "a": {"status": 200}, "status" : 401 }"#, true), (#"{"status":"4\u00301"}"#, true),
            (#"{"status":402}"#, false), (#"{"status":"401 "}"#, false), (#"{"status":4010}"#, false),
            (#"{"status":401.5}"#, false), (#"{"status":null}"#, false), (#"{"status":{"status":401}}"#, false),
            (#"{"status":[401]}"#, false), (#"{"other":401}"#, false), (#"[401]"#, false), ("401", false), ("", false),
            ("<html>401</html>", false), (#"{"status":"#, false), (#"{"status":401"#, false),
            (#"{"status":401}}"#, false), (#"{"status":401,}"#, false), (#"{"status":401,"a":tru}"#, false),
            (#"{"status":1e999}"#, false),
        ]
    )
    func number(_ body: String, _ isMatch: Bool) {
        let response = Response(statusCode: 200, data: Data(body.utf8))
        #expect(BodyCode(keyPath: "status", equals: 401).matches(response) == isMatch)
        #expect(BodyCode(keyPath: "status", equals: "401").matches(response) == isMatch)
    }

    @Test(
        "Any of several codes matches",
        arguments: [(401, true), (419, true), (440, true), (200, false)]
    )
    func several(_ code: Int, _ isMatch: Bool) {
        let response = Response(statusCode: 200, data: Data(#"{"error":[{"code":\#(code)}]}"#.utf8))
        #expect(BodyCode(keyPath: "error.0.code", equals: 401, 419, 440).matches(response) == isMatch)
        #expect(BodyCode(keyPath: "error.0.code", equals: "401", "419", "440").matches(response) == isMatch)
    }

    @Test("Only bodies of the given status codes are checked", arguments: [200, 204, 299, 300, 400, 500])
    func statusCodes(_ status: Int) {
        let response = Response(statusCode: status, data: Data(#"{"code":"EXPIRED"}"#.utf8))
        #expect(BodyCode(keyPath: "code", equals: "EXPIRED").matches(response) == (status < 300))
        let refused = BodyCode(keyPath: "code", equals: "EXPIRED", statusCodes: 400...499)
        #expect(refused.matches(response) == (status == 400))
    }
}
