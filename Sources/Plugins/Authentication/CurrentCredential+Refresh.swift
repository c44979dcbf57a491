// SPDX-License-Identifier: MIT
import TargetKit

extension CurrentCredential {
    /// The result of a refresh.
    private enum Conclusion: Sendable {
        case settled(Result<Lease, RefreshFailure>)
        /// The session ended. The sign-out handler hasn't been called yet.
        case ended(any Error)
    }

    /// Performs a refresh, stores the new credential, and resumes the waiting calls.
    func run(_ refresh: Refresh) async {
        let timer = Task {
            guard (try? await clock.wait(for: limit.timeout)) != nil else { return }
            expire(refresh)
        }
        let conclusion: Conclusion
        do {
            // The lock includes the change of the store, but not the sign-out handler, which may wait for the user.
            conclusion = try await withRefreshLock { await self.conclude(refresh) }
        } catch {
            conclusion = .settled(passing(AuthenticationError.refreshCancelled, refresh: refresh))
        }
        timer.cancel()
        let result: Result<Lease, RefreshFailure>
        switch conclusion {
        case .settled(let settled): result = settled
        case .ended(let error):
            let isCurrent = state.withLock { $0.session == refresh.session }
            if isCurrent { await signOut(error) }
            result = .failure(isCurrent ? .ended(error.withoutExchange) : .signedOut)
        }
        state.withLock { if $0.running?.refresh.number == refresh.number { $0.running = nil } }
        refresh.outcome.settle(result)
    }

    private func conclude(_ refresh: Refresh) async -> Conclusion {
        var credential = refresh.credential
        switch await comparison(with: credential, of: refresh) {
        case .same: break
        case .refreshed(let other, _) where authenticator.needsRefresh(other.credential): credential = other.credential
        case .refreshed(let other, _): return .settled(adopt(other, refresh: refresh))
        case .replaced(let other): return .settled(enter(other, after: refresh))
        case .cleared: return cleared(refresh)
        }
        do {
            let refreshes = RefreshTask.current.merging([ObjectIdentifier(self): refresh.number]) { $1 }
            let renewed = try await RefreshTask.$current.withValue(refreshes) { [credential] in
                try await authenticator.refresh(credential)
            }
            return await keep(renewed, of: refresh, inPlaceOf: credential)
        } catch  where error.isCancellation {
            return .settled(passing(AuthenticationError.refreshCancelled, refresh: refresh))
        } catch  where authenticator.endsSession(error) {
            return await end(refresh, of: credential, error)
        } catch {
            note(error, of: refresh)
            return .settled(passing(error.withoutExchange, refresh: refresh))
        }
    }

    private func passing(_ error: any Error, refresh: Refresh) -> Result<Lease, RefreshFailure> {
        .failure(.passing(error, isEarly: refresh.isEarly))
    }

    /// The result of a refresh if the credential was changed in another way.
    private func superseded(_ refresh: Refresh) -> Result<Lease, RefreshFailure> {
        state.withLock { state in
            guard state.session == refresh.session else { return .failure(.signedOut) }
            if case .ended(let error) = state.status { return .failure(.ended(error)) }
            return Self.lease(in: state).map { .success($0) } ?? .failure(.signedOut)
        }
    }
}

// MARK: - The end of a refresh

extension CurrentCredential {
    /// Replaces and stores the credential of the session, unless the session ended in this or another process, or a
    /// later refresh has completed.
    private func keep(_ credential: Credential, of refresh: Refresh, inPlaceOf old: Credential) async -> Conclusion {
        switch await comparison(with: old, of: refresh) {
        case .same, .refreshed(_, isSameSession: true): break
        // Without session identifiers, it may be another user's.
        case .refreshed(let other, _): return .settled(adopt(other, refresh: refresh))
        case .replaced(let other): return .settled(enter(other, after: refresh))
        case .cleared: return cleared(refresh)
        }
        let kept = state.withLock { state -> (lease: Lease, change: Change)? in
            guard state.session == refresh.session, case .held = state.status, refresh.number > state.keptRefresh
            else { return nil }
            state.generation += 1
            state.status = .held(credential)
            state.keptRefresh = refresh.number
            state.untestedStart = refresh.start
            state.lastFailure = nil
            let lease = Lease(credential: credential, generation: state.generation, owner: state.owner)
            let contents = IdentifiedCredential(credential, session: state.owner.identified())
            return (lease, Change(number: state.nextChange(), contents: contents))
        }
        guard let kept else { return .settled(superseded(refresh)) }
        await store(kept.change)
        return .settled(.success(kept.lease))
    }

