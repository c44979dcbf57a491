// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The latest value of a target, shared by the screens that show it.
///
/// A resource stores the value, its age, whether it is being loaded, and the error of the last load.
///
/// ```swift
/// let profile = Resource(provider, Account.profile, as: Profile.self)
///
/// try await profile.refreshIfStale()                 // in each screen: one load for all of them
/// for await state in profile.updates { show(state.value, isLoading: state.isLoading) }
/// ```
///
/// Create one resource for each target, in the app's model. It loads the value only when you call ``refresh()`` or
/// ``refreshIfStale()``. A SwiftUI view that reads ``state`` is updated when it changes (iOS 17, macOS 14).
public final class Resource<Value: Decodable & Sendable>: Sendable {
    /// A snapshot of the state of a resource.
    public struct State: Sendable {
        /// The latest value, with the changes of updates in progress; `nil` before the first load.
        public internal(set) var value: Value?
        /// Whether the value is being loaded.
        public internal(set) var isLoading = false
        /// The error of the last load; `nil` if it succeeded. A failed load doesn't remove the value.
        public internal(set) var error: TargetKitError?
    }

    let content: ObservedValue<ResourceContent<Value>>
    /// Makes the call. The argument specifies whether a cached response must be validated before use.
    private let call: @Sendable (_ validates: Bool) async -> Result<(value: Value, age: Duration), TargetKitError>
    private let target: any TargetType
    private let maximumAge: Duration
    private let elapsed: ElapsedTime
    private let changes = ObservedChanges()

    /// Creates a resource without a value, and doesn't load it.
    ///
    /// - Parameters:
    ///   - provider: Makes the calls.
    ///   - target: The call that loads the value.
    ///   - type: The type to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload; default `nil`: the whole body
    ///     or payload.
    ///   - maximumAge: The age at which the value is stale; default: one minute.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - clock: Measures the age; default: the continuous clock, which advances while the device sleeps.
    public init<Target: TargetType>(
        _ provider: Provider<Target>,
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        maximumAge: Duration = .seconds(60),
        options: CallOptions = CallOptions(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.target = target
        self.maximumAge = maximumAge
        elapsed = ElapsedTime(clock)
        content = ObservedValue(ResourceContent())
        call = { validates in
            do throws(TargetKitError) {
                let (value, response) = try await provider.request(
                    target,
                    decoding: BodyDecoding.decodable(type, atKeyPath: keyPath).withResponse,
                    options: validates ? options.setting(\.validatesCachedResponse, true) : options
                )
                return .success((value, response.origin.age))
            } catch {
                return .failure(error)
            }
        }
    }

    deinit { content.finish() }

    /// The current state.
    public var state: State {
        changes.access()
        return content.value.state
    }

    /// A sequence of the current state, and of the state after each change. A slow reader receives only the latest one.
    /// The sequence ends when the resource is released. Each sequence supports one reader.
    public var updates: AsyncStream<State> {
        let content = content
        let changes = content.changes()
        return AsyncStream {
            for await _ in changes { return content.value.state }
            return nil
        }
    }

    /// The time since the value was loaded, or, if it came from a cache, since the server created or confirmed it;
    /// `nil` if there is no value.
    public var age: Duration? { content.value.loadingTime.map { elapsed.current - $0 } }

    /// Whether the value is missing, has reached the maximum age, or was invalidated.
    public var isStale: Bool { content.value.isInvalidated || age.map { $0 >= maximumAge } ?? true }

    /// Makes the value stale, so that the next ``refreshIfStale()`` loads it.
    public func invalidate() {
        update { $0.invalidate() }
    }

    /// Removes the value, for example when the user signs out.
    ///
    /// Loads in progress are cancelled. Calls of updates in progress continue, and their changes are no longer shown.
    public func reset() {
        let loads = update { $0.reset() }
        for load in loads { load.task.withLock(\.self)?.cancel() }
    }

    /// Loads the value if it is stale.
    ///
    /// If there is no value yet, a fresh response of a ``ResponseCache`` is used without validation.
    ///
    /// - Returns: The latest value.
    /// - Throws: The error of the load, like ``refresh()``.
    @discardableResult
    public func refreshIfStale() async throws(TargetKitError) -> Value {
        if !isStale, let value = content.value.state.value { return value }
        return try await load(validates: content.value.state.value != nil || content.value.isInvalidated)
    }

    /// Loads the value, or waits for the load in progress.
    ///
    /// A response from a ``ResponseCache`` is validated before use, even if it is fresh. The load is cancelled when all
    /// tasks that wait for it are cancelled.
    ///
    /// - Returns: The latest value.
    /// - Throws: The error of the load, which is also in the ``state``; stage `.cancelled` if the waiting task is
    ///   cancelled.
    @discardableResult
    public func refresh() async throws(TargetKitError) -> Value {
        try await load(validates: true)
    }

    private func load(validates: Bool) async throws(TargetKitError) -> Value {
        let (loading, isNew) = update { $0.joinLoad(validates: validates) }
        if isNew { start(loading) }
        do {
            let result = try await loading.outcome.value()
            leave(loading)
            return try result.get()
        } catch let error as TargetKitError {
            throw error
        } catch {
            leave(loading)
            throw TargetKitError(stage: .cancelled, target: target, underlying: error)
        }
    }

    /// Replaces the value, for example with one that the server pushed. The result of a load in progress is ignored.
    public func set(_ value: Value) {
        update { $0.replace(by: value, at: elapsed.current) }
    }

    private func start(_ loading: ResourceLoad<Value>) {
        let task = Task { [call] in
            let result = await call(loading.validates)
            let latest = self.update { $0.end(loading.number, with: result, at: self.elapsed.current) }
            loading.outcome.settle(latest)
        }
        loading.task.withLock { $0 = task }
        // All waiting tasks may have been cancelled by now.
        if !content.value.isWanted(loading.number) { task.cancel() }
    }

    private func leave(_ loading: ResourceLoad<Value>) {
        let isUnwanted = update { $0.leaveLoad(loading.number) }
        if isUnwanted { loading.task.withLock(\.self)?.cancel() }
    }

    /// Changes the content, and notifies readers and observers.
    ///
    /// - Parameter change: Called without a lock, because it calls the app's closures; called again if another thread
    ///   changed the content.
    @discardableResult
    func update<Result>(_ change: (inout ResourceContent<Value>) -> Result) -> Result {
        while true {
            var new = content.value
            let result = change(&new)
            let isCurrent = content.update { [new] content in
                guard content.version == new.version else { return false }
                content = new
                content.version += 1
                return true
            }
            guard isCurrent else { continue }
            changes.announce()
            return result
        }
    }
}

extension Response.Origin {
    /// The age of the response when it was returned.
    fileprivate var age: Duration {
        switch self {
        case .network, .revalidated: .zero
        case .cache(let age), .stale(let age): age
        }
    }
}

#if canImport(Observation)
import Observation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension Resource: Observable {}
#endif
