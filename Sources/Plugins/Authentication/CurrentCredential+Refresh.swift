// SPDX-License-Identifier: MIT
import TargetKit

extension CurrentCredential {
    /// The work of one refresh: renews the credential, takes and stores what has come, and tells those who wait.
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

    /// Takes the new credential for the session, and stores it; `nil` when the session is over.
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

    /// Ends the session; `false` when it is over already, or another one has begun while the store was cleared.
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

    /// Keeps what a refresh has failed by in passing. It does not count when the server has not answered: it was not the server
    /// that made the call fail, and the next one may find the network back.
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
    /// Stores a change; one that fails is tried again by ``storeUnsaved()``, unless another comes before.
    func write(_ credential: Credential?, change: Int) async throws {
        do {
            try await credentialStore.write(credential, change: change)
        } catch {
            state.withLock { if $0.changeCount == change { $0.isUnsaved = true } }
            throw error
        }
    }

    /// Tries again to store what could not be stored: the server may have taken back the credential that is there. That it
    /// fails once more is not reported.
    func storeUnsaved() async {
        let unsaved = state.withLock { state -> (credential: Credential?, change: Int)? in
            guard state.isUnsaved else { return nil }
            let change = state.nextChange()
            return (Self.lease(in: state)?.credential, change)
        }
        if let unsaved { try? await write(unsaved.credential, change: unsaved.change) }
    }
}

/// How often a credential is renewed at most, so that a server that rejects each new one is not asked for ever.
public struct RefreshLimit: Sendable, Hashable {
    /// The number of refreshes, those that failed included; one that got no answer from the server does not count.
    let count: Int
    /// The time within which they are counted, by the plugin's clock.
    let interval: Duration

    /// A limit; default: 5 in 30 seconds.
    public init(_ count: Int = 5, within interval: Duration = .seconds(30)) {
        self.count = count
        self.interval = interval
    }
}

/// In which refreshes the code of a task runs.
enum RefreshTask {
    /// What started them, as identities of ``CurrentCredential``s, each with the number of its refresh: a task that was begun in
    /// one may outlive it.
    @TaskLocal static var current: [ObjectIdentifier: Int] = [:]
}
