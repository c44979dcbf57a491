// SPDX-License-Identifier: MIT
import TargetKit

/// The readers of an object's events.
final class EventReaders<Event: Sendable>: Sendable {
    private struct State: Sendable {
        var readers: [Int: AsyncStream<Event>.Continuation] = [:]
        var lastReader = 0
        var early: [Event] = []
        var isFinished = false
    }

    private let bufferingPolicy: AsyncStream<Event>.Continuation.BufferingPolicy
    private let earlyLimit: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - bufferingPolicy: The events that a slow reader receives; default: all.
    ///   - earlyLimit: The number of events to store for the first reader; default: 0.
    init(
        bufferingPolicy: AsyncStream<Event>.Continuation.BufferingPolicy = .unbounded,
        earlyLimit: Int = 0
    ) {
        self.bufferingPolicy = bufferingPolicy
        self.earlyLimit = earlyLimit
    }

    /// Sends an event. The event is created only if there is a reader.
    func send(_ event: @autoclosure () -> Event) {
        let isWanted = state.withLock { !$0.readers.isEmpty || $0.lastReader == 0 && earlyLimit > 0 }
        guard isWanted else { return }
        // Created outside the lock, because this can run the app's code.
        let event = event()
        // Under the lock, so that all readers receive events in the same order. `yield` makes no callbacks. Events
        // dropped by a full buffer are released outside the lock.
        _ = state.withLock { state -> [AsyncStream<Event>.Continuation.YieldResult] in
            if state.lastReader == 0 { state.early = (state.early + [event]).suffix(earlyLimit) }
            return state.readers.values.map { $0.yield(event) }
        }
    }

    /// Removes the events that are stored for the first reader, and returns them, because releasing them can run the
    /// app's code.
    func takeEarly() -> [Event] {
        state.withLock { state in
            defer { state.early = [] }
            return state.early
        }
    }

    func stream() -> AsyncStream<Event> {
        let (stream, reader) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: bufferingPolicy)
        let (number, isFinished) = state.withLock { state in
            // The reader isn't shared with another thread yet.
            for event in state.early { reader.yield(event) }
            state.early = []
            state.lastReader += 1
            if !state.isFinished { state.readers[state.lastReader] = reader }
            return (state.lastReader, state.isFinished)
        }
        reader.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: number) }
        }
        if isFinished { reader.finish() }
        return stream
    }

    /// Ends the sequences of all readers, including later ones.
    func finish() {
        let readers = state.withLock { state in
            state.isFinished = true
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
    }
}
