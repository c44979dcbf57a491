// SPDX-License-Identifier: MIT
import TargetKit

extension CurrentCredential {
    /// Performs a refresh, stores the new credential, and resumes the waiting calls.
    func run(_ refresh: Refresh) async {
        let timer = Task {
            guard (try? await clock.wait(for: limit.timeout)) != nil else { return }
            expire(refresh)
        }
        let work = { @Sendable in
            await Result.of { () async throws(RefreshFailure) in try await self.conclude(refresh) }
        }
        // The lock includes the change of the store, but not the sign-out handler, which may wait for the user.
        let conclusion = if let store { try? await store.withRefreshLock(work) } else { await work() }
        timer.cancel()
        var result = conclusion ?? .failure(refresh.failure(AuthenticationError.refreshCancelled))
        if case .failure(.ended(let error)) = result {
            let (isCurrent, isOwn) = state.withLock { ($0.session == refresh.session, $0.isEnded(by: refresh)) }
            if isOwn { await signOut(error) }
            result = .failure(isCurrent ? .ended(error.withoutExchange) : .signedOut)
        }
        state.withLock { _ = $0.refreshes.end(refresh) }
        refresh.outcome.settle(result)
    }

    /// Refreshes the credential, unless another process has changed the store.
    private func conclude(_ refresh: Refresh) async throws(RefreshFailure) -> Lease {
        var credential = refresh.lease.credential
        // A store that can't be read may still contain the credential.
        let before = (try? await comparison(with: credential, of: refresh)) ?? .same
        if case .refreshed(let other, _) = before, authenticator.needsRefresh(other.credential) {
            credential = other.credential
        } else if let lease = try await follow(before, refresh) {
            return lease
        }
        let new: Credential
        do {
            let refreshes = RefreshTask.current + [(ObjectIdentifier(self), refresh.number)]
            new = try await RefreshTask.$current.withValue(refreshes) { [credential] in
                try await authenticator.refresh(credential)
            }
        } catch  where error.isCancellation {
            throw refresh.failure(AuthenticationError.refreshCancelled)
        } catch  where authenticator.endsSession(error) {
            return try await end(refresh, of: credential, error)
        } catch {
            state.withLock { $0.refreshes.fail(refresh, error) }
            throw refresh.failure(error.withoutExchange)
        }
        let after = (try? await comparison(with: credential, of: refresh)) ?? .same
        // Without identifiers of sessions, the stored credential may be another user's.
        if case .refreshed(_, isSameSession: true) = after { return try await keep(new, of: refresh) }
        if let lease = try await follow(after, refresh) { return lease }
        return try await keep(new, of: refresh)
    }

    private func comparison(with credential: Credential, of refresh: Refresh) async throws -> Store.Comparison {
        try await store?.comparison(with: credential, of: refresh.lease.owner) ?? .same
    }
}

// MARK: - The end of a refresh

extension CurrentCredential {
    /// Replaces and stores the credential, unless the session has ended, or a later refresh has completed.
    private func keep(_ credential: Credential, of refresh: Refresh) async throws(RefreshFailure) -> Lease {
        let isDue = authenticator.needsRefresh(credential)
        let (lease, change) = try state.withLock { state throws(RefreshFailure) -> (Lease, Store.Change?) in
            let old = try state.lease(of: refresh)
            guard state.refreshes.isLatest(refresh) else { return (old, nil) }
            let lease = state.hold(credential)
            if isDue { state.generationDueAtOnce = lease.generation }
            state.refreshes.keep(refresh, generation: lease.generation)
            return (lease, store?.begin((credential, lease.owner.identified())))
        }
        await write(change)
        return lease
    }

    /// Takes over what another process stored in place of the credential; `nil` if none did.
    ///
    /// - Parameter error: The reason for the end of the session if that process signed out.
    private func follow(
        _ comparison: Store.Comparison,
        _ refresh: Refresh,
        signedOut error: any Error = AuthenticationError.signedOutElsewhere
    ) async throws(RefreshFailure) -> Lease? {
        switch comparison {
        case .same: nil
        case .refreshed(let other, _): try adopt(other, refresh)
        case .replaced(let other): try enter(other, after: refresh)
        case .cleared: try await end(refresh, error, clearsStore: false)
        }
    }

