// SPDX-License-Identifier: MIT
import TargetKit

/// A credential for a call.
///
/// It is a class, so that code that only passes it on needs no metadata of the credential.
final class CredentialLease<Credential: Sendable>: Sendable {
    let credential: Credential
    /// The number of the credential. A later one has a higher number.
    let generation: Int
    let owner: CredentialSession
    /// Whether another process stored the credential, which isn't necessarily new.
    let isAdopted: Bool

    init(credential: Credential, generation: Int, owner: CredentialSession, isAdopted: Bool) {
        self.credential = credential
        self.generation = generation
        self.owner = owner
        self.isAdopted = isAdopted
    }
}

/// The credential of a session, and its refresh. There is only one refresh at a time.
///
/// ```
///  unread
///    ↓        signIn           due, or rejected
///   none ──────────────→ held ──────────────────→ held, a refresh is running
///    ↑ ↑                  │ ↑                        │     │
///    │ └──── signOut ─────┘ └── new credential, or ──┘     │ permanent failure, or
///    │                          transient failure          ↓ signed out elsewhere
///    └───────────────────── signOut ───────────────────── ended ──── signIn ───→ held
/// ```
///
/// Sessions are numbered. A refresh changes something only in the session in which it started (``State/lease(of:)``).
final class CurrentCredential<A: Authenticator>: Sendable {
    typealias Credential = A.Credential
    typealias Lease = CredentialLease<Credential>
    typealias Refresh = Refreshes<Credential>.Refresh
    typealias Outcome = Refreshes<Credential>.Outcome
    typealias Store = SharedCredentialStore<Credential>
    typealias Loading = SharedOutcome<Result<Void, any Error>>

    enum Status: Sendable {
        /// The store hasn't been read, or is being read.
        case unread(Loading?)
        /// There is no credential.
        case none
        case held(Lease)
        /// The refresh with this number failed permanently.
        case ended(any Error, by: Int)
    }

    struct State: Sendable {
        var status: Status
        var session = 0
        /// The number of sessions that started with a credential.
        var signInCount = 0
        var owner = CredentialSession(id: nil)
        var generation = 0
        /// The generation of a credential that was due right after its refresh, as with a wrong clock: another refresh
        /// for each call wouldn't help. It is used until the server rejects it.
        var generationDueAtOnce = 0
        var refreshes: Refreshes<Credential>

        var lease: Lease? { if case .held(let lease) = status { lease } else { nil } }

        /// The credential of a session; `nil` if there is none.
        func lease(in session: Int) throws(RefreshFailure) -> Lease? {
            guard session == self.session else { throw .signedOut }
            if case .ended(let error, _) = status { throw .ended(error) }
            return lease
        }

        /// The current credential of the session of a refresh.
        func lease(of refresh: Refresh) throws(RefreshFailure) -> Lease {
            guard let lease = try lease(in: refresh.session) else { throw .signedOut }
            return lease
        }

        /// The credential that replaced that of a refresh in its session; `nil` if none did.
        func successor(of refresh: Refresh) throws(RefreshFailure) -> Lease? {
            let lease = try lease(of: refresh)
            return lease.generation == refresh.lease.generation ? nil : lease
        }

        /// Whether a refresh ended the session.
        func isEnded(by refresh: Refresh) -> Bool {
            if case .ended(_, refresh.number) = status { session == refresh.session } else { false }
        }

        /// Replaces the credential of the session.
        @discardableResult
        mutating func hold(_ credential: Credential, isAdopted: Bool = false) -> Lease {
            generation += 1
            let lease = Lease(credential: credential, generation: generation, owner: owner, isAdopted: isAdopted)
            status = .held(lease)
            return lease
        }

        /// Starts a session with a credential, or without one.
        mutating func begin(_ credential: Credential?, as owner: CredentialSession) {
            session += 1
            self.owner = owner
            refreshes.reset()
            status = .none
            guard let credential else { return }
            signInCount += 1
            hold(credential)
        }
    }

    let authenticator: A
    /// `nil` if the credential is only in memory.
    let store: Store?
    let limit: RefreshLimit
    let clock: any Clock<Duration>
    let elapsedTime: ElapsedTime
    let onStoreFailure: @Sendable (any Error) -> Void
    let signOut: @Sendable (any Error) async -> Void
    let state: Locked<State>

    init(
        _ authenticator: A,
        store: (any CredentialStore<Credential>)?,
        limit: RefreshLimit,
        clock: any Clock<Duration>,
        onStoreFailure: @escaping @Sendable (any Error) -> Void,
        signOut: @escaping @Sendable (any Error) async -> Void
    ) {
        self.authenticator = authenticator
        self.store = store.map { Store($0) }
        self.limit = limit
        self.clock = clock
        elapsedTime = ElapsedTime(clock)
        self.onStoreFailure = onStoreFailure
        self.signOut = signOut
        state = Locked(State(status: store == nil ? .none : .unread(nil), refreshes: Refreshes(limit)))
    }

    /// Whether the current task is part of the refresh.
    var isRefreshingHere: Bool {
        guard RefreshTask.isCurrent, let number = RefreshTask.number(of: self) else { return false }
        return state.withLock { $0.refreshes.running?.refresh.number == number }
    }

    /// The number of callers waiting for a refresh.
    var waiterCount: Int { state.withLock(\.refreshes.running)?.refresh.outcome.waiterCount ?? 0 }

    /// The current credential; `nil` if there is none, or the store hasn't been read.
    var lease: Lease? { state.withLock(\.lease) }

    /// Whether the server rejects a new credential for a request (``Refreshes/refuses(_:with:isNew:at:)``).
    func isRefused(_ request: String, with generation: Int, isNew: Bool) -> Bool {
        let now = elapsedTime.current
        return state.withLock { $0.refreshes.refuses(request, with: generation, isNew: isNew, at: now) }
    }
}

