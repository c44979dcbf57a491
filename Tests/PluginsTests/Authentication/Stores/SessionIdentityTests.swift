// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Two plugins that stand for two processes with one store, of which one signs in or out while the other has calls.
@Suite("Authentication: signing in and out in another process", .throttled, .timeLimit(.minutes(2)))
struct SessionIdentityTests {
    /// What the processes share.
    enum Kind: String, CaseIterable, Sendable {
        /// It has a lock: a sign-in waits for a refresh.
        case file
        case memory
        /// A store of the app, with the three methods that are required.
        case custom
    }

    private struct CustomStore: CredentialStore {
        let contents = Locked<OAuthCredential?>(nil)

        func load() async throws -> OAuthCredential? { contents.withLock { $0 } }
        func save(_ credential: OAuthCredential) async throws { contents.withLock { $0 = credential } }
        func clear() async throws { contents.withLock { $0 = nil } }
    }

    private typealias Plugin = AuthenticationPlugin<OAuthAuthenticator>

    private struct Process: Sendable {
        let plugin: Plugin
        let provider: Provider<PluginTarget>
    }

    /// A server that rejects the tokens in a set, and both processes.
    private final class World: Sendable {
        let store: any CredentialStore<OAuthCredential>
        let rejected = Locked<Set<String>>([])
        let tokens = Recorder<String>()
        let signOuts = Recorder<any Error>()
        /// Holds the calls of the path `/slow`.
        let answers = Gate()
        private let folder: TemporaryFolder

        init(_ kind: Kind, startingWith token: String? = "anna1") async throws {
            folder = try TemporaryFolder()
            switch kind {
            case .file: store = FileCredentialStore(folder.url.appending(path: "session.json"))
            case .memory: store = MemoryCredentialStore<OAuthCredential>()
            case .custom: store = CustomStore()
            }
            if let token { try await process().plugin.signIn(Self.credential(token)) }
        }

        static func credential(_ token: String) -> OAuthCredential {
            OAuthCredential(accessToken: token, refreshToken: "r-" + token)
        }

        func process(
            _ refresh: @escaping @Sendable (OAuthCredential) async throws -> OAuthCredential = { old in
                World.credential(old.accessToken + "+")
            }
        ) -> Process {
            let plugin = AuthenticationPlugin(
                authenticator: OAuthAuthenticator(refresh: refresh),
                store: store
            ) { [signOuts] in
                signOuts.append($0)
            }
            let transport = StubTransport { [self] request in
                let field = request.urlRequest.value(forHTTPHeaderField: "Authorization") ?? "Bearer -"
                let token = String(field.dropFirst("Bearer ".count))
                tokens.append(token)
                if request.urlRequest.url?.lastPathComponent == "slow" { await answers.wait() }
                let isRejected = rejected.withLock { $0.contains(token) }
                return .response(status: isRejected ? 401 : 200, data: Data("{}".utf8))
            }
            return Process(plugin: plugin, provider: Provider(transport: transport, plugins: [plugin]))
        }

        func reject(_ tokens: String...) { rejected.withLock { $0.formUnion(tokens) } }
    }

    /// Begins a change of the session, and waits for it unless it waits for the refresh itself.
    private func begin(
        _ kind: Kind,
        _ change: @escaping @Sendable () async throws -> Void,
        until isDone: () async throws -> Bool
    ) async throws -> Task<Void, any Error> {
        let task = Task { try await change() }
        if kind == .file {
            while try await !isDone() { await Task.yield() }
        } else {
            try await task.value
        }
        return task
    }

    @Test("A refresh does not undo the sign-out of another process", arguments: Kind.allCases)
    func signOutDuringRefresh(_ kind: Kind) async throws {
        let world = try await World(kind)
        let gate = Gate()
        let here = world.process()
        let other = world.process { old in
            await gate.wait()
            return World.credential(old.accessToken + "+")
        }
        world.reject("anna1")
        _ = try await here.plugin.credential
        let call = Task { await other.provider.result(PluginTarget()) }
        await gate.waitForArrivals()
        let change = try await begin(kind) {
            try await here.plugin.signOut()
        } until: {
            try await here.plugin.credential == nil
        }
        gate.open()
        let result = await call.value
        try await change.value
        #expect(try await world.store.load() == nil)
        #expect(try await world.process().plugin.credential == nil)
        if kind != .file {
            #expect(result.failure?.underlying as? AuthenticationError == .signedOutElsewhere)
            #expect(world.signOuts.count == 1)
            #expect(try await other.plugin.credential == nil)
        }
    }

