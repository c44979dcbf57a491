// SPDX-License-Identifier: MIT
import TargetKit

/// The environments of an app, one of which is current.
///
/// ```swift
/// enum Servers {
///     static let store = EnvironmentStore(
///         default: .production,
///         others: [.test, .test.overHTTP(as: "test-http")]
///     )
/// }
/// ```
///
/// The first available of these determines the current environment:
///
/// 1. ``select(_:)``, while the app runs. The selection is saved.
/// 2. the launch argument `-TargetKitEnvironment test`,
/// 3. the environment variable `TARGETKIT_ENVIRONMENT=test`; the launch's selection isn't saved,
/// 4. the saved selection,
/// 5. the default.
///
/// If the launch selects an unknown environment, no other one is used. ``problem`` is then the error, and every call of
/// an ``EnvironmentTarget`` fails until an environment is selected. A saved name that an update of the app removed is
/// ignored.
///
/// Use the launch argument and the environment variable in UI tests and in Xcode schemes:
///
/// ```swift
/// let app = XCUIApplication()
/// app.launchArguments += ["-TargetKitEnvironment", "test"]
/// app.launch()
/// ```
///
/// Calls in flight, and stored calls, keep their environment when another one is selected. To cancel the calls in flight,
/// call `scope.cancelAll()`.
public final class EnvironmentStore: Sendable {
    fileprivate struct State: Sendable {
        var current: ServerEnvironment
        var choice: String?
        var problem: EnvironmentError?
    }

    /// All environments, the default first.
    public let environments: [ServerEnvironment]

    private let state: ObservedValue<State>
    private let saving: OrderedCallback<Void, Void>
    private let places: [EnvironmentBaseURL]

    /// Creates a store that saves its selection in the user defaults.
    ///
    /// - Parameters:
    ///   - first: The default environment, which is current if none is selected.
    ///   - others: The other environments. Two environments with the same name are a ``problem``.
    ///   - suiteName: The suite of the user defaults, for example an app group; default: the app's own defaults.
    ///   - isSelectedAtLaunch: Whether the launch argument and the environment variable count; default: `true`.
    public convenience init(
        default first: ServerEnvironment,
        others: [ServerEnvironment] = [],
        suiteName: String? = nil,
        isSelectedAtLaunch: Bool = true
    ) {
        self.init(
            default: first,
            others: others,
            storage: UserDefaultsEnvironmentStorage(suiteName: suiteName),
            launch: isSelectedAtLaunch ? .process : .ignored
        )
    }

    /// Creates a store with another storage for its selection.
    package init(
        default first: ServerEnvironment,
        others: [ServerEnvironment] = [],
        storage: any EnvironmentStorage,
        launch: Launch = .process
    ) {
        let environments = [first] + others
        self.environments = environments
        let observed = ObservedValue(State(environments, stored: storage.load(), launch: launch))
        self.state = observed
        // Saves the newest name rather than the name of each change, so that the last saved name is the current
        // selection.
        saving = OrderedCallback(()) { storage.save(observed.value.choice) }
        places = environments.enumerated().flatMap { EnvironmentBaseURL.all(of: $1, index: $0) }
    }

    deinit {
        state.finish()
    }

    /// The current environment. If there is a ``problem``, it is an environment whose URLs can't be called.
    public var current: ServerEnvironment { state.value.current }

    /// The problem with the environments or the launch, to show to the app's developers; `nil` if there is none.
    public var problem: (any Error)? { state.value.problem }

    /// A sequence of the current environment and all later selections.
    ///
    /// A slow reader receives only the latest environment. The sequence ends when its task is cancelled, or when the
    /// store is released. Each reader needs a separate sequence, so read the property again.
    public var updates: AsyncStream<ServerEnvironment> {
        state.latestValues(\.current)
    }

    /// Calls a closure once, and after each selection, even if the selection was reverted in between. The closure
    /// receives a function that returns the current environment.
    func onEachChange(_ body: @escaping @Sendable (() -> ServerEnvironment) -> Void) -> Task<Void, Never> {
        let (state, changes) = (state, state.changes())
        return Task { for await _ in changes { body { state.value.current } } }
    }

    /// Selects the environment with a name, and saves the selection.
    ///
    /// - Throws: An error with the known names if there is no such environment. The selection is then unchanged.
    public func select(_ name: String) throws {
        guard let environment = environments.first(where: { $0.name == name }) else {
            throw EnvironmentError.unknownName(name, from: .selection, known: environments.map(\.name))
        }
        try Self.checkNames(environments)
        choose(environment, choice: name)
    }

    /// Selects the default environment, and removes the saved selection. Has no effect if two environments have the
    /// same name.
    public func reset() {
        if case .duplicateName = state.value.problem { return }
        choose(environments[0], choice: nil)
    }

    private func choose(_ environment: ServerEnvironment, choice: String?) {
        state.update { $0 = State(current: environment, choice: choice) }
        saving.update { _, events in events.append(()) }
    }

    /// The URL of a module in the current environment.
    package func url(of module: String? = nil) -> URL {
        current.url(of: module)
    }

    /// The environment to which a URL belongs; `nil` if there is none. The current environment is preferred over
    /// others, which can match calls that started before the selection changed.
    ///
    /// Servers are compared by scheme, host and port, and environments of the same server by the longest matching path
    /// of their base URLs.
    package func environment(of url: URL?) -> ServerEnvironment? {
        guard let url, let place = EnvironmentBaseURL(url) else { return nil }
        let current = current
        var best: (index: Int, score: Int)?
        for known in places {
            guard var score = known.score(of: place) else { continue }
            // Prefers the current environment if two match equally.
            score = 2 * score + (environments[known.index].name == current.name ? 1 : 0)
            if score > best?.score ?? -1 { best = (known.index, score) }
        }
        return best.map { environments[$0.index] }
    }

    fileprivate static func checkNames(_ environments: [ServerEnvironment]) throws(EnvironmentError) {
        var names: Set<String> = []
        for environment in environments where !names.insert(environment.name).inserted {
            throw .duplicateName(environment.name)
        }
    }

    fileprivate static func launched(
        _ launch: Launch,
        environments: [ServerEnvironment]
    ) throws(EnvironmentError) -> ServerEnvironment? {
        guard let (name, source) = launch.selection else { return nil }
        let known = environments.map(\.name)
        guard let name else { throw .missingName(known: known) }
        guard let environment = environments.first(where: { $0.name == name }) else {
            throw .unknownName(name, from: source, known: known)
        }
        return environment
    }
}

extension EnvironmentStore.State {
    /// The state at the launch of the app. It is made here, because the initializer of the store is compiled for each
    /// storage.
    ///
    /// - Parameter stored: The saved name.
    init(_ environments: [ServerEnvironment], stored: String?, launch: EnvironmentStore.Launch) {
        let selected = environments.first { $0.name == stored }
        choice = selected?.name
        do throws(EnvironmentError) {
            try EnvironmentStore.checkNames(environments)
            let launched = try EnvironmentStore.launched(launch, environments: environments)
            current = launched ?? selected ?? environments[0]
        } catch {
            current = .failing(error)
            problem = error
        }
    }
}

extension ServerEnvironment {
    /// An environment to which no call can be made.
    fileprivate static func failing(_ error: EnvironmentError) -> Self {
        let (name, scheme) =
            switch error {
            case .unknownName(let name, _, _): (name, "unknown-environment")
            case .missingName: ("", "unnamed-environment")
            case .duplicateName(let name): (name, "duplicate-environment")
            }
        var environment = Self(name, baseURL: "")
        environment.baseURL = URL(uncallable: scheme, text: name)
        return environment
    }
}
