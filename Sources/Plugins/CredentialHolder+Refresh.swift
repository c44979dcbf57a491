// SPDX-License-Identifier: MIT
import TargetKit

extension CredentialHolder {
    /// The work of one refresh: renews the credential, takes and stores what has come, and tells those who wait.
    func run(_ flight: Int, _ outcome: Outcome, _ credential: Credential, isEarly: Bool) async {
        let result: Result<Lease, RefreshFailure>?
        do {
            let holders = RefreshTask.holders.union([ObjectIdentifier(self)])
            let renewed = try await RefreshTask.$holders.withValue(holders) {
                try await authenticator.refresh(credential)
            }
            result = await keep(renewed, of: flight).map { .success($0) }
        } catch  where error.isCancellation {
            result = .failure(.passing(AuthenticationError.refreshCancelled, isEarly: isEarly))
        } catch  where authenticator.endsSession(error) {
            await end(flight, error)
            result = .failure(.ended(error))
        } catch {
            result = .failure(.passing(error, isEarly: isEarly))
        }
        state.withLock { if $0.flight?.number == flight { $0.flight = nil } }
        outcome.settle(result ?? .failure(.signedOut))
    }

    /// Takes the new credential for the session, and stores it; `nil` when the session is over.
    private func keep(_ credential: Credential, of flight: Int) async -> Lease? {
        let kept = state.withLock { state -> (lease: Lease, change: Int)? in
            guard state.flight?.number == flight else { return nil }
            state.generation += 1
            state.holding = .held(credential)
            return (Lease(credential: credential, generation: state.generation), state.nextChange())
        }
        guard let kept else { return nil }
        await store(credential, change: kept.change)
        return kept.lease
    }

    /// Ends the session, unless it is over already.
    private func end(_ flight: Int, _ error: any Error) async {
        let change = state.withLock { state -> Int? in
            guard state.flight?.number == flight else { return nil }
            state.holding = .ended(error)
            return state.nextChange()
        }
        guard let change else { return }
        await store(nil, change: change)
        await signOut(error)
    }

    private func store(_ credential: Credential?, change: Int) async {
        do {
            try await vault.write(credential, change: change)
        } catch {
            onStoreFailure(error)
        }
    }
}