    /// Uses a credential that another process stored. This doesn't count toward the limit of refreshes.
    private func adopt(
        _ other: IdentifiedCredential<Credential>,
        refresh: Refresh
    ) -> Result<Lease, RefreshFailure> {
        let lease = state.withLock { state -> Lease? in
            guard state.session == refresh.session, state.generation == refresh.generation, case .held = state.status
            else { return nil }
            state.generation += 1
            state.status = .held(other.credential)
            state.adoptedGeneration = state.generation
            // Without an identifier, it may be another user's.
            if other.session == nil || other.session != state.owner.id {
                state.owner = .adopted(id: other.session, after: state.owner)
            }
            state.keptRefresh = refresh.number
            state.lastFailure = nil
            Self.forget(refresh, in: &state)
            return Self.lease(in: state)
        }
        return lease.map { .success($0) } ?? superseded(refresh)
    }

    /// Continues with the session that another process started. The calls of the previous session end.
    private func enter(
        _ other: IdentifiedCredential<Credential>,
        after refresh: Refresh
    ) -> Result<Lease, RefreshFailure> {
        let old = state.withLock { state -> CredentialSession? in
            guard state.session == refresh.session, case .held = state.status else { return nil }
            defer {
                state.begin(other.credential, as: .adopted(id: other.session, after: state.owner))
                state.wasInStore = true
            }
            return state.owner
        }
        old?.end()
        return old == nil ? superseded(refresh) : .failure(.signedOut)
    }

    /// Ends the session, because another process signed out.
    private func cleared(_ refresh: Refresh) -> Conclusion {
        let error = AuthenticationError.signedOutElsewhere
        return end(refresh, error: error) == nil ? .settled(superseded(refresh)) : .ended(error)
    }

    /// Ends the session and clears the store, unless another process stored a different credential.
    private func end(_ refresh: Refresh, of credential: Credential, _ error: any Error) async -> Conclusion {
        let isCleared: Bool
        do {
            switch try await stored(comparedTo: credential, of: refresh) {
            case .refreshed(let other, _): return .settled(adopt(other, refresh: refresh))
            case .replaced(let other): return .settled(enter(other, after: refresh))
            case .same: isCleared = false
            case .cleared: isCleared = true
            }
        } catch {
            // A credential that can't be read must not be removed, because it may be a newer one.
            return .settled(passing(error, refresh: refresh))
        }
        guard let change = end(refresh, error: error) else { return .settled(superseded(refresh)) }
        if !isCleared { await store(Change(number: change, contents: nil)) }
        return .ended(error)
    }

    /// Ends the session, and returns the number of the change; `nil` if the session has already ended, or there is a
    /// newer credential.
    private func end(_ refresh: Refresh, error: any Error) -> Int? {
        let ended = state.withLock { state -> (change: Int, owner: CredentialSession)? in
            guard state.session == refresh.session, state.generation == refresh.generation, case .held = state.status
            else { return nil }
            state.status = .ended(error.withoutExchange)
            return (state.nextChange(), state.owner)
        }
        ended?.owner.end()
        return ended?.change
    }

    /// Ends the wait for a refresh that times out. If the refresh succeeds later, its credential is stored.
    private func expire(_ refresh: Refresh) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard let running = state.running, running.refresh.number == refresh.number else { return nil }
            state.running = nil
            Self.forget(refresh, in: &state)
            return running.task
        }
        guard let task else { return }
        task.cancel()
        let isUnchanged = state.withLock { state in
            guard state.generation == refresh.generation, case .held = state.status else { return false }
            return true
        }
        // Otherwise, only the store is slow.
        let failure = passing(AuthenticationError.refreshTimedOut(limit.timeout), refresh: refresh)
        refresh.outcome.settle(isUnchanged ? failure : superseded(refresh))
    }

    /// Stores the error of a transient failure. A refresh without a response doesn't count toward the limit.
    private func note(_ error: any Error, of refresh: Refresh) {
        state.withLock { state in
            guard state.running?.refresh.number == refresh.number else { return }
            if error.isWithoutAnswer {
                Self.forget(refresh, in: &state)
            } else {
                state.lastFailure = error.withoutExchange
            }
        }
    }

    private static func forget(_ refresh: Refresh, in state: inout State) {
        if let index = state.starts.firstIndex(of: refresh.start) { state.starts.remove(at: index) }
    }
}

/// The refreshes to which a task belongs.
package enum RefreshTask {
    /// The number of the refresh by the identity of its ``CurrentCredential``. The number is necessary because a task
    /// can outlive the refresh in which it started.
    @TaskLocal static var current: [ObjectIdentifier: Int] = [:]

    /// Whether the code runs within a refresh, for example to request a new token.
    package static var isCurrent: Bool { !current.isEmpty }
}
