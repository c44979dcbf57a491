// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The circuits of a ``CircuitBreakerPlugin``.
struct CircuitRegistry: Sendable {
    /// The decision whether to send an attempt.
    enum Decision: Sendable {
        /// The attempt is sent, and its end is reported.
        case admitted(Circuit.Admission)
        /// The attempt is sent without counting, for a refresh in a half-open circuit, because the call that waits for
        /// it may have the only permit.
        case exempt
        /// The attempt is rejected.
        case refused(remaining: Duration)
    }

    /// The number of circuits above which idle ones are removed when a new one is needed.
    private static let highCount = 64
    private let policy: CircuitBreakerPolicy
    private var circuits: [String: Circuit] = [:]

    init(_ policy: CircuitBreakerPolicy) {
        self.policy = policy
    }

    /// A copy of a circuit, for reading.
    func circuit(_ key: String) -> Circuit { circuits[key] ?? Circuit(policy) }

    /// Decides whether to send an attempt.
    ///
    /// - Parameters:
    ///   - isRefresh: Whether it is part of the refresh of a credential.
    ///   - changes: Receives the changes of circuits.
    mutating func admit(
        to key: String,
        isRefresh: Bool,
        at now: Duration,
        changes: inout [CircuitChange]
    ) -> Decision {
        if circuits.count >= Self.highCount, circuits[key] == nil { removeIdleCircuits(at: now, changes: &changes) }
        let new = Circuit(policy)
        return Self.change(&circuits[key, default: new], key: key, changes: &changes) { circuit in
            if isRefresh, circuit.state(at: now) == .halfOpen { return .exempt }
            let admission = circuit.admit(at: now)
            return admission.map(Decision.admitted) ?? .refused(remaining: circuit.remaining(at: now))
        }
    }

    /// Changes a circuit, if it exists.
    mutating func change(_ key: String, changes: inout [CircuitChange], _ body: (inout Circuit) -> Void) {
        guard let index = circuits.index(forKey: key) else { return }
        Self.change(&circuits.values[index], key: key, changes: &changes, body: body)
    }

    /// Makes a circuit reject all calls.
    mutating func isolate(_ key: String, changes: inout [CircuitChange]) {
        let new = Circuit(policy)
        Self.change(&circuits[key, default: new], key: key, changes: &changes) { $0.isolate() }
    }

    /// Changes a circuit in place, because a copy would also copy its counts.
    private static func change<Value>(
        _ circuit: inout Circuit,
        key: String,
        changes: inout [CircuitChange],
        body: (inout Circuit) -> Value
    ) -> Value {
        let before = circuit.settledState
        let value = body(&circuit)
        let after = circuit.settledState
        if before != after { changes.append(CircuitChange(key: key, state: after)) }
        return value
    }

    private mutating func removeIdleCircuits(at now: Duration, changes: inout [CircuitChange]) {
        for (key, circuit) in circuits where circuit.isIdle(at: now) {
            circuits[key] = nil
            if circuit.settledState != .closed { changes.append(CircuitChange(key: key, state: .closed)) }
        }
    }
}

/// A change of a circuit.
struct CircuitChange: Sendable, Hashable {
    let key: String
    let state: CircuitState
}

/// The states of a plugin's circuits that aren't closed, for readers.
final class CircuitStates: Sendable {
    private let states = ObservedValue<[String: CircuitState]>([:])
    /// The open circuits for whose time tasks wait.
    private let timed = Locked<Set<String>>([])

    deinit {
        states.finish()
    }

    func note(_ change: CircuitChange) {
        states.update { $0[change.key] = change.state == .closed ? nil : change.state }
    }

    /// A sequence of the reported states of a circuit. An open circuit is half-open after its time.
    ///
    /// - Parameters:
    ///   - circuit: Returns the circuit's current state, and the remaining time for which it is open.
    ///   - wait: Sleeps for a time.
    func values(
        of key: String,
        circuit: @escaping @Sendable () -> (state: CircuitState, remaining: Duration)?,
        wait: @escaping @Sendable (Duration) async throws -> Void
    ) -> AsyncStream<CircuitState> {
        states.latestValues { [weak self] reported in
            guard reported[key] == .open, let (state, remaining) = circuit() else { return reported[key] ?? .closed }
            if state == .open { self?.announce(key, after: remaining, wait) }
            return state
        }
    }

    /// Notifies readers at the end of an open circuit's time.
    private func announce(
        _ key: String,
        after time: Duration,
        _ wait: @escaping @Sendable (Duration) async throws -> Void
    ) {
        guard timed.withLock({ $0.insert(key).inserted }) else { return }
        Task { [weak self] in
            try? await wait(time)
            _ = self?.timed.withLock { $0.remove(key) }
            self?.states.update { _ in }
        }
    }
}
