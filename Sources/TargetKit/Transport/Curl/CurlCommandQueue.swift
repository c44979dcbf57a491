// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// A call and the continuation that waits for its response.
struct CurlPendingCall: Sendable {
    let call: CurlCall
    let continuation: UnsafeContinuation<TransportResponse, any Error>
    /// The deadline of the whole exchange, by the ``CurlClock``; `nil` for none.
    var deadline: UInt64?
    /// The number of times that the server refused the request, weighted by ``CurlLoop``.
    var refusals = 0
    /// The number of the host's responses when the request was last sent.
    var responsesBefore = -1

    func fail(with failure: TransportFailure) {
        continuation.resume(throwing: failure)
    }
}

/// The commands that any thread sends to the loop, the only state that callers and the loop share.
final class CurlCommandQueue: Sendable {
    enum Command: Sendable {
        case start(CurlPendingCall)
        case cancel(CurlCall)
        /// The reader or the writer of a streamed body can continue.
        case resume(CurlCall)
        /// The tasks of an upgraded connection requested work.
        case work(CurlChannel)
    }

    /// The state of the transport.
    enum Phase: Sendable {
        /// There was no call yet, so that there is no loop.
        case unused
        /// Calls are accepted.
        case open
        /// The loop ends after its last call.
        case draining
        /// The loop cancels its calls and ends.
        case closing
        /// The loop ended.
        case ended
    }

    private struct State: Sendable {
        var phase = Phase.unused
        var commands: [Command] = []
        /// The eventfd of the loop; -1 before the loop starts.
        var descriptor: Int32 = -1
        /// Whether the loop waits or is about to wait, so that a new command must wake it.
        var isLoopWaiting = false
    }

    private let state = Locked(State())

    deinit {
        let descriptor = descriptor
        if descriptor >= 0 { Foundation.close(descriptor) }
    }

    /// An eventfd that becomes readable when the loop must wake up; -1 before the loop starts.
    var descriptor: Int32 { state.withLock(\.descriptor) }

    /// Passes a call to the loop, or fails it if the transport is shut down.
    ///
    /// - Returns: Whether the caller must start the loop, because this is the first call.
    func start(_ pending: CurlPendingCall) -> Bool {
        let (isTaken, isFirst) = wakingLoop { state in
            let isFirst = state.phase == .unused
            if isFirst { state.phase = .open }
            guard state.phase == .open else { return (false, false) }
            state.commands.append(.start(pending))
            return (true, isFirst)
        }
        if !isTaken { pending.fail(with: .shutDown) }
        return isFirst
    }

    /// Opens the descriptor for a loop, and returns it.
    func open() -> Int32 {
        state.withLock { state in
            if state.descriptor < 0 { state.descriptor = ccurl_eventfd() }
            return state.descriptor
        }
    }

    func cancel(_ call: CurlCall) {
        call.isCancelled.store(true, ordering: .releasing)
        post(.cancel(call))
    }

    /// Adds a command, unless the loop ended.
    func post(_ command: Command) {
        wakingLoop { if $0.phase != .ended { $0.commands.append(command) } }
    }

    func close(_ phase: Phase) {
        wakingLoop { state in
            switch state.phase {
            case .unused: state.phase = .ended
            case .open, .draining: state.phase = phase
            case .closing, .ended: break
            }
        }
    }

    /// Moves all commands, on the loop's thread, into an empty array that retains its capacity.
    func take(_ commands: inout [Command]) -> Phase {
        state.withLock { state in
            state.isLoopWaiting = false
            swap(&state.commands, &commands)
            return state.phase
        }
    }

    /// Announces that the loop will wait; returns `false` if there are commands or the phase changed.
    func prepareToWait(in phase: Phase) -> Bool {
        state.withLock { state in
            state.isLoopWaiting = state.commands.isEmpty && state.phase == phase
            return state.isLoopWaiting
        }
    }

    /// Ends the queue if it has no commands; returns `false` otherwise.
    func endWhenEmpty() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.phase = .ended
            return true
        }
    }

    /// Returns the calls that weren't started. Rejects all further commands, unless there was no loop, so that the next
    /// call starts one.
    func end(_ phase: Phase = .ended) -> [CurlPendingCall] {
        state.withLock { state in
            state.phase = state.phase == .open ? phase : .ended
            defer { state.commands = [] }
            return state.commands.compactMap { command in
                if case .start(let pending) = command { pending } else { nil }
            }
        }
    }

    /// Changes the state, and wakes the loop, once for each wait.
    private func wakingLoop<Value>(after change: (inout State) -> Value) -> Value {
        let (value, descriptor) = state.withLock { state in
            let descriptor = state.isLoopWaiting ? state.descriptor : -1
            state.isLoopWaiting = false
            return (change(&state), descriptor)
        }
        if descriptor >= 0 { eventfd_write(descriptor, 1) }
        return value
    }
}
#endif
