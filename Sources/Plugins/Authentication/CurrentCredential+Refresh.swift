// SPDX-License-Identifier: MIT
import TargetKit

extension CurrentCredential {
    /// Performs a refresh: gets the new credential, stores it, and resumes the calls that wait for it.
    func run(_ refresh: Int, _ outcome: Outcome, _ credential: Credential, isEarly: Bool) async {
        let result: Result<Lease, RefreshFailure>?
        do {
            let refreshes = RefreshTask.current.merging([ObjectIdentifier(self): refresh]) { $1 }
            let renewed = try await RefreshTask.$current.withValue(refreshes) {
                try await authenticator.refresh(credential)
            }
            result = await keep(renewed, of: refresh).map { .success($0) }
        } catch  where error.isCancellation {
            result = .failure(.passing(AuthenticationError.refreshCancelled, isEarly: isEarly))
        } catch  where authenticator.endsSession(error) {
            result = await end(refresh, error) ? .failure(.ended(error.withoutExchange)) : nil
        } catch {
            note(error, of: refresh)
            result = .failure(.passing(error.withoutExchange, isEarly: isEarly))
        }
        state.withLock { if $0.refresh?.number == refresh { $0.refresh = nil } }
        outcome.settle(result ?? .failure(.signedOut))
    }

    /// Replaces the credential of the session, and stores it; `nil` if the session has ended.
    private func keep(_ credential: Credential, of refresh: Int) async -> Lease? {
        let kept = state.withLock { state -> (lease: Lease, change: Int)? in
            guard state.refresh?.number == refresh else { return nil }
            state.generation += 1
            state.status = .held(credential)
            state.lastFailure = nil
            return (Lease(credential: credential, generation: state.generation), state.nextChange())
        }
        guard let kept else { return nil }
        await store(credential, change: kept.change)
        return kept.lease
    }

    /// Ends the session; `false` if it has ended already, or another one has begun while the store was cleared.
    private func end(_ refresh: Int, _ error: any Error) async -> Bool {
        let change = state.withLock { state -> Int? in
            guard state.refresh?.number == refresh else { return nil }
            state.status = .ended(error.withoutExchange)
            return state.nextChange()
        }
        guard let change else { return false }
        await store(nil, change: change)
        guard state.withLock({ $0.refresh?.number == refresh }) else { return false }
        await signOut(error)
        return true
    }

    /// Keeps the error of a transient failure. A refresh without a response does not count towards the limit.
    private func note(_ error: any Error, of refresh: Int) {
        state.withLock { state in
            guard let running = state.refresh, running.number == refresh else { return }
            if error.isWithoutAnswer {
                if let index = state.starts.firstIndex(of: running.start) { state.starts.remove(at: index) }
            } else {
                state.lastFailure = error.withoutExchange
            }
        }
    }

    private func store(_ credential: Credential?, change: Int) async {
        do {
            try await write(credential, change: change)
        } catch {
            onStoreFailure(error)
        }
    }
}

// MARK: - The store

extension CurrentCredential {
    /// Stores a change. If that fails, ``storeUnsaved()`` tries again, unless there is another change before.
    func write(_ credential: Credential?, change: Int) async throws {
        do {
            try await credentialStore.write(credential, change: change)
        } catch {
            state.withLock { if $0.changeCount == change { $0.isUnsaved = true } }
            throw error
        }
    }

    /// Tries again to store a credential that could not be stored: the server may have revoked the one in the store. A
    /// further failure is not reported.
    func storeUnsaved() async {
        let unsaved = state.withLock { state -> (credential: Credential?, change: Int)? in
            guard state.isUnsaved else { return nil }
            let change = state.nextChange()
            return (Self.lease(in: state)?.credential, change)
        }
        if let unsaved { try? await write(unsaved.credential, change: unsaved.change) }
    }
}

/// The maximum number of refreshes in an interval, for a server that rejects every new credential.
package struct RefreshLimit: Sendable, Hashable {
    /// The number of refreshes, including failed ones; refreshes without a response do not count.
    let count: Int
    /// The interval, by the plugin's clock.
    let interval: Duration

    /// Creates a limit; default: 5 in 30 seconds.
    package init(_ count: Int = 5, within interval: Duration = .seconds(30)) {
        self.count = count
        self.interval = interval
    }
}

/// The refreshes that a task is part of.
enum RefreshTask {
    /// By the identity of the ``CurrentCredential``, the number of its refresh: a task that began in a refresh may
    /// outlive it.
    @TaskLocal static var current: [ObjectIdentifier: Int] = [:]
}
