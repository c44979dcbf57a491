// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

extension String {
    static let production = "production"
    static let test = "test"
}

extension ServerEnvironment {
    static let live = Self(
        .production,
        baseURL: "https://api.shop.example/v1",
        modules: ["media": "https://media.shop.example"],
        headers: ["X-Key": "live"]
    )
    static let trial = Self(
        .test,
        baseURL: "https://api.test.example/v1",
        modules: ["media": "https://media.test.example"],
        headers: ["X-Key": "trial", "X-Tester": "yes"]
    )
    static let stage = Self("stage", baseURL: "http://stage.example:8080")
}

extension EnvironmentStore {
    /// A store of three environments that is independent of the process.
    static func shop(
        _ storage: any EnvironmentStorage = MemoryEnvironmentStorage(),
        launch: Launch = .ignored
    ) -> EnvironmentStore {
        EnvironmentStore(default: .live, others: [.trial, .stage], storage: storage, launch: launch)
    }
}

@Suite("Environment store", .throttled, .timeLimit(.minutes(3)))
struct EnvironmentStoreTests {
    private static let known: [String] = [.production, .test, "stage"]

    @Test("The URL of a module is its own, or else the base URL")
    func modules() {
        let store = EnvironmentStore.shop()
        #expect(store.url().absoluteString == "https://api.shop.example/v1")
        #expect(store.url(of: "media").absoluteString == "https://media.shop.example")
        #expect(store.url(of: "orders") == store.url())
    }

    @Test("The same environment over HTTP has another name, and keeps all else")
    func overHTTP() {
        let plain = ServerEnvironment.trial.overHTTP(as: "test-http")
        #expect(plain.name == "test-http")
        #expect(plain.baseURL.absoluteString == "http://api.test.example/v1")
        #expect(plain.url(of: "media").absoluteString == "http://media.test.example")
        #expect(plain.headers == ServerEnvironment.trial.headers)
        #expect(plain.overHTTP(as: .test).baseURL == plain.baseURL)
        let bad = ServerEnvironment("bad", baseURL: "ht tp://x").overHTTP(as: "bad")
        #expect(bad.baseURL.absoluteString == "invalid:ht%20tp%3A%2F%2Fx")
    }

    /// The saved selection and the launch, and the environment that is current with them.
    struct Start: Sendable {
        var stored: String?
        var arguments: [String] = []
        var variable: String?
        var current: String

        var launch: EnvironmentStore.Launch {
            let variables = variable.map { ["TARGETKIT_ENVIRONMENT": $0, "PATH": "/bin"] } ?? [:]
            return .init(arguments: ["app"] + arguments, variables: variables)
        }
    }

    @Test(
        "The launch argument overrides the variable, which overrides the saved selection, which overrides the default",
        arguments: [
            Start(current: .production), Start(stored: .test, current: .test),
            Start(stored: .test, variable: "stage", current: "stage"),
            Start(stored: .test, variable: "", current: .test),
            Start(arguments: ["-TargetKitEnvironment", "test"], variable: "stage", current: .test),
            Start(stored: "stage", arguments: ["-TargetKitEnvironment", "production"], current: .production),
            Start(arguments: ["-TargetKitEnvironment", "a", "-TargetKitEnvironment", "test", "-v"], current: .test),
            Start(arguments: ["-targetkitenvironment", "test", "TARGETKIT_ENVIRONMENT=test"], current: .production),
        ]
    )
    func precedence(_ start: Start) {
        let storage = MemoryEnvironmentStorage(start.stored)
        let store = EnvironmentStore.shop(storage, launch: start.launch)
        #expect(store.current.name == start.current)
        #expect(store.problem == nil)
        // A selection by the launch is not saved.
        #expect(storage.load() == start.stored)
    }

    @Test("A selection becomes current, is saved, and overrides the launch")
    func select() throws {
        let storage = MemoryEnvironmentStorage()
        let launch = EnvironmentStore.Launch(arguments: ["-TargetKitEnvironment", "stage"])
        let store = EnvironmentStore.shop(storage, launch: launch)
        try store.select(.test)
        #expect(store.current == .trial)
        #expect(storage.load() == .test)
        #expect(EnvironmentStore.shop(storage).current == .trial)
        #expect(EnvironmentStore.shop(storage, launch: launch).current == .stage)
        store.reset()
        #expect(store.current == .live)
        #expect(storage.load() == nil)
    }