// MARK: - Leases

extension CurrentCredential {
    /// Returns the current session and generation, after storing a credential that couldn't be stored before.
    ///
    /// - Throws: The store's error.
    func position() async throws -> (session: Int, generation: Int) {
        if isStoreBehind { try await catchUp() }
        return knownPosition
    }

    /// Reads the store if it hasn't been read, and stores a credential that couldn't be stored before.
    func catchUp() async throws {
        if let loading = loading() { try await loading.value().get() }
        try await store?.writeUnsaved()
    }

    /// Whether the store hasn't been read, or lacks a credential that couldn't be stored. Most calls find neither, and
    /// don't wait.
    var isStoreBehind: Bool {
        guard let store else { return false }
        let isUnread = state.withLock { if case .unread = $0.status { true } else { false } }
        return isUnread || store.hasUnsaved
    }

    /// The current session and generation as far as they are known.
    var knownPosition: (session: Int, generation: Int) { state.withLock { ($0.session, $0.generation) } }

    /// The result of reading the store, for which the first calls wait; `nil` once it has been read.
    private func loading() -> Loading? {
        state.withLock { state in
            guard let store, case .unread(let loading) = state.status else { return nil }
            if let loading { return loading }
            let new = Loading()
            state.status = .unread(new)
            // A separate task, because other calls need the result even if the first call is cancelled.
            Task { new.settle(await self.read(store)) }
            return new
        }
    }

    private func read(_ store: Store) async -> Result<Void, any Error> {
        let stored = await Result.of { try await store.load() }
        let elsewhere = StoredCallServers.elsewhere
        state.withLock { state in
            // Otherwise, another session has started.
            guard case .unread = state.status else { return }
            state.status = if case .failure = stored { .unread(nil) } else { .none }
            if case .success(let stored?) = stored {
                state.owner = CredentialSession(id: stored.session, after: state.owner, callsElsewhere: elsewhere)
                state.hold(stored.credential)
            }
        }
        return stored.map { _ in }
    }

    /// The credential for a call, after any refresh that is due or in progress; `nil` if there is none.
    ///
    /// - Throws: ``RefreshFailure``, or `CancellationError`.
    func lease(in session: Int) async throws -> Lease? {
        let (lease, outcome, generationDueAtOnce) = try state.withLock { state throws(RefreshFailure) in
            (try state.lease(in: session), state.refreshes.running?.refresh.outcome, state.generationDueAtOnce)
        }
        guard let lease else { return nil }
        do {
            if let outcome { return try await outcome.value().get() }
            guard lease.generation != generationDueAtOnce, authenticator.needsRefresh(lease.credential) else {
                return lease
            }
            return try await self.lease(after: lease.generation, in: session, isEarly: true)
        } catch RefreshFailure.passing(_, isEarly: true) where authenticator.canStillUse(lease.credential) {
            return lease
        }
    }

    /// The credential of a session, which may need a refresh; `nil` if there is none.
    ///
    /// - Throws: ``RefreshFailure`` if the session has ended.
    func knownLease(in session: Int) throws -> Lease? { try state.withLock { try $0.lease(in: session) } }

    /// A credential newer than one that the server rejected. It starts a refresh, unless one is in progress or there is
    /// a newer credential.
    ///
    /// - Throws: ``RefreshFailure``, or `CancellationError`.
    func lease(after generation: Int, in session: Int, isEarly: Bool = false) async throws -> Lease {
        let now = elapsedTime.current
        let (lease, outcome) = try state.withLock { state throws(RefreshFailure) -> (Lease, Outcome?) in
            guard let lease = try state.lease(in: session) else { throw .signedOut }
            if lease.generation > generation { return (lease, nil) }
            if let running = state.refreshes.running { return (lease, running.refresh.outcome) }
            let outcome = try state.refreshes.start(of: lease, in: session, isEarly: isEarly, at: now) { refresh in
                // A separate task, which isn't cancelled with its caller, because the server may already have revoked
                // the old credential.
                Task { await self.run(refresh) }
            }
            return (lease, outcome)
        }
        return try await outcome?.value().get() ?? lease
    }
}

// MARK: - Sessions

extension CurrentCredential {
    /// Starts a session with a credential, or without one. A refresh of the old session has no effect.
    ///
    /// - Returns: The credential of the old session.
    /// - Throws: The store's error. The session starts in any case.
    func replace(with credential: Credential?) async throws -> Credential? {
        let (old, change) = enter(credential)
        if let change { try await store?.write(change) }
        return old
    }

    /// The part of ``replace(with:)`` before the change is stored.
    ///
    /// - Returns: The credential of the old session, and the change.
    func enter(_ credential: Credential?) -> (old: Credential?, change: Store.Change?) {
        let elsewhere = credential == nil ? [] : StoredCallServers.elsewhere
        let (old, change) = state.withLock { state in
            let old = state
            let owner: CredentialSession =
                if credential == nil { CredentialSession(id: nil, after: old.owner) } else {
                    .new(after: old.owner, callsElsewhere: elsewhere)
                }
            state.begin(credential, as: owner)
            let contents = credential.map { ($0, owner.identified()) }
            return (old, store?.begin(contents, startsSession: true))
        }
        old.owner.end()
        // After the end of the session, only the sign-out handler is still running, and it may be the code that signs
        // in.
        if let running = old.refreshes.running, case .held = old.status {
            // The cancelled refresh may end immediately, and must not determine the errors of the calls.
            running.refresh.outcome.settle(.failure(.signedOut))
            running.task.cancel()
        }
        return (old.lease?.credential, change)
    }
}
