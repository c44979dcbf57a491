// SPDX-License-Identifier: MIT
import TargetKit

/// The credential of a session, and its refresh. There is only one refresh at a time.
///
/// Each refresh, sign-in and sign-out starts a new generation of the credential, as does a stored credential of another
/// process. Sessions are also numbered, so that a refresh of one session doesn't affect the next.
final class CurrentCredential<A: Authenticator>: Sendable {
    typealias Credential = A.Credential

    /// A credential for a call.
    struct Lease: Sendable {
        let credential: Credential
        let generation: Int
        let owner: CredentialSession
        /// Whether another process stored the credential, which isn't necessarily new.
        var isAdopted = false
    }

    /// The session and generation in which a call starts.
    struct Position: Sendable {
        let session: Int
        let generation: Int
    }

    enum Status: Sendable {
        /// The store hasn't been read.
        case unread
        /// There is no credential.
        case none
        case held(Credential)
        /// The refresh failed permanently.
        case ended(any Error)
    }

    typealias Outcome = SharedOutcome<Result<Lease, RefreshFailure>>

    /// A refresh, with the credential that it refreshes.
    struct Refresh: Sendable {
        let number: Int
        /// The time when the refresh started.
        let start: Duration
        let session: Int
        let generation: Int
        let credential: Credential
        /// Whether the refresh started before the server rejected the credential.
        let isEarly: Bool
        let outcome = Outcome()
    }

    /// A refresh in progress.
    struct RunningRefresh: Sendable {
        let refresh: Refresh
        let task: Task<Void, Never>
    }

    struct State: Sendable {
        var status = Status.unread
        var loading: SharedOutcome<Result<Void, any Error>>?
        var session = 0
        /// The number of sessions that started with a credential.
        var signInCount = 0
        var owner = CredentialSession(id: nil)
        var generation = 0
        /// The generation that another process stored, if it is the current one.
        var adoptedGeneration: Int?
        var running: RunningRefresh?
        var refreshCount = 0
        /// The number of the refresh that returned the credential.
        var keptRefresh = 0
        /// The start times of the refreshes within the limit's interval.
        var starts: [Duration] = []
        /// The start time of the refresh that returned the credential; `nil` once the server accepts the credential.
        var untestedStart: Duration?
        /// The requests that a server rejected with a credential that was refreshed for them.
        var refusals: [String: Refusal] = [:]
        /// The transient failure of the latest refresh.
        var lastFailure: (any Error)?
        var changeCount = 0
        /// The number of the latest stored change.
        var storedChange = 0
        /// Whether the latest change couldn't be stored.
        var isUnsaved = false
        /// Whether the store contained a credential of the session. Some stores save none, for users who don't want to
        /// stay signed in.
        var wasInStore = false
        /// The stored session when the store was last read or written.
        var storedSession: String?
        /// The number of refreshes of this process that hold the store's lock.
        var lockCount = 0

        mutating func read(_ stored: IdentifiedCredential<Credential>?) {
            status = stored.map { .held($0.credential) } ?? .none
            owner = CredentialSession(id: stored?.session, after: owner)
            wasInStore = stored != nil
            storedSession = stored?.session
        }

        mutating func nextChange() -> Int {
            changeCount += 1
            isUnsaved = false
            return changeCount
        }
    }

    /// The rejection of a credential that was refreshed for the call.
    struct Refusal: Sendable {
        let generation: Int
        let time: Duration
    }

    private enum Step: Sendable {
        case ready(Lease)
        case wait(Outcome)
    }

    let authenticator: A
    let credentialStore: SerialCredentialStore<Credential>
    let limit: RefreshLimit
    let clock: any Clock<Duration>
    let elapsedTime: ElapsedTime
    let onStoreFailure: @Sendable (any Error) -> Void
    let signOut: @Sendable (any Error) async -> Void
    let state = Locked(State())

    init(
        _ authenticator: A,
        credentialStore: SerialCredentialStore<Credential>,
        limit: RefreshLimit,
        clock: any Clock<Duration>,
        onStoreFailure: @escaping @Sendable (any Error) -> Void,
        signOut: @escaping @Sendable (any Error) async -> Void
    ) {
        self.authenticator = authenticator
        self.credentialStore = credentialStore
        self.limit = limit
        self.clock = clock
        elapsedTime = ElapsedTime(clock)
        self.onStoreFailure = onStoreFailure
        self.signOut = signOut
    }

    /// Whether the current task is part of the refresh.
    var isRefreshingHere: Bool {
        guard let number = RefreshTask.current[ObjectIdentifier(self)] else { return false }
        return state.withLock(\.running)?.refresh.number == number
    }

    /// The number of callers waiting for a refresh.
    var waiterCount: Int { state.withLock(\.running)?.refresh.outcome.waiterCount ?? 0 }

