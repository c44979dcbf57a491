// SPDX-License-Identifier: MIT
import TargetKit

/// The credential of a session, and its renewal: however many callers ask for one, there is one refresh at a time.
///
/// Credentials are counted: each refresh, sign-in and sign-out makes a new generation. Sessions are counted too: what was begun
/// in one changes nothing in the next.
final class CredentialHolder<A: Authenticator>: Sendable {
    typealias Credential = A.Credential

    /// A credential to send a call with.
    struct Lease: Sendable {
        let credential: Credential
        let generation: Int
    }

    /// Where a call stands that begins.
    struct Position: Sendable {
        let session: Int
        let generation: Int
    }

    enum Holding: Sendable {
        /// The store has not been read.
        case unread
        /// Nobody is signed in.
        case none
        case held(Credential)
        /// The refresh has failed for good.
        case ended(any Error)
    }

    typealias Outcome = SharedOutcome<Result<Lease, RefreshFailure>>

    struct Flight: Sendable {
        let number: Int
        /// When it began.
        let start: Duration
        let outcome: Outcome
        let task: Task<Void, Never>
    }

    struct State: Sendable {
        var holding = Holding.unread
        var session = 0
        var generation = 0
        var flight: Flight?
        var flightCount = 0
        /// When refreshes began, within the limit's interval.
        var starts: [Duration] = []
        /// Why the latest of them that has ended brought nothing, though it may another time.
        var lastFailure: (any Error)?
        var changeCount = 0
        /// Whether the latest change could not be stored.
        var isUnsaved = false

        mutating func nextChange() -> Int {
            changeCount += 1
            isUnsaved = false
            return changeCount
        }
    }

    private enum Step: Sendable {
        case ready(Lease)
        case wait(Flight)
    }

    let authenticator: A
    let vault: CredentialVault<Credential>
    private let limit: RefreshLimit
    private let time: Stopwatch
    let onStoreFailure: @Sendable (any Error) -> Void
    let signOut: @Sendable (any Error) async -> Void
    let state = Locked(State())

    init(
        _ authenticator: A,
        _ vault: CredentialVault<Credential>,
        _ limit: RefreshLimit,
        clock: any Clock<Duration>,
        onStoreFailure: @escaping @Sendable (any Error) -> Void,
        signOut: @escaping @Sendable (any Error) async -> Void
    ) {
        self.authenticator = authenticator
        self.vault = vault
        self.limit = limit
        time = Stopwatch(clock)
        self.onStoreFailure = onStoreFailure
        self.signOut = signOut
    }

    /// Whether the code that asks is part of this holder's own refresh.
    var isRefreshingHere: Bool {
        guard let number = RefreshTask.flights[ObjectIdentifier(self)] else { return false }
        return state.withLock(\.flight)?.number == number
    }

    /// How many callers wait for a refresh.
    var waiterCount: Int { state.withLock(\.flight)?.outcome.waiterCount ?? 0 }

    /// The credential as it is, without waiting; `nil` when there is none, or the store has not been read.
    var lease: Lease? { state.withLock { Self.lease(in: $0) } }

    /// The credential as it is, with the session that it belongs to.
    var leaseInSession: (Lease, session: Int)? {
        state.withLock { state in Self.lease(in: state).map { ($0, state.session) } }
    }

    static func lease(in state: State) -> Lease? {
        guard case .held(let credential) = state.holding else { return nil }
        return Lease(credential: credential, generation: state.generation)
    }
}

// MARK: - Leases

extension CredentialHolder {
    /// Where a call stands that begins now; before that, what could not be stored is stored.
    ///
    /// - Throws: the store's error.
    func position() async throws -> Position {
        if state.withLock({ if case .unread = $0.holding { true } else { false } }) {
            let stored = try await vault.load()
            state.withLock { state in
                guard case .unread = state.holding else { return }
                state.holding = stored.map { .held($0) } ?? .none
            }
        }
        await storeUnsaved()
        return state.withLock { Position(session: $0.session, generation: $0.generation) }
    }

