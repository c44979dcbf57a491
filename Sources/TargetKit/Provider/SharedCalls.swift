// SPDX-License-Identifier: MIT

/// The network calls of a provider that several calls wait for.
///
/// A network call runs in a task of its own, so that it does not end with the call that began it. Joining and leaving are
/// decided under one lock: a network call whose last waiter has left is not joined any more.
final class SharedCalls: Sendable {
    private typealias Continuation = UnsafeContinuation<ExchangeEnding?, Never>
    private typealias Progress = @Sendable (TransferProgress) -> Void

    private enum Waiter: Sendable {
        case arriving
        case waiting(Continuation)
    }

    private struct Flight: Sendable {
        let key: SharedCallKey
        let handle: RequestHandle
        var waiters: [RequestContext.ID: Waiter]
        var listeners: [RequestContext.ID: Progress] = [:]
        var latest: [TransferProgress.Direction: TransferProgress] = [:]
        /// What came, for waiters that had joined and did not yet wait.
        var ending: ExchangeEnding?
    }

    private struct Table: Sendable {
        /// By the call that began it.
        var flights: [RequestContext.ID: Flight] = [:]
        var byKey: [SharedCallKey: RequestContext.ID] = [:]

        /// Nobody joins it any more; another one of the same key may have taken its place already.
        mutating func forget(_ flight: Flight, _ id: RequestContext.ID) {
            if byKey[flight.key] == id { byKey[flight.key] = nil }
        }
    }

    private let table = Locked(Table())

    /// The number of network calls in flight.
    var count: Int { table.withLock(\.flights.count) }

    /// The number of calls that wait for them.
    var waiterCount: Int { table.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Joins the network call for the same, or begins one; returns what it brings, or `nil` when the caller has left before.
    ///
    /// - Parameters:
    ///   - key: What the call asks for.
    ///   - id: The call that asks.
    ///   - progress: Is told of the network call's progress, also of the latest step before it joined.
    ///   - begin: The network call. It gets its handle, and whom to tell of its progress.
    func ending(
        for key: SharedCallKey,
        id: RequestContext.ID,
        progress: (@Sendable (TransferProgress) -> Void)?,
        begin:
            @escaping @Sendable (RequestHandle, @escaping @Sendable (TransferProgress) -> Void) async -> ExchangeEnding
    ) async -> ExchangeEnding? {
        let (flight, handle) = join(key, id, progress)
        if let handle {
            handle.attach(
                Task.startingNow {
                    self.finish(flight, await begin(handle) { self.report($0, of: flight) })
                }
            )
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { wait(id, for: flight, $0) }
        } onCancel: {
            leave(id, flight)
        }
    }

    /// The network call to wait for, and its handle when it has yet to begin.
    private func join(
        _ key: SharedCallKey,
        _ id: RequestContext.ID,
        _ progress: Progress?
    ) -> (flight: RequestContext.ID, toBegin: RequestHandle?) {
        let (flight, handle, steps) = table.withLock { table in
            if let known = table.byKey[key], var flight = table.flights.removeValue(forKey: known) {
                flight.waiters[id] = .arriving
                flight.listeners[id] = progress
                let steps = Array(flight.latest.values)
                table.flights[known] = flight
                return (known, RequestHandle?.none, steps)
            }
            let handle = RequestHandle()
            var flight = Flight(key: key, handle: handle, waiters: [id: .arriving])
            flight.listeners[id] = progress
            table.flights[id] = flight
            table.byKey[key] = id
            return (id, handle, [])
        }
        if let progress { for step in steps { progress(step) } }
        return (flight, handle)
    }

    private func wait(_ id: RequestContext.ID, for flight: RequestContext.ID, _ continuation: Continuation) {
        let ending: ExchangeEnding?? = table.withLock { table in
            guard table.flights[flight]?.waiters[id] != nil else { return .some(nil) }
            guard let ending = table.flights[flight]?.ending else {
                table.flights[flight]?.waiters[id] = .waiting(continuation)
                return nil
            }
            table.flights[flight]?.waiters[id] = nil
            if table.flights[flight]?.waiters.isEmpty == true { table.flights[flight] = nil }
            return ending
        }
        if let ending { continuation.resume(returning: ending) }
    }

    /// Lets one waiter go. The last one cancels the network call and stays to see its end, so that the hooks of its call come
    /// in their order.
    private func leave(_ id: RequestContext.ID, _ flight: RequestContext.ID) {
        let (handle, continuation) = table.withLock { table -> (RequestHandle?, Continuation?) in
            guard var left = table.flights[flight], left.ending == nil, let waiter = left.waiters[id] else {
                return (nil, nil)
            }
            guard left.waiters.count > 1 else {
                table.forget(left, flight)
                return (left.handle, nil)
            }
            left.waiters[id] = nil
            left.listeners[id] = nil
            table.flights[flight] = left
            if case .waiting(let continuation) = waiter { return (nil, continuation) }
            return (nil, nil)
        }
        handle?.cancel()
        continuation?.resume(returning: nil)
    }

    private func finish(_ flight: RequestContext.ID, _ ending: ExchangeEnding) {
        let continuations = table.withLock { table -> [Continuation] in
            guard var ended = table.flights.removeValue(forKey: flight) else { return [] }
            table.forget(ended, flight)
            var continuations: [Continuation] = []
            for case (let id, .waiting(let continuation)) in ended.waiters {
                continuations.append(continuation)
                ended.waiters[id] = nil
            }
            if !ended.waiters.isEmpty {
                ended.ending = ending
                ended.listeners = [:]
                table.flights[flight] = ended
            }
            return continuations
        }
        for continuation in continuations { continuation.resume(returning: ending) }
    }

    private func report(_ step: TransferProgress, of flight: RequestContext.ID) {
        let listeners = table.withLock { table -> [Progress] in
            table.flights[flight]?.latest[step.direction] = step
            return table.flights[flight].map { Array($0.listeners.values) } ?? []
        }
        for listener in listeners { listener(step) }
    }
}
