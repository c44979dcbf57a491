// SPDX-License-Identifier: MIT
#if os(Linux)
@preconcurrency import Dispatch

/// A wait that retains no memory after it is cancelled.
///
/// On Linux, `ContinuousClock.sleep` retains about 700 bytes of a cancelled sleep until its deadline (Swift 6.3.1).
@usableFromInline
struct CancellableTimer: Sendable {
    private struct State: Sendable {
        var waiter: UnsafeContinuation<Void, Never>?
        var timer: (any DispatchSourceTimer)?
        var isOver = false
    }

    private let time: Duration
    private let state = Locked(State())

    @usableFromInline
    init(_ time: Duration) {
        self.time = time
    }

    @usableFromInline
    func wait() async throws {
        try Task.checkCancellation()
        if time <= .zero { return }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let timer = DispatchSource.makeTimerSource(queue: .global())
                let (seconds, attoseconds) = time.components
                let nanoseconds = DispatchTimeInterval.nanoseconds(Int(attoseconds / 1_000_000_000))
                timer.schedule(deadline: .now() + .seconds(Int(seconds)) + nanoseconds)
                timer.setEventHandler { end() }
                let isOver = state.withLock { state in
                    if !state.isOver { (state.waiter, state.timer) = (waiter, timer) }
                    return state.isOver
                }
                timer.activate()
                if isOver {
                    timer.cancel()
                    waiter.resume()
                }
            }
        } onCancel: {
            end()
        }
        try Task.checkCancellation()
    }

    private func end() {
        let (waiter, timer) = state.withLock { state in
            defer { (state.waiter, state.timer, state.isOver) = (nil, nil, true) }
            return (state.waiter, state.timer)
        }
        timer?.cancel()
        waiter?.resume()
    }
}
#endif