    /// The current credential; `nil` if there is none, or the store hasn't been read.
    var lease: Lease? { state.withLock { Self.lease(in: $0) } }

    static func lease(in state: State) -> Lease? {
        guard case .held(let credential) = state.status else { return nil }
        return Lease(
            credential: credential,
            generation: state.generation,
            owner: state.owner,
            isAdopted: state.adoptedGeneration == state.generation
        )
    }
}

// MARK: - Leases

extension CurrentCredential {
    /// Returns the current session and generation, after storing a credential that couldn't be stored before.
    ///
    /// - Throws: The store's error.
    func position() async throws -> Position {
        if let loading = loading() { try await loading.value().get() }
        try await storeUnsaved()
        return state.withLock { Position(session: $0.session, generation: $0.generation) }
    }

    /// The result of reading the store, for which the first calls wait; `nil` once it has been read.
    private func loading() -> SharedOutcome<Result<Void, any Error>>? {
        state.withLock { state in
            guard case .unread = state.status else { return nil }
            if let memory = credentialStore.memory {
                state.read(memory.stored)
                return nil
            }
            if let loading = state.loading { return loading }
            let loading = SharedOutcome<Result<Void, any Error>>()
            state.loading = loading
            // A separate task, because other calls need the result even if the first call is cancelled.
            Task { loading.settle(await self.load()) }
            return loading
        }
    }

    private func load() async -> Result<Void, any Error> {
        do {
            let stored = try await credentialStore.load()
            state.withLock { state in
                state.loading = nil
                if case .unread = state.status { state.read(stored) }
            }
            return .success(())
        } catch {
            state.withLock { $0.loading = nil }
            return .failure(error)
        }
    }

    /// The credential for a call, after any refresh that is due or in progress; `nil` if there is none.
    ///
    /// - Throws: ``RefreshFailure``, or `CancellationError`.
    func lease(in session: Int) async throws -> Lease? {
        guard let (lease, outcome) = try standing(in: session) else { return nil }
        do {
            if let outcome { return try await self.lease(after: .wait(outcome)) }
            guard authenticator.needsRefresh(lease.credential) else { return lease }
            return try await self.lease(after: begin(after: lease.generation, in: session, isEarly: true))
        } catch RefreshFailure.passing(_, isEarly: true) where authenticator.canStillUse(lease.credential) {
            return lease
        }
    }

    /// The credential of a session, which may need a refresh; `nil` if there is none.
    ///
    /// - Throws: ``RefreshFailure`` if the session has ended.
    func knownLease(in session: Int) throws -> Lease? { try standing(in: session)?.lease }

    /// A credential newer than one that the server rejected.
    ///
    /// - Throws: ``RefreshFailure``, or `CancellationError`.
    func lease(after generation: Int, in session: Int) async throws -> Lease {
        try await lease(after: begin(after: generation, in: session, isEarly: false))
    }

    private func lease(after step: Step) async throws -> Lease {
        switch step {
        case .ready(let lease): lease
        case .wait(let outcome): try await outcome.value().get()
        }
    }

    private func standing(in session: Int) throws -> (lease: Lease, outcome: Outcome?)? {
        try state.withLock { state in
            guard state.session == session else { throw RefreshFailure.signedOut }
            if case .ended(let error) = state.status { throw RefreshFailure.ended(error) }
            return Self.lease(in: state).map { ($0, state.running?.refresh.outcome) }
        }
    }
}

// MARK: - Refresh

extension CurrentCredential {
    /// Starts a refresh, unless one is in progress or there is a newer credential.
    private func begin(after generation: Int, in session: Int, isEarly: Bool) throws(RefreshFailure) -> Step {
        let now = elapsedTime.current
        return try state.withLock { state throws(RefreshFailure) in
            guard state.session == session else { throw .signedOut }
            if case .ended(let error) = state.status { throw .ended(error) }
            guard let lease = Self.lease(in: state) else { throw .signedOut }
            if lease.generation > generation { return .ready(lease) }
            if let running = state.running { return .wait(running.refresh.outcome) }
            state.starts.removeAll { now - $0 >= limit.interval }
            guard state.starts.count < limit.count else {
                let error = state.lastFailure ?? AuthenticationError.tooManyRefreshes(limit)
                throw .passing(error, isEarly: isEarly)
            }
            state.starts.append(now)
            state.refreshCount += 1
            let refresh = Refresh(
                number: state.refreshCount,
                start: now,
                session: session,
                generation: lease.generation,
                credential: lease.credential,
                isEarly: isEarly
            )
            // A separate task, which isn't cancelled with its caller, because the server may already have revoked the
            // old credential.
            state.running = RunningRefresh(refresh: refresh, task: Task { await self.run(refresh) })
            return .wait(refresh.outcome)
        }
    }
}
