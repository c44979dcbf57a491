// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl
import Foundation

/// A call and the continuation that waits for its response.
struct CurlPendingCall: Sendable {
    let call: CurlCall
    let continuation: UnsafeContinuation<TransportResponse, any Error>
    /// The buffer for the lines of the head. The caller allocates it because the caller releases it. Memory that is
    /// allocated and freed on different threads needs a lock of the allocator.
    private var headBuffer: [UInt8] = []
    /// The deadline of the whole exchange, by the ``CurlClock``; `nil` for none.
    var deadline: UInt64?
    /// The number of times that the server refused the request, weighted by ``CurlLoop``.
    var refusals = 0
    /// The number of the host's responses when the request was last sent.
    var responsesBefore = -1

    init(call: CurlCall, continuation: UnsafeContinuation<TransportResponse, any Error>) {
        self.call = call
        self.continuation = continuation
        headBuffer.reserveCapacity(CurlResponseHead.typicalSize)
    }

    /// Moves the buffer out, so that it has one owner.
    mutating func takeHeadBuffer() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &headBuffer)
        return taken
    }

    func fail(with failure: CurlFailure) {
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
        var phase = Phase.open
        var commands: [Command] = []
        /// Whether the loop waits or is about to wait, so that a new command must wake it.
        var isLoopWaiting = false

        /// Whether the loop must be woken; `true` once for each wait.
        mutating func wakesLoop() -> Bool {
            defer { isLoopWaiting = false }
            return isLoopWaiting
        }
    }

    /// An eventfd that becomes readable when the loop must wake up.
    let descriptor = ccurl_eventfd()
    private let state = Locked(State())

    deinit {
        if descriptor >= 0 { Foundation.close(descriptor) }
    }

    /// Passes a call to the loop, or fails it if the transport is shut down.
    func start(_ pending: CurlPendingCall) {
        let (isTaken, wakes) = state.withLock { state in
            guard state.phase == .open else { return (false, false) }
            state.commands.append(.start(pending))
            return (true, state.wakesLoop())
        }
        if wakes { wake() }
        if !isTaken { pending.fail(with: .shutDown) }
    }

    func cancel(_ call: CurlCall) {
        call.isCancelled.store(true, ordering: .releasing)
        post(.cancel(call))
    }

    /// Adds a command, unless the loop ended.
    func post(_ command: Command) {
        let wakes = state.withLock { state in
            guard state.phase != .ended else { return false }
            state.commands.append(command)
            return state.wakesLoop()
        }
        if wakes { wake() }
    }

    func close(_ phase: Phase) {
        let wakes = state.withLock { state in
            if state.phase == .open || state.phase == .draining { state.phase = phase }
            return state.wakesLoop()
        }
        if wakes { wake() }
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

    /// Rejects all further commands, and returns the calls that weren't started.
    func end() -> [CurlPendingCall] {
        state.withLock { state in
            state.phase = .ended
            defer { state.commands = [] }
            return state.commands.compactMap { command in
                if case .start(let pending) = command { pending } else { nil }
            }
        }
    }

    private func wake() {
        eventfd_write(descriptor, 1)
    }
}
#endif