    @Test("Selecting an unknown name throws an error, and changes nothing")
    func unknownSelection() throws {
        let storage = MemoryEnvironmentStorage()
        let store = EnvironmentStore.shop(storage)
        try store.select(.test)
        let error = EnvironmentError.unknownName("tset", from: .selection, known: Self.known)
        #expect(throws: error) { try store.select("tset") }
        let text = #"the app specifies the unknown environment "tset"; known environments: production, test, stage"#
        #expect(error.description == text)
        #expect(store.current == .trial)
        #expect(storage.load() == .test)
    }

    @Test(
        "A launch with an unknown name is a problem, and does not fall back to the default",
        arguments: [
            (
                ["-TargetKitEnvironment", "tset"], nil,
                .unknownName("tset", from: .launchArgument, known: known),
                #"the launch argument -TargetKitEnvironment specifies the unknown environment "tset"; "#
                    + "known environments: production, test, stage"
            ),
            (
                [], "a b/?", .unknownName("a b/?", from: .environmentVariable, known: known),
                #"the environment variable TARGETKIT_ENVIRONMENT specifies the unknown environment "a b/?"; "#
                    + "known environments: production, test, stage"
            ),
            (
                ["-TargetKitEnvironment"], "test", .missingName(known: known),
                "the launch argument -TargetKitEnvironment isn't followed by the name of an environment; "
                    + "known environments: production, test, stage"
            ),
        ] as [([String], String?, EnvironmentError, String)]
    )
    func unknownLaunch(arguments: [String], variable: String?, error: EnvironmentError, text: String) throws {
        let start = Start(arguments: arguments, variable: variable, current: "")
        let store = EnvironmentStore.shop(launch: start.launch)
        #expect(store.problem as? EnvironmentError == error)
        #expect(error.description == text)
        #expect(!store.environments.contains(store.current))
        #expect(store.url().scheme?.hasSuffix("-environment") == true)
        #expect(store.url(of: "media") == store.url())
        try store.select(.test)
        #expect(store.problem == nil)
        #expect(store.current == .trial)
    }

    @Test("Two environments with one name are a problem that no selection solves")
    func duplicates() {
        let storage = MemoryEnvironmentStorage()
        let twin = ServerEnvironment(.test, baseURL: "https://twin.example")
        let store = EnvironmentStore(default: .live, others: [.trial, twin], storage: storage, launch: .ignored)
        #expect(store.problem as? EnvironmentError == .duplicateName(.test))
        #expect(store.url().absoluteString == "duplicate-environment:test")
        #expect(throws: EnvironmentError.duplicateName(.test)) { try store.select(.production) }
        store.reset()
        #expect(store.problem?.localizedDescription == #"two environments have the name "test""#)
        #expect(storage.load() == nil)
    }

    @Test("A saved name that no environment has is ignored, and the default is current")
    func forgotten() {
        let store = EnvironmentStore.shop(MemoryEnvironmentStorage("beta"))
        #expect(store.current == .live)
        #expect(store.problem == nil)
    }

    @Test("The sequence starts with the current environment, followed by each selection")
    func updates() async throws {
        let store = EnvironmentStore.shop()
        var updates = store.updates.makeAsyncIterator()
        #expect(await updates.next() == .live)
        try store.select(.test)
        #expect(await updates.next() == .trial)
        try store.select("stage")
        try store.select(.production)
        #expect(await updates.next() == .live)
    }

    @Test("Releasing the store ends the sequence")
    func release() async {
        var store: EnvironmentStore? = .shop()
        var updates = store?.updates.makeAsyncIterator()
        #expect(await updates?.next() == .live)
        store = nil
        #expect(await updates?.next() == nil)
    }

    @Test("Of concurrent selections the current one is saved")
    func concurrentSelections() async {
        let storage = MemoryEnvironmentStorage()
        let store = EnvironmentStore.shop(storage)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask { try? store.select(Self.known[index % 3]) }
            }
        }
        #expect(storage.load() == store.current.name)
    }

    @Test("The user defaults save the selection")
    func userDefaults() throws {
        let suite = "targetkit-\(UUID().uuidString)"
        defer { UserDefaults.standard.removePersistentDomain(forName: suite) }
        let storage = UserDefaultsEnvironmentStorage(suiteName: suite)
        #expect(storage.load() == nil)
        try EnvironmentStore.shop(storage).select(.test)
        #expect(UserDefaultsEnvironmentStorage(suiteName: suite).load() == .test)
        #expect(UserDefaultsEnvironmentStorage(suiteName: suite, key: "other").load() == nil)
        #expect(EnvironmentStore.shop(storage).current == .trial)
        EnvironmentStore.shop(storage).reset()
        #expect(storage.load() == nil)
    }
}
