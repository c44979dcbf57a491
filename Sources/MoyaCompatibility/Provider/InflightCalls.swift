// SPDX-License-Identifier: MIT
import TargetKit

/// The calls that share requests with other calls of equal endpoints.
///
/// Joining is atomic. Cancelling a call doesn't affect the others; cancelling the last one cancels the request. The
/// entry is removed when its call ends, even if there was no request.
final class InflightCalls: Sendable {
    private struct Waiter: Sendable {
        let id: Int
        let completion: Unchecked<Completion>
    }

    private struct Entry: Sendable {
        let call: PendingCall
        let endpoint: Unchecked<Endpoint>
        var waiters: [Waiter]
    }

    private struct State: Sendable {
        var entries: [Endpoint.Content: Entry] = [:]
        /// The entries whose completion handlers are being called.
        var endingEntries: [Endpoint.Content: Entry] = [:]
        var lastID = 0
    }

    private let state = Locked(State())

    /// The completion handlers that wait or are being called, by endpoint.
    var completions: [Endpoint: [Completion]] {
        let entries = state.withLock { state in state.entries.merging(state.endingEntries) { entry, _ in entry } }
        return Dictionary(
            entries.values.map { ($0.endpoint.value, $0.waiters.map(\.completion.value)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Adds a call, and starts its request unless one for an equal endpoint is in flight.
    func join(
        _ endpoint: Endpoint,
        on queue: DispatchQueue?,
        _ completion: @escaping Completion,
        _ start: (PendingCall, @escaping Completion) -> Void
    ) -> any Cancellable {
        // Encoded outside the lock, because this may take long or call the app.
        let (key, shared) = (endpoint.content, Unchecked(endpoint))
        let completion = Unchecked(completion)
        let new = PendingCall()
        let (call, id) = state.withLock { state -> (PendingCall, Int) in
            state.lastID += 1
            let waiter = Waiter(id: state.lastID, completion: completion)
            state.entries[key, default: Entry(call: new, endpoint: shared, waiters: [])].waiters.append(waiter)
            return (state.entries[key]?.call ?? new, waiter.id)
        }
        if call === new {
            start(call) { result in
                for waiter in self.beginEnding(key, of: call) { waiter.completion.value(result) }
                self.end(key, of: call)
            }
        }
        return CancellableToken { self.cancel(id, of: call, key, on: queue) }
    }

    /// Closes the entry of a call, unless another call replaced it. Calls that join afterwards start a new request.
    private func beginEnding(_ key: Endpoint.Content, of call: PendingCall) -> [Waiter] {
        state.withLock { state in
            guard state.entries[key]?.call === call, let entry = state.entries.removeValue(forKey: key) else {
                return []
            }
            state.endingEntries[key] = entry
            return entry.waiters
        }
    }

    /// Removes the entry of a call whose completion handlers have been called.
    private func end(_ key: Endpoint.Content, of call: PendingCall) {
        state.withLock { state in
            if state.endingEntries[key]?.call === call { state.endingEntries[key] = nil }
        }
    }

    private func cancel(_ id: Int, of call: PendingCall, _ key: Endpoint.Content, on queue: DispatchQueue?) {
        let (waiter, isLast) = state.withLock { state -> (Waiter?, Bool) in
            guard let entry = state.entries[key], entry.call === call,
                let index = entry.waiters.firstIndex(where: { $0.id == id })
            else { return (nil, false) }
            // Calls that join afterwards start a new request.
            if entry.waiters.count == 1 { return (state.entries.removeValue(forKey: key)?.waiters[index], true) }
            return (state.entries[key]?.waiters.remove(at: index), false)
        }
        if isLast { call.cancel() }
        guard let waiter else { return }
        (queue ?? .main).async { waiter.completion.value(.failure(.underlying(AFError.explicitlyCancelled, nil))) }
    }
}