    @Test(
        "A refresh does not replace the credential of a user who has signed in in another process",
        arguments: Kind.allCases
    )
    func signInDuringRefresh(_ kind: Kind) async throws {
        let world = try await World(kind)
        let gate = Gate()
        let here = world.process()
        let other = world.process { old in
            if old.accessToken == "anna1" { await gate.wait() }
            return World.credential(old.accessToken + "+")
        }
        world.reject("anna1")
        let call = Task { await other.provider.result(PluginTarget(method: .post)) }
        await gate.waitForArrivals()
        let change = try await begin(kind) {
            try await here.plugin.signIn(World.credential("bert1"))
        } until: {
            try await here.plugin.credential?.accessToken == "bert1"
        }
        gate.open()
        let result = await call.value
        try await change.value
        #expect(try await world.store.load()?.accessToken == "bert1")
        #expect(try await world.process().plugin.credential?.accessToken == "bert1")
        // The user who has signed in makes no call as another one, not even after a refresh.
        world.reject("bert1")
        #expect(try await here.provider.request(PluginTarget()).statusCode == 200)
        #expect(world.tokens.elements.last == "bert1+")
        if kind != .file {
            #expect(result.failure?.underlying as? AuthenticationError == .signedOut)
            #expect(world.tokens.elements == ["anna1", "bert1", "bert1+"])
            #expect(try await other.provider.request(PluginTarget()).statusCode == 200)
        }
        #expect(world.signOuts.count == 0)
    }

    @Test(
        "A rejected call is not repeated as the user who has signed in in another process",
        arguments: Kind.allCases
    )
    func otherUser(_ kind: Kind) async throws {
        let world = try await World(kind)
        let (here, other) = (world.process(), world.process())
        let call = Task { await here.provider.result(PluginTarget(path: "/slow", method: .post)) }
        await world.answers.waitForArrivals()
        try await other.plugin.signIn(World.credential("bert1"))
        world.reject("anna1")
        world.answers.open()
        let error = try #require(await call.value.failure)
        #expect(error.underlying as? AuthenticationError == .signedOut)
        #expect(error.stage == .cancelled)
        #expect(world.tokens.elements == ["anna1"])
        // Later calls belong to that user.
        #expect(try await here.provider.request(PluginTarget()).statusCode == 200)
        #expect(world.tokens.elements == ["anna1", "bert1"])
        #expect(world.signOuts.count == 0)
    }

    @Test(
        "A call that waits for a refresh is not sent as the user who has signed in in another process",
        arguments: Kind.allCases
    )
    func waiting(_ kind: Kind) async throws {
        let world = try await World(kind, startingWith: nil)
        let (here, other) = (world.process(), world.process())
        var expired = World.credential("anna1")
        expired.expiresAt = .distantPast
        try await here.plugin.signIn(expired)
        _ = try await other.plugin.credential
        try await other.plugin.signIn(World.credential("bert1"))
        let error = await here.provider.result(PluginTarget(method: .post)).failure
        #expect(error?.underlying as? AuthenticationError == .signedOut)
        #expect(world.tokens.count == 0)
    }

    @Test(
        "A process that has signed in notices the sign-out of another one at its next refresh",
        arguments: Kind.allCases
    )
    func signedOutElsewhere(_ kind: Kind) async throws {
        let world = try await World(kind, startingWith: nil)
        let (here, other) = (world.process(), world.process())
        try await here.plugin.signIn(World.credential("anna1"))
        try await other.plugin.signOut()
        world.reject("anna1")
        let error = await here.provider.result(PluginTarget()).failure
        #expect(error?.underlying as? AuthenticationError == .signedOutElsewhere)
        #expect(world.signOuts.count == 1)
        #expect(try await world.store.load() == nil)
    }