    /// The credential to send a call with, once any refresh that is due or under way is over; `nil` when nobody is signed in.
    ///
    /// - Throws: ``RefreshFailure``, or `CancellationError`.
    func lease(in session: Int) async throws -> Lease? {
        guard let (lease, flight) = try standing(in: session) else { return nil }
        do {
            if let flight { return try await self.lease(after: .wait(flight)) }
            guard authenticator.needsRefresh(lease.credential) else { return lease }
            return try await self.lease(after: begin(after: lease.generation, in: session, isEarly: true))
        } catch RefreshFailure.passing(_, isEarly: true) where authenticator.canStillUse(lease.credential) {
            return lease
        }
    }

    /// A credential newer than one that the server has rejected.
    ///
    /// - Throws: ``RefreshFailure``, or `CancellationError`.
    func lease(after generation: Int, in session: Int) async throws -> Lease {
        try await lease(after: begin(after: generation, in: session, isEarly: false))
    }

    private func lease(after step: Step) async throws -> Lease {
        switch step {
        case .ready(let lease): lease
        case .wait(let flight): try await flight.outcome.value().get()
        }
    }

    private func standing(in session: Int) throws -> (lease: Lease, flight: Flight?)? {
        try state.withLock { state in
            guard state.session == session else { throw RefreshFailure.signedOut }
            if case .ended(let error) = state.holding { throw RefreshFailure.ended(error) }
            return Self.lease(in: state).map { ($0, state.flight) }
        }
    }
}

// MARK: - Refresh

extension CredentialHolder {
    /// Begins a refresh, unless there is one under way or a newer credential has come already.
    private func begin(after generation: Int, in session: Int, isEarly: Bool) throws(RefreshFailure) -> Step {
        let now = time.elapsed
        return try state.withLock { state throws(RefreshFailure) in
            guard state.session == session else { throw .signedOut }
            if case .ended(let error) = state.holding { throw .ended(error) }
            guard let lease = Self.lease(in: state) else { throw .signedOut }
            if lease.generation > generation { return .ready(lease) }
            if let flight = state.flight { return .wait(flight) }
            state.starts.removeAll { now - $0 >= limit.interval }
            guard state.starts.count < limit.count else {
                let error = state.lastFailure ?? AuthenticationError.tooManyRefreshes(limit)
                throw .passing(error, isEarly: isEarly)
            }
            state.starts.append(now)
            state.flightCount += 1
            let number = state.flightCount
            let outcome = Outcome()
            // A task of its own, that no caller's end cancels: the server may have taken back the old credential by then.
            let task = Task { await self.run(number, outcome, lease.credential, isEarly: isEarly) }
            let flight = Flight(number: number, start: now, outcome: outcome, task: task)
            state.flight = flight
            return .wait(flight)
        }
    }
}

// MARK: - Sessions

extension CredentialHolder {
    /// Begins a session with that credential, or none; what goes on for the old one comes to nothing.
    ///
    /// - Returns: The credential of the old session.
    /// - Throws: the store's error, when the change is made but not stored.
    func replace(with credential: Credential?) async throws -> Credential? {
        let (old, change) = enter(credential)
        try await write(credential, change: change)
        return old
    }

    /// The part of ``replace(with:)`` that comes before the store's.
    ///
    /// - Returns: The credential of the old session, and the number of the change.
    func enter(_ credential: Credential?) -> (old: Credential?, change: Int) {
        let (old, flight, hasEnded, change) = state.withLock { state in
            defer {
                state.holding = credential.map { .held($0) } ?? .none
                state.session += 1
                state.generation += 1
                state.flight = nil
                state.starts = []
                state.lastFailure = nil
            }
            let hasEnded = if case .ended = state.holding { true } else { false }
            return (Self.lease(in: state)?.credential, state.flight, hasEnded, state.nextChange())
        }
        // With the session over, what still runs is the sign-out handler: it may be the one who signs in.
        if let flight, !hasEnded {
            flight.task.cancel()
            flight.outcome.settle(.failure(.signedOut))
        }
        return (old, change)
    }
}
