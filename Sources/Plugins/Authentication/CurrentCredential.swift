// SPDX-License-Identifier: MIT
import TargetKit

/// The credential of a session, and its renewal: however many callers ask for one, there is one refresh at a time.
///
/// Credentials are counted: each refresh, sign-in and sign-out makes a new generation. Sessions are counted too: what was begun
/// in one changes nothing in the next.
final class CurrentCredential<A: Authenticator>: Sendable {
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

    enum Status: Sendable {
        /// The store has not been read.
        case unread
        /// Nobody is signed in.
        case none
        case held(Credential)
        /// The refresh has failed for good.
        case ended(any Error)
    }

    typealias Outcome = SharedOutcome<Result<Lease, RefreshFailure>>

    struct Refresh: Sendable {
        let number: Int
        /// When it began.
        let start: Duration
        let outcome: Outcome
        let task: Task<Void, Never>
    }

    struct State: Sendable {
        var status = Status.unread
        var session = 0
        var generation = 0
        var refresh: Refresh?
        var refreshCount = 0
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
        case wait(Refresh)
    }

    let authenticator: A
    let credentialStore: SerialCredentialStore<Credential>
    private let limit: RefreshLimit
    private let elapsedTime: ElapsedTime
    let onStoreFailure: @Sendable (any Error) -> Void
    let signOut: @Sendable (any Error) async -> Void
    let state = Locked(State())

    init(
        _ authenticator: A,
        _ credentialStore: SerialCredentialStore<Credential>,
        _ limit: RefreshLimit,
        clock: any Clock<Duration>,
        onStoreFailure: @escaping @Sendable (any Error) -> Void,
        signOut: @escaping @Sendable (any Error) async -> Void
    ) {
        self.authenticator = authenticator
        self.credentialStore = credentialStore
        self.limit = limit
        elapsedTime = ElapsedTime(clock)
        self.onStoreFailure = onStoreFailure
        self.signOut = signOut
    }

    /// Whether the code that asks is part of this currentCredential's own refresh.
    var isRefreshingHere: Bool {
        guard let number = RefreshTask.current[ObjectIdentifier(self)] else { return false }
        return state.withLock(\.refresh)?.number == number
    }

    /// How many callers wait for a refresh.
    var waiterCount: Int { state.withLock(\.refresh)?.outcome.waiterCount ?? 0 }

    /// The credential as it is, without waiting; `nil` when there is none, or the store has not been read.
    var lease: Lease? { state.withLock { Self.lease(in: $0) } }

    static func lease(in state: State) -> Lease? {
        guard case .held(let credential) = state.status else { return nil }
        return Lease(credential: credential, generation: state.generation)
    }
}

// MARK: - Leases

extension CurrentCredential {
    /// Where a call stands that begins now; before that, what could not be stored is stored.
    ///
    /// - Throws: the store's error.
    func position() async throws -> Position {
        if state.withLock({ if case .unread = $0.status { true } else { false } }) {
            let stored = try await credentialStore.load()
            state.withLock { state in
                guard case .unread = state.status else { return }
                state.status = stored.map { .held($0) } ?? .none
            }
        }
        await storeUnsaved()
        return state.withLock { Position(session: $0.session, generation: $0.generation) }
    }

    /// The credential to send a call with, once any refresh that is due or under way is over; `nil` when nobody is signed in.
    ///
    /// - Throws: ``RefreshFailure``, or `CancellationError`.
    func lease(in session: Int) async throws -> Lease? {
        guard let (lease, refresh) = try standing(in: session) else { return nil }
        do {
            if let refresh { return try await self.lease(after: .wait(refresh)) }
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
        case .wait(let refresh): try await refresh.outcome.value().get()
        }
    }

    private func standing(in session: Int) throws -> (lease: Lease, refresh: Refresh?)? {
        try state.withLock { state in
            guard state.session == session else { throw RefreshFailure.signedOut }
            if case .ended(let error) = state.status { throw RefreshFailure.ended(error) }
            return Self.lease(in: state).map { ($0, state.refresh) }
        }
    }
}

// MARK: - Refresh

extension CurrentCredential {
    /// Begins a refresh, unless there is one under way or a newer credential has come already.
    private func begin(after generation: Int, in session: Int, isEarly: Bool) throws(RefreshFailure) -> Step {
        let now = elapsedTime.current
        return try state.withLock { state throws(RefreshFailure) in
            guard state.session == session else { throw .signedOut }
            if case .ended(let error) = state.status { throw .ended(error) }
            guard let lease = Self.lease(in: state) else { throw .signedOut }
            if lease.generation > generation { return .ready(lease) }
            if let refresh = state.refresh { return .wait(refresh) }
            state.starts.removeAll { now - $0 >= limit.interval }
            guard state.starts.count < limit.count else {
                let error = state.lastFailure ?? AuthenticationError.tooManyRefreshes(limit)
                throw .passing(error, isEarly: isEarly)
            }
            state.starts.append(now)
            state.refreshCount += 1
            let number = state.refreshCount
            let outcome = Outcome()
            // A task of its own, that no caller's end cancels: the server may have taken back the old credential by then.
            let task = Task { await self.run(number, outcome, lease.credential, isEarly: isEarly) }
            let refresh = Refresh(number: number, start: now, outcome: outcome, task: task)
            state.refresh = refresh
            return .wait(refresh)
        }
    }
}

// MARK: - Sessions

extension CurrentCredential {
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
        let (old, refresh, hasEnded, change) = state.withLock { state in
            defer {
                state.status = credential.map { .held($0) } ?? .none
                state.session += 1
                state.generation += 1
                state.refresh = nil
                state.starts = []
                state.lastFailure = nil
            }
            let hasEnded = if case .ended = state.status { true } else { false }
            return (Self.lease(in: state)?.credential, state.refresh, hasEnded, state.nextChange())
        }
        // With the session over, what still runs is the sign-out handler: it may be the one who signs in.
        if let refresh, !hasEnded {
            refresh.task.cancel()
            refresh.outcome.settle(.failure(.signedOut))
        }
        return (old, change)
    }
}