    /// Uses a credential that another process stored.
    private func adopt(_ other: Store.Stored, _ refresh: Refresh) throws(RefreshFailure) -> Lease {
        let elsewhere = StoredCallServers.elsewhere
        return try state.withLock { state throws(RefreshFailure) in
            if let lease = try state.successor(of: refresh) { return lease }
            // Without an identifier, it may be another user's.
            if other.session == nil || other.session != state.owner.id {
                state.owner = .adopted(id: other.session, after: state.owner, callsElsewhere: elsewhere)
            }
            state.refreshes.adopt(refresh)
            return state.hold(other.credential, isAdopted: true)
        }
    }

    /// Continues with the session that another process started. The calls of the previous session end.
    private func enter(_ other: Store.Stored, after refresh: Refresh) throws(RefreshFailure) -> Lease {
        let elsewhere = StoredCallServers.elsewhere
        let lease = try state.withLock { state throws(RefreshFailure) -> Lease? in
            if let lease = try state.successor(of: refresh) { return lease }
            let owner = CredentialSession.adopted(id: other.session, after: state.owner, callsElsewhere: elsewhere)
            state.begin(other.credential, as: owner)
            return nil
        }
        if let lease { return lease }
        refresh.lease.owner.end()
        throw .signedOut
    }

    /// Ends the session and clears the store after a permanent failure, unless another process stored a different
    /// credential.
    private func end(_ refresh: Refresh, of credential: Credential, _ error: any Error) async throws(RefreshFailure)
        -> Lease
    {
        let comparison = await Result.of { try await self.comparison(with: credential, of: refresh) }
        // A credential that can't be read must not be removed, because it may be a newer one.
        let stored = try comparison.mapError { refresh.failure($0) }.get()
        if let lease = try await follow(stored, refresh, signedOut: error) { return lease }
        return try await end(refresh, error, clearsStore: true)
    }

    /// Ends the session, unless there is a newer credential.
    private func end(_ refresh: Refresh, _ error: any Error, clearsStore: Bool) async throws(RefreshFailure) -> Lease {
        let (lease, change) = try state.withLock { state throws(RefreshFailure) -> (Lease?, Store.Change?) in
            if let lease = try state.successor(of: refresh) { return (lease, nil) }
            state.status = .ended(error.withoutExchange, by: refresh.number)
            return (nil, clearsStore ? store?.begin(nil) : nil)
        }
        if let lease { return lease }
        refresh.lease.owner.end()
        await write(change)
        throw .ended(error)
    }

    /// Stores a change, and reports a failure.
    private func write(_ change: Store.Change?) async {
        guard let store, let change else { return }
        do { try await store.write(change) } catch { onStoreFailure(error) }
    }

    /// Ends the wait for a refresh that times out. If the refresh succeeds later, its credential is stored.
    private func expire(_ refresh: Refresh) {
        let end = state.withLock { state -> (task: Task<Void, Never>, result: Result<Lease, RefreshFailure>)? in
            guard let task = state.refreshes.end(refresh) else { return nil }
            state.refreshes.forget(refresh)
            let result = Result { () throws(RefreshFailure) in
                // Otherwise, only the store is slow.
                if let lease = try state.successor(of: refresh) { return lease }
                throw refresh.failure(AuthenticationError.refreshTimedOut(limit.timeout))
            }
            return (task, result)
        }
        guard let end else { return }
        // The cancelled refresh may end immediately, and must not determine the errors of the calls.
        refresh.outcome.settle(end.result)
        end.task.cancel()
    }
}

/// The refreshes to which a task belongs.
package enum RefreshTask {
    /// The identity of each refresh's ``CurrentCredential``, and the number of the refresh, the innermost last. The
    /// number is necessary because a task can outlive the refresh in which it started.
    @TaskLocal static var current: [(credential: ObjectIdentifier, number: Int)] = []

    /// The number of the innermost refresh of a ``CurrentCredential`` to which the task belongs; `nil` if there is none.
    static func number(of credential: AnyObject) -> Int? {
        current.last { $0.credential == ObjectIdentifier(credential) }?.number
    }

    /// Whether the code runs within a refresh, for example to request a new token.
    package static var isCurrent: Bool { !current.isEmpty }
}