    @Test(
        "A refused refresh does not sign out the user who has signed in in another process",
        arguments: Kind.allCases
    )
    func refused(_ kind: Kind) async throws {
        let world = try await World(kind)
        let (here, gate) = (world.process(), Gate())
        let other = world.process { _ in
            await gate.wait()
            throw OAuthError.refused(code: "invalid_grant", message: nil, statusCode: 400)
        }
        world.reject("anna1")
        let call = Task { await other.provider.result(PluginTarget(method: .post)) }
        await gate.waitForArrivals()
        let change = try await begin(kind) {
            try await here.plugin.signIn(World.credential("bert1"))
        } until: {
            try await here.plugin.credential?.accessToken == "bert1"
        }
        gate.open()
        let error = await call.value.failure
        try await change.value
        #expect(try await world.store.load()?.accessToken == "bert1")
        if kind != .file { #expect(error?.underlying as? AuthenticationError == .signedOut) }
        #expect(world.tokens.elements == ["anna1"])
    }

    @Test("Calls go on with the credential that another process has refreshed", arguments: Kind.allCases)
    func sameSession(_ kind: Kind) async throws {
        let world = try await World(kind)
        let (here, other) = (world.process(), world.process { _ in throw Boom() })
        let call = Task { await other.provider.result(PluginTarget(path: "/slow", method: .post)) }
        await world.answers.waitForArrivals()
        world.reject("anna1")
        #expect(try await here.provider.request(PluginTarget()).statusCode == 200)
        world.answers.open()
        #expect(RecordingPlugin.Outcome(await call.value) == .status(200))
        for token in ["anna1+", "anna1++"] {
            world.reject(token)
            #expect(try await here.provider.request(PluginTarget()).statusCode == 200)
            #expect(try await other.provider.request(PluginTarget(method: .post)).statusCode == 200)
        }
        #expect(world.tokens.elements.last == "anna1+++")
        #expect(world.signOuts.count == 0)
    }

    @Test("A file without the identifier of a session is read, and its session goes on in both processes")
    func oldFile() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("session.json", Data(#"{"number":1}"#.utf8))
        let (signOuts, server) = (SignOuts(), TokenServer())
        let providers = (0..<2).map { _ in
            Provider<PluginTarget>(
                transport: server.transport,
                plugins: [signOuts.plugin(server.authenticator, FileCredentialStore<Token>(file))]
            )
        }
        for provider in providers + providers {
            #expect(try await provider.request(PluginTarget()).statusCode == 200)
        }
        #expect(server.refreshes == [1])
        #expect(try await FileCredentialStore<Token>(file).load() == Token(2))
    }

    @Test("A sign-in waits while another process refreshes")
    func lock() async throws {
        let world = try await World(.file)
        let (here, began) = (world.process(), Expectation())
        _ = try await here.plugin.credential
        let store = world.store
        let change = Task {
            await began.wait()
            try await here.plugin.signIn(World.credential("bert1"))
        }
        try await store.withRefreshLock {
            began.fulfill()
            while try await here.plugin.credential?.accessToken != "bert1" { await Task.yield() }
            var tokens: Set<String?> = []
            for _ in 0..<100 {
                await Task.yield()
                tokens.insert(try await store.load()?.accessToken)
            }
            #expect(tokens == ["anna1"])
            try await store.save(World.credential("anna1+"))
        }
        try await change.value
        #expect(try await store.load()?.accessToken == "bert1")
    }

    @Test("A sign-in and a sign-out that are made in a refresh do not wait for it", arguments: ["bert1", nil])
    func inRefresh(_ next: String?) async throws {
        let world = try await World(.file)
        let (holder, ended) = (Locked<Plugin?>(nil), Expectation())
        defer { holder.withLock { $0 = nil } }
        let process = world.process { old in
            guard let plugin = holder.withLock({ $0 }) else { throw Boom() }
            if let next {
                try await plugin.signIn(World.credential(next))
            } else {
                try await plugin.signOut()
            }
            ended.fulfill()
            return old
        }
        holder.withLock { $0 = process.plugin }
        world.reject("anna1")
        let start = ContinuousClock.now
        let error = await process.provider.result(PluginTarget()).failure
        #expect(error?.underlying as? AuthenticationError == .signedOut)
        await ended.wait()
        // Waiting for its own lock would take a minute.
        #expect(ContinuousClock.now - start < .seconds(45))
        #expect(try await world.store.load()?.accessToken == next)
    }

    @Test("A credential that could not be stored does not replace that of a user who has signed in in another process")
    func unsaved() async throws {
        let store = FailingSaves(MemoryCredentialStore(Token(1)))
        let (signOuts, server) = (SignOuts(), TokenServer())
        let here = signOuts.plugin(server.authenticator, store)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [here])
        store.isReadOnly.withLock { $0 = true }
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        store.isReadOnly.withLock { $0 = false }
        try await signOuts.plugin(server.authenticator, store).signIn(Token(50))
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(store.load() == Token(50))
        server.expire()
        let error = await provider.result(PluginTarget(method: .post)).failure
        #expect(error?.underlying as? AuthenticationError == .signedOut)
    }
}

/// A store whose changes fail on demand.
private struct FailingSaves: CredentialStore {
    let isReadOnly = Locked(false)
    private let store: MemoryCredentialStore<Token>

    init(_ store: MemoryCredentialStore<Token>) { self.store = store }

    private func check() throws {
        if isReadOnly.withLock({ $0 }) { throw Boom() }
    }

    func load() -> Token? { store.load() }
    func loadSession() -> (credential: Token, session: String?)? { store.loadSession() }

    func save(_ token: Token) throws {
        try check()
        store.save(token)
    }

    func save(_ token: Token, session: String) throws {
        try check()
        store.save(token, session: session)
    }

    func clear() throws {
        try check()
        store.clear()
    }
}
