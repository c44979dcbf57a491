// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl
import Foundation

/// A call together with who waits for it.
struct CurlStart: Sendable {
    let call: CurlCall
    let continuation: UnsafeContinuation<TransportResponse, any Error>
    /// Where the lines of the head will be. The caller makes it, because the caller will let go of it: memory that one thread
    /// takes and another gives back goes through a lock of the allocator.
    private var room: [UInt8] = []
    /// The deadline of the whole exchange, by the ``CurlClock``; `nil` for none.
    var deadline: UInt64?
    /// The number of times a server has refused the request.
    var refusals = 0

    init(call: CurlCall, continuation: UnsafeContinuation<TransportResponse, any Error>) {
        self.call = call
        self.continuation = continuation
        room.reserveCapacity(CurlHead.usualSize)
    }

    /// Hands out the room, which has one owner only.
    mutating func takeRoom() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &room)
        return taken
    }

    func fail(with failure: CurlFailure) {
        continuation.resume(throwing: failure.error(for: call.url))
    }
}

/// What the loop is asked to do, by any thread: the one thing that callers and the loop share.
final class CurlInbox: Sendable {
    enum Command: Sendable {
        case start(CurlStart)
        case cancel(CurlCall)
        /// The reader or the writer of a body that is streamed can go on.
        case resume(CurlCall)
    }

    /// How the loop is to go on.
    enum Phase: Sendable {
        /// Takes calls.
        case open
        /// Ends when nothing runs any more.
        case draining
        /// Cancels what runs, and ends.
        case closing
        /// Has ended.
        case ended
    }

    private struct State: Sendable {
        var phase = Phase.open
        var commands: [Command] = []
        /// Whether the loop waits, or is about to, so that a new command has to wake it.
        var isLoopAsleep = false

        /// Whether the loop has to be woken; said once for each time that it sleeps.
        mutating func wakesLoop() -> Bool {
            defer { isLoopAsleep = false }
            return isLoopAsleep
        }
    }

    /// Becomes readable when the loop has to wake.
    let descriptor = ccurl_eventfd()
    private let state = Locked(State())

    deinit {
        if descriptor >= 0 { Foundation.close(descriptor) }
    }

    /// Hands a call to the loop, or ends it here when the transport was shut down.
    func start(_ start: CurlStart) {
        let (isTaken, wakes) = state.withLock { state in
            guard state.phase == .open else { return (false, false) }
            state.commands.append(.start(start))
            return (true, state.wakesLoop())
        }
        if wakes { wake() }
        if !isTaken { start.fail(with: .shutDown) }
    }

    func cancel(_ call: CurlCall) {
        call.isCancelled.store(true, ordering: .releasing)
        post(.cancel(call))
    }

    /// Asks for something that an ended loop need not hear.
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

    /// The loop takes all commands, into an array that is empty but keeps its room.
    func take(_ commands: inout [Command]) -> Phase {
        state.withLock { state in
            state.isLoopAsleep = false
            swap(&state.commands, &commands)
            return state.phase
        }
    }

    /// The loop says that it will wait, and what it was last told; `false` when there is something to do first.
    func fallAsleep(knowing phase: Phase) -> Bool {
        state.withLock { state in
            state.isLoopAsleep = state.commands.isEmpty && state.phase == phase
            return state.isLoopAsleep
        }
    }

    /// The loop says that it has nothing left; `false` when a command came in between.
    func endWhenEmpty() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.phase = .ended
            return true
        }
    }

    /// Refuses everything from now on, and hands out the calls that nobody will start.
    func end() -> [CurlStart] {
        state.withLock { state in
            state.phase = .ended
            defer { state.commands = [] }
            return state.commands.compactMap { command in
                if case .start(let start) = command { start } else { nil }
            }
        }
    }

    private func wake() {
        eventfd_write(descriptor, 1)
    }
}
#endif
