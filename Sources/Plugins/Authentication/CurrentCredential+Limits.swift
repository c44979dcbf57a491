// SPDX-License-Identifier: MIT
import TargetKit

/// The limits of refreshes: their number, for a server that rejects every new credential, and their duration.
package struct RefreshLimit: Sendable, Hashable {
    /// The maximum number of refreshes, including failed ones. Refreshes without a response don't count.
    let count: Int
    /// The interval, measured by the plugin's clock.
    let interval: Duration
    /// The maximum time for which calls wait for a refresh.
    let timeout: Duration

    /// Creates a limit; default: 5 refreshes in 30 seconds, each of at most one minute.
    package init(_ count: Int = 5, within interval: Duration = .seconds(30), timeout: Duration = .seconds(60)) {
        self.count = count
        self.interval = interval
        self.timeout = timeout
    }
}

extension CurrentCredential {
    /// Records that a call was accepted. Refreshes whose credential is accepted don't count toward the limit.
    func noteAcceptance(of generation: Int) {
        state.withLock { state in
            guard let start = state.untestedStart, generation == state.generation else { return }
            state.untestedStart = nil
            state.starts.removeAll { $0 <= start }
        }
    }

    /// Records that a request was rejected with a credential that was refreshed for it.
    func noteRefusal(of request: String, with generation: Int) {
        let refusal = Refusal(generation: generation, time: elapsedTime.current)
        state.withLock { state in
            state.refusals = state.refusals.filter { refusal.time - $0.value.time < limit.interval }
            state.refusals[request] = refusal
        }
    }

    /// Whether the server recently rejected this new credential for the request, so that another refresh wouldn't help.
    func wasRefused(_ request: String, with generation: Int) -> Bool {
        let now = elapsedTime.current
        return state.withLock { state in
            guard let refusal = state.refusals[request] else { return false }
            return refusal.generation == generation && now - refusal.time < limit.interval
        }
    }
}
