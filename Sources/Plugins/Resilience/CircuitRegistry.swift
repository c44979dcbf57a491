// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The circuits of a ``CircuitBreakerPlugin``, and the calls that they have let through.
struct CircuitRegistry: Sendable {
    /// A call's attempt, and the place it has.
    struct Call: Sendable {
        let key: String
        /// What was asked for.
        let url: URL?
        fileprivate var admission: Circuit.Admission?
    }

    /// With more circuits than this, those that have nothing to remember make room for a new one.
    private static let roomyCount = 64
    private let policy: CircuitBreakerPolicy
    private var circuits: [String: Circuit] = [:]
    /// Circuits that were not closed and have made room, of which nobody has been told yet.
    private var forgotten: [CircuitChange] = []
    /// Begun at the first attempt and nowhere else: a shared exchange goes on when the call that began it was cancelled and has
    /// ended, and a place that is kept for it then would never be free again.
    private var calls: [RequestContext.ID: Call] = [:]

    init(_ policy: CircuitBreakerPolicy) {
        self.policy = policy
    }

    func circuit(_ key: String) -> Circuit { circuits[key] ?? Circuit(policy) }

    /// Lets an attempt through.
    ///
    /// - Parameter isRefresh: Whether it is part of a refresh, which goes through a half-open circuit without a place: the call
    ///   that waits for it may have the only one.
    /// - Returns: `nil` when it goes, else how long calls are still held back.
    mutating func admit(
        _ context: RequestContext,
        to key: String,
        _ url: URL?,
        isRefresh: Bool,
        at now: Duration
    ) -> Duration? {
        if circuits[key] == nil { makeRoom(at: now) }
        var circuit = circuit(key)
        let isKnown = context.attempt == 0 || calls[context.id] != nil
        if isRefresh, circuit.state(at: now) == .halfOpen {
            if isKnown { calls[context.id] = Call(key: key, url: url, admission: nil) }
            return nil
        }
        // One that nobody will report the end of goes only where no place is kept for it.
        guard isKnown || circuit.state(at: now) == .closed else { return circuit.remaining(at: now) }
        let admission = circuit.admit(at: now)
        circuits[key] = circuit
        if isKnown { calls[context.id] = Call(key: key, url: url, admission: admission) }
        return admission == nil ? circuit.remaining(at: now) : nil
    }

    /// The call's attempt; `nil` for one that no place is kept for.
    func call(_ id: RequestContext.ID) -> Call? { calls[id] }

    /// An attempt has ended.
    mutating func ended(_ id: RequestContext.ID, _ verdict: Circuit.Verdict, at now: Duration) {
        guard let call = calls[id], let admission = call.admission else { return }
        calls[id]?.admission = nil
        circuits[call.key]?.ended(admission, verdict, at: now)
    }

    /// The call has ended; one that was never sent gives its place back.
    mutating func forget(_ id: RequestContext.ID, at now: Duration) {
        ended(id, .nothing, at: now)
        calls[id] = nil
    }

    private mutating func makeRoom(at now: Duration) {
        guard circuits.count >= Self.roomyCount else { return }
        // A new circuit of that key would take calls that are still out for its own.
        let busy = Set(calls.values.lazy.filter { $0.admission != nil }.map(\.key))
        for (key, circuit) in circuits where circuit.isIdle(at: now) && !busy.contains(key) {
            circuits[key] = nil
            let state = circuit.settledState
            if state != .closed { forgotten.append(CircuitChange(key: key, from: state, to: .closed)) }
        }
    }

    /// The circuits that were not closed and have made room since this was last asked: they are closed now.
    mutating func takeForgotten() -> [CircuitChange] {
        defer { forgotten = [] }
        return forgotten
    }
}
