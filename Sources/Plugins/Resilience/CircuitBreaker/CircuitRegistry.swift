// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The circuits of a ``CircuitBreakerPlugin``.
struct CircuitRegistry: Sendable {
    /// Whether an attempt is sent.
    enum Decision: Sendable {
        /// It is, and its end is reported.
        case admitted(Circuit.Admission)
        /// It is, and does not count: a refresh in a half-open circuit. The call that waits for it may have the only permit.
        case exempt
        /// Calls are refused for that time.
        case refused(remaining: Duration)
    }

    /// With more circuits than this, idle ones are removed when a new one is needed.
    private static let highCount = 64
    private let policy: CircuitBreakerPolicy
    private var circuits: [String: Circuit] = [:]
    /// Circuits that were removed while they were not closed, which has not been reported yet.
    private var removed: [CircuitChange] = []

    init(_ policy: CircuitBreakerPolicy) {
        self.policy = policy
    }

    func circuit(_ key: String) -> Circuit { circuits[key] ?? Circuit(policy) }

    /// Decides about an attempt.
    ///
    /// - Parameter isRefresh: Whether it is part of the refresh of a credential.
    mutating func admit(to key: String, isRefresh: Bool, at now: Duration) -> Decision {
        if circuits[key] == nil { removeIdleCircuits(at: now) }
        var circuit = circuit(key)
        if isRefresh, circuit.state(at: now) == .halfOpen { return .exempt }
        let admission = circuit.admit(at: now)
        circuits[key] = circuit
        return admission.map(Decision.admitted) ?? .refused(remaining: circuit.remaining(at: now))
    }

    /// An admitted attempt has ended.
    mutating func ended(_ admission: Circuit.Admission, of key: String, _ verdict: Circuit.Verdict, at now: Duration) {
        circuits[key]?.ended(admission, verdict, at: now)
    }

    /// Closes a circuit.
    mutating func reset(_ key: String) {
        circuits[key]?.reset()
    }

    /// Makes a circuit refuse all calls.
    mutating func isolate(_ key: String) {
        circuits[key, default: Circuit(policy)].isolate()
    }

    /// Counts a call as a failure, because the body of its stream has failed.
    mutating func streamFailed(_ admission: Circuit.Admission, of key: String, at now: Duration) {
        circuits[key]?.streamFailed(admission, at: now)
    }

    private mutating func removeIdleCircuits(at now: Duration) {
        guard circuits.count >= Self.highCount else { return }
        for (key, circuit) in circuits where circuit.isIdle(at: now) {
            circuits[key] = nil
            if circuit.settledState != .closed { removed.append(CircuitChange(key: key, state: .closed)) }
        }
    }

    /// The circuits that were removed since the last call of this method while they were not closed; they are closed now.
    mutating func takeRemoved() -> [CircuitChange] {
        defer { removed = [] }
        return removed
    }
}

/// A change of a circuit.
struct CircuitChange: Sendable, Hashable {
    let key: String
    let state: CircuitState
}

/// The states of the circuits of a plugin that are not closed, for its readers.
final class CircuitStates: Sendable {
    private let states = ObservedValue<[String: CircuitState]>([:])

    deinit {
        states.finish()
    }

    func note(_ change: CircuitChange) {
        states.update { $0[change.key] = change.state == .closed ? nil : change.state }
    }

    func values(of key: String) -> AsyncStream<CircuitState> {
        states.latestValues { $0[key] ?? .closed }
    }
}
