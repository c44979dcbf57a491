// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response is stored when the call that loaded it accepts it, at every stage.
@Suite("Cache: responses that the call rejects", .throttled, .timeLimit(.minutes(2)))
struct CacheAcceptanceTests {
    private typealias Value = [String: Int]

    /// The stage at which a call rejects a response that may be stored.
    enum Rejection: String, CaseIterable, Sendable {
        case status, decoding, envelope, envelopeWithoutValue, appError, process, bodyCode, unauthorized

        /// A response that the call rejects.
        var sample: SampleResponse {
            switch self {
            case .status:
                .response(status: 404, headers: ["Cache-Control": "max-age=60"], data: Data(#"{"code":404}"#.utf8))
            case .decoding: .cacheable("<p>")
            case .bodyCode, .unauthorized: .cacheable(#"{"code":401,"message":"sign in"}"#)
            default: .cacheable(#"{"code":5001,"message":"busy"}"#)
            }
        }
    }

    static let good = SampleResponse.cacheable(#"{"code":0,"data":{"a":1}}"#)

    /// A target with the app's own error for a code.
    private struct Mapped: ErrorMappingTarget {
        struct Busy: Error {}

        let target: CachedTarget
        var baseURL: URL { target.baseURL }
        var path: RequestPath { target.path }
        var options: CallOptions { target.options }

        func appError(for response: Response) -> (any Error)? {
            response.body.contains("5001") ? Busy() : nil
        }
    }

    /// A plugin whose `process` rejects a code.
    private struct Processing: Plugin {
        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            guard case .success(let response) = result, response.body.contains("5001") else { return result }
            return .failure(TargetKitError(stage: .envelope, response: response))
        }
    }

    private static func plugins(for rejection: Rejection) -> [any Plugin] {
        switch rejection {
        case .process: [Processing()]
        case .bodyCode: [CodeAuthenticator.plugin]
        case .unauthorized: [UnauthorizedPlugin(bodyCodes: [.signIn]) { _ in }]
        default: []
        }
    }

    /// Makes a call that rejects the response as the case says, and returns the body or the failure.
    private static func result(
        _ rejection: Rejection,
        _ policy: CachePolicy,
        in world: CacheWorld,
        options: CallOptions = CallOptions()
    ) async -> Result<String, TargetKitError> {
        let target = CachedTarget().validated().with(policy)
        let enveloped = options.setting(\.envelope, CodeMessageData())
        do throws(TargetKitError) {
            switch rejection {
            case .decoding: return .success("\(try await world.provider.request(target, as: JSONValue.self))")
            case .envelope:
                return .success("\(try await world.provider.request(target, as: Value.self, options: enveloped))")
            case .envelopeWithoutValue:
                return .success(try await world.provider.request(target, options: enveloped).body)
            case .appError:
                let provider = Provider<Mapped>(
                    transport: world.transport,
                    plugins: [ResponseCachePlugin(world.cache)],
                    scope: world.provider.scope
                )
                return .success(try await provider.request(Mapped(target: target), options: options).body)
            case .status, .process, .bodyCode, .unauthorized:
                return .success(try await world.provider.request(target, options: options).body)
            }
        } catch {
            return .failure(error)
        }
    }

    @Test(
        "A response that the call rejects isn't used for the next call, also not after a relaunch",
        arguments: CachePlace.allCases,
        Rejection.allCases
    )
    func isNotStored(_ place: CachePlace, _ rejection: Rejection) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = place.world(folder, plugins: Self.plugins(for: rejection))
        world.answer { _ in rejection.sample }
        _ = await Self.result(rejection, .cachedElseLoad, in: world)
        await world.cache.waitForWrites()
        #expect(folder.entries.isEmpty)
        let relaunched = place.world(folder, plugins: Self.plugins(for: rejection))
        for world in [world, relaunched] {
            world.answer { _ in Self.good }
            for _ in 0..<2 {
                let result = await Self.result(rejection, .cachedElseLoad, in: world)
                #expect(throws: Never.self) { try result.get() }
            }
            await world.cache.waitForWrites()
        }
        #expect(world.requests.count == 2)
        #expect(relaunched.requests.count == (place == .memory ? 1 : 0))
    }

    @Test(
        "A response that the call rejects doesn't replace one that was accepted",
        arguments: Rejection.allCases,
        [CachePolicy.useProtocol, .staleOnFailure, .reload]
    )
    func doesNotReplace(_ rejection: Rejection, _ policy: CachePolicy) async throws {
        let folder = try TemporaryFolderOfCache()
        for place in CachePlace.allCases {
            let world = place.world(folder, plugins: Self.plugins(for: rejection))
            world.answer { _ in Self.good }
            _ = await Self.result(rejection, .reload, in: world)
            world.pass(70)
            world.answer { _ in rejection.sample }
            _ = await Self.result(rejection, policy, in: world)
            await world.cache.waitForWrites()
            world.answer { _ in .error(.notConnectedToInternet) }
            let stale = await Self.result(rejection, .staleOnFailure, in: world)
            #expect(throws: Never.self) { try stale.get() }
            #expect(try await world.provider.request(CachedTarget().with(.onlyCached)).body.contains(#""a":1"#))
            await world.cache.removeAll()
        }
    }

    @Test("The retry after a refresh doesn't receive the rejection from the cache", arguments: [true, false])
    func retry(isShared: Bool) async throws {
        let authentication = CodeAuthenticator.plugin
        try await authentication.signIn(Token(1))
        let world = CacheWorld(plugins: [authentication]) { request in
            request.value(forHTTPHeaderField: "Authorization") == Token(1).field
                ? Rejection.bodyCode.sample : Self.good
        }
        let target = CachedTarget().validated().with(.cachedElseLoad)
        let options = CallOptions.setting(\.sharesInFlight, isShared)
        for _ in 0..<2 {
            #expect(try await world.provider.request(target, options: options).body.contains(#""a":1"#))
        }
        #expect(world.requests.count == 2)
        // The next session of the same server.
        try await authentication.signIn(Token(1))
        #expect(try await world.provider.request(target, options: options).body.contains(#""a":1"#))
    }

    @Test("A stored response that a call rejects is loaded by its retry or the next call", arguments: [true, false])
    func storedRejection(isRetried: Bool) async throws {
        let retrying = ErrorHandlingPlugin { error, context in
            error.stage == .envelope && context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
        }
        let world = CacheWorld(plugins: isRetried ? [retrying] : []) { _ in .cacheable(#"{"code":7}"#) }
        // Accepts any body.
        _ = try await world.provider.request(CachedTarget())
        world.answer { _ in Self.good }
        let first = await Self.result(.envelope, .cachedElseLoad, in: world)
        #expect((first.failure == nil) == isRetried)
        #expect(await Self.result(.envelope, .cachedElseLoad, in: world).failure == nil)
        #expect(world.requests.count == 2)
    }

    @Test("If one of the calls that share an exchange rejects the response, the one before it stays")
    func sharers() async throws {
        for order in 0..<2 {
            let gate = Gate()
            let world = CacheWorld { _ in Self.good }
            _ = try await world.provider.request(CachedTarget())
            world.pass(70)
            world.answer { _ in
                await gate.wait()
                return .cacheable(#"{"code":7}"#)
            }
            let calls = [order == 0, order == 1].map { isStrict in
                var target = CachedTarget()
                target.options = .setting(\.sharesInFlight, true)
                if isStrict { target.options.envelope = CodeMessageData() }
                return Task { [target] in await world.provider.result(target) }
            }
            await world.provider.waitForJoinedCalls(2)
            gate.open()
            var failures = 0
            for call in calls where await call.value.failure != nil { failures += 1 }
            #expect(failures == 1)
            let stored = try await world.provider.request(CachedTarget().with(.onlyCached))
            #expect(stored.body.contains(#""a":1"#))
        }
    }

    @Test("The first of several sharers leaves, and the response that the others accept is stored")
    func leavingSharer() async throws {
        let gate = Gate()
        let world = CacheWorld { _ in
            await gate.wait()
            return Self.good
        }
        var target = CachedTarget()
        target.options = .setting(\.sharesInFlight, true)
        let first = Task { [target] in await world.provider.result(target) }
        await world.requests.waitForCount(1)
        let second = Task { [target] in await world.provider.result(target) }
        await world.provider.waitForJoinedCalls(2)
        first.cancel()
        #expect(await first.value.failure?.stage == .cancelled)
        gate.open()
        _ = try await second.value.get()
        #expect(try await world.provider.request(CachedTarget().with(.onlyCached)).body.contains(#""a":1"#))
    }

    @Test("A redirect to a page that the call rejects doesn't replace the response", arguments: [true, false])
    func redirectToPortal(isStorable: Bool) async throws {
        let world = CacheWorld { _ in Self.good }
        _ = await Self.result(.envelope, .useProtocol, in: world)
        world.pass(70)
        world.answer { request in
            guard request.url?.path().hasSuffix("/list") == true else { return .cacheable("<p>") }
            let fields: HTTPHeaders = isStorable ? ["Cache-Control": "max-age=600"] : [:]
            return .response(
                status: isStorable ? 302 : 301,
                headers: fields.merging(["Location": "/portal"]),
                data: Data()
            )
        }
        #expect(await Self.result(.envelope, .staleOnFailure, in: world).failure?.stage == .decoding)
        world.answer { _ in .error(.notConnectedToInternet) }
        #expect(await Self.result(.envelope, .staleOnFailure, in: world).failure == nil)
    }

    @Test(
        "A response in the background that the call would reject isn't stored, and the next call asks the server",
        arguments: [Rejection.status, .envelope, .envelopeWithoutValue, .bodyCode, .unauthorized, .appError]
    )
    func background(_ rejection: Rejection) async throws {
        let scope = RequestScope()
        let world = CacheWorld(plugins: Self.plugins(for: rejection), scope: scope) { _ in
            .cacheable(
                #"{"code":0,"data":{"a":1}}"#,
                ["Cache-Control": "max-age=60, stale-while-revalidate=600"]
            )
        }
        _ = await Self.result(rejection, .useProtocol, in: world)
        world.pass(70)
        world.answer { _ in rejection.sample }
        #expect(await Self.result(rejection, .useProtocol, in: world).failure == nil)
        await scope.shutdown(grace: .seconds(60))
        scope.reopen()
        #expect(world.requests.count == 2)
        #expect(try await world.provider.request(CachedTarget().with(.onlyCached)).body.contains(#""a":1"#))
        world.answer { _ in .cacheable(#"{"code":0,"data":{"a":2}}"#) }
        #expect(try await Self.result(rejection, .useProtocol, in: world).get().contains("2"))
        #expect(world.requests.count == 3)
    }

    @Test(
        "A stored response replaces the failure of a server that can't respond, also if the body explains it",
        arguments: [(408, true), (429, true), (500, true), (503, true), (401, false), (404, false)]
    )
    func explainedFailure(status: Int, isReplaced: Bool) async throws {
        let world = CacheWorld { _ in Self.good }
        #expect(await Self.result(.envelope, .staleOnFailure, in: world).failure == nil)
        world.pass(70)
        world.answer { _ in .response(status: status, data: Data(#"{"code":9,"msg":"busy"}"#.utf8)) }
        let failure = await Self.result(.envelope, .staleOnFailure, in: world).failure
        #expect((failure == nil) == isReplaced)
    }

    @Test("A call that ends before it has accepted its response doesn't store it")
    func cancelledWhileDecoding() async throws {
        struct Slow: Decodable, Sendable {
            static let cancel = Locked<(@Sendable () -> Void)?>(nil)
            init(from decoder: any Decoder) throws { Self.cancel.withLock { $0 }?() }
        }
        let gate = Gate()
        let world = CacheWorld { _ in
            await gate.wait()
            return Self.good
        }
        let call = Task {
            await #expect(throws: TargetKitError.self) {
                try await world.provider.request(CachedTarget(), as: Slow.self)
            }
        }
        Slow.cancel.withLock { $0 = { call.cancel() } }
        gate.open()
        _ = await call.value
        #expect(await world.provider.result(CachedTarget().with(.onlyCached)).failure != nil)
    }

    @Test("A plugin that replaces the response in process doesn't keep it from the cache")
    func replacedInProcess() async throws {
        struct Decrypting: Plugin {
            func process(
                _ result: Result<Response, TargetKitError>,
                context: RequestContext
            ) async -> Result<Response, TargetKitError> {
                result.map { Response(statusCode: $0.statusCode, data: Data($0.data.reversed())) }
            }
        }
        let world = CacheWorld(plugins: [Decrypting()]) { _ in .cacheable("tsrif") }
        for _ in 0..<2 { #expect(try await world.provider.request(CachedTarget()).body == "first") }
        #expect(world.requests.count == 1)
    }

    /// A plugin that waits for the decision of the call.
    private struct Storing: Plugin {
        var place = PluginPlace.caching
        let decisions = Recorder<Bool>()

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            var response = try await next(request)
            response.onDecision { decisions.append($0) }
            return response
        }
    }

    @Test(
        "Each plugin that stores responses receives the decision once",
        arguments: Rejection.allCases.filter { $0 != .appError },
        [PluginPlace.cookies, .caching, .signing]
    )
    func severalPlugins(_ rejection: Rejection, _ place: PluginPlace) async throws {
        let (one, other) = (Storing(place: place), Storing(place: place))
        let world = CacheWorld(plugins: Self.plugins(for: rejection) + [one, other])
        world.answer { _ in rejection.sample }
        _ = await Self.result(rejection, .useProtocol, in: world)
        #expect(one.decisions.elements == [false])
        #expect(other.decisions.elements == [false])
        world.answer { _ in Self.good }
        for _ in 0..<2 { #expect(await Self.result(rejection, .cachedElseLoad, in: world).failure == nil) }
        #expect(one.decisions.elements == [false, true] || place == .cookies)
        #expect(other.decisions.elements == one.decisions.elements)
        #expect(world.requests.count == 2)
    }

    @Test("A rejected response that a stored one replaces is decided, too")
    func replacedByStored() async throws {
        let storing = Storing(place: .signing)
        let world = CacheWorld(plugins: [storing]) { _ in Self.good }
        let target = CachedTarget().validated().with(.staleOnFailure)
        _ = try await world.provider.request(target)
        world.pass(70)
        world.answer { _ in .status(503) }
        #expect(try await world.provider.request(target).body.contains(#""a":1"#))
        #expect(storing.decisions.elements == [true, false])
    }
}
