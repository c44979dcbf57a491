// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The environments of an app, and which of them is the current one.
///
/// ```swift
/// enum Servers {
///     static let store = EnvironmentStore(
///         default: .production,
///         others: [.test, ServerEnvironment.test.over(.http, as: "test-http")]
///     )
/// }
/// ```
///
/// Which one is current, the first of these that says so:
///
/// 1. ``select(_:)``, while the app runs. It is stored.
/// 2. the launch argument `-TargetKitEnvironment test`,
/// 3. the environment variable `TARGETKIT_ENVIRONMENT=test`; neither of the two is stored,
/// 4. the stored choice,
/// 5. the default.
///
/// A launch that names an environment that there is not is an error, and no reason to call another one: it is ``problem``, and
/// every call of an ``EnvironmentTarget`` fails until one is selected. A stored name that there is no more, since the app was
/// updated, is ``forgottenChoice``, and the default is current.
///
/// Calls that are in flight when another environment is selected go on where they are. An app that does not want that cancels
/// them: `scope.cancelAll()`.
public final class EnvironmentStore: Sendable {
    private struct State: Sendable {
        var current: ServerEnvironment
        var choice: ServerEnvironment.Name?
        var problem: EnvironmentError?
    }

    /// All environments, the default first.
    public let environments: [ServerEnvironment]
    /// The stored name that none of the environments has; `nil` when there is no such.
    public let forgottenChoice: ServerEnvironment.Name?

    private let state: ObservedValue<State>
    private let saving: OrderedCallback<Void, Void>
    private let places: [EnvironmentBaseURL]

    /// A store of those environments.
    ///
    /// - Parameters:
    ///   - first: The environment of everybody who has chosen none.
    ///   - others: The other ones. Two environments of one name are an error, as ``problem`` says.
    ///   - storage: Keeps what is selected; default: the app's user defaults.
    ///   - launch: What the program was started with; default: what it really was. ``Launch/ignored`` where whoever starts the
    ///     program is not to choose the server.
    public init(
        default first: ServerEnvironment,
        others: [ServerEnvironment] = [],
        storage: any EnvironmentStorage = UserDefaultsEnvironmentStorage(),
        launch: Launch = .process
    ) {
        let environments = [first] + others
        let stored = storage.load()
        let isKnown = environments.contains { $0.name == stored }
        self.environments = environments
        forgottenChoice = isKnown ? nil : stored
        let choice = isKnown ? stored : nil
        let state: State
        do throws(EnvironmentError) {
            try Self.checkNames(environments)
            let launched = try Self.launched(launch, environments)
            let current = launched ?? environments.first { $0.name == choice } ?? first
            state = State(current: current, choice: choice)
        } catch {
            state = State(current: .failing(error), choice: choice, problem: error)
        }
        let observed = ObservedValue(state)
        self.state = observed
        // Not the name of each selection is saved but the newest one, so that the last to be saved is the current choice.
        saving = OrderedCallback(()) { storage.save(observed.value.choice) }
        places = environments.enumerated().flatMap { EnvironmentBaseURL.all(of: $1, index: $0) }
    }

    deinit {
        state.finish()
    }

    /// The current environment. While there is a ``problem``, one whose URLs cannot be called.
    public var current: ServerEnvironment { state.value.current }

    /// What is wrong with the environments, or with what the launch asks for; `nil` when nothing is. An app shows it to its
    /// developers.
    public var problem: EnvironmentError? { state.value.problem }

    /// The current environment first, then each that is selected.
    public var updates: LatestValues<ServerEnvironment> {
        LatestValues(of: state, \.current)
    }

    /// Calls a closure with each environment that is selected from now on, one call at a time, on any thread. It sees the newest
    /// one: what has been replaced while it ran is left out.
    ///
    /// - Returns: the task to cancel when no more is wanted. It ends by itself when the store is let go of.
    @discardableResult
    public func onChange(_ body: @escaping @Sendable (ServerEnvironment) -> Void) -> Task<Void, Never> {
        let updates = LatestValues(of: state, known: current, \.current)
        return Task { for await environment in updates { body(environment) } }
    }

    /// The same, also after selections that have been taken back before they were seen. The closure is called once at the
    /// beginning, and gets the environment that is current when it asks.
    func onEachChange(_ body: @escaping @Sendable (() -> ServerEnvironment) -> Void) -> Task<Void, Never> {
        let (state, changes) = (state, state.changes())
        return Task { for await _ in changes { body { state.value.current } } }
    }

    /// Makes the environment of that name the current one, and stores the choice.
    ///
    /// - Throws: ``EnvironmentError/unknownName(_:from:known:)``; nothing is changed then.
    public func select(_ name: ServerEnvironment.Name) throws(EnvironmentError) {
        guard let environment = environments.first(where: { $0.name == name }) else {
            throw .unknownName(name, from: .selection, known: environments.map(\.name))
        }
        try Self.checkNames(environments)
        choose(environment, name)
    }

    /// Makes the default the current one, and forgets the stored choice. Changes nothing where two environments have one name.
    public func reset() {
        if case .duplicateName = problem { return }
        choose(environments[0], nil)
    }

    private func choose(_ environment: ServerEnvironment, _ choice: ServerEnvironment.Name?) {
        state.update { $0 = State(current: environment, choice: choice) }
        saving.update { _, events in events.append(()) }
    }

    /// Where a module lives in the current environment.
    package func url(of module: ServerEnvironment.Module = .main) -> URL {
        current.url(of: module)
    }

    /// The environment to whose servers a URL leads: the current one, if it leads to its; else another one's, for a call that
    /// began before that was replaced. `nil` when it leads to nobody's.
    ///
    /// A server is told by scheme, host and port, and where environments share one, by the longest path of their base URLs.
    package func environment(of url: URL?) -> ServerEnvironment? {
        guard let url, let place = EnvironmentBaseURL(url) else { return nil }
        let current = current
        var best: (index: Int, score: Int)?
        for known in places {
            guard var score = known.score(of: place) else { continue }
            // Between two that fit as well, the current one.
            score = 2 * score + (environments[known.index].name == current.name ? 1 : 0)
            if score > best?.score ?? -1 { best = (known.index, score) }
        }
        return best.map { environments[$0.index] }
    }

    private static func checkNames(_ environments: [ServerEnvironment]) throws(EnvironmentError) {
        var names: Set<ServerEnvironment.Name> = []
        for environment in environments where !names.insert(environment.name).inserted {
            throw .duplicateName(environment.name)
        }
    }

    private static func launched(
        _ launch: Launch,
        _ environments: [ServerEnvironment]
    ) throws(EnvironmentError) -> ServerEnvironment? {
        guard let (name, source) = launch.wish else { return nil }
        let known = environments.map(\.name)
        guard let name else { throw .missingName(known: known) }
        guard let environment = environments.first(where: { $0.name == name }) else {
            throw .unknownName(name, from: source, known: known)
        }
        return environment
    }
}

extension ServerEnvironment {
    /// What stands for an environment that there is not: no call to it can be made.
    fileprivate static func failing(_ error: EnvironmentError) -> Self {
        let (name, scheme): (Name, String) =
            switch error {
            case .unknownName(let name, _, _): (name, "unknown-environment")
            case .missingName: ("", "unnamed-environment")
            case .duplicateName(let name): (name, "duplicate-environment")
            }
        var environment = Self(name, baseURL: "")
        environment.baseURL = URL(uncallable: scheme, name.rawValue)
        return environment
    }
}
