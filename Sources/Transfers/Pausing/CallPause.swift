// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension RequestHandle {
    /// Pauses a resumable download or upload. Ends its exchange and retains the transferred data until ``resume()``.
    ///
    /// Plugins see a cancelled exchange. While the call is paused, the limit of `CallTimeout.wholeCall(_:)` doesn't
    /// expire. A paused call remains in its scope until it is resumed or cancelled, even if its handle is released;
    /// `Provider.cancelAll()` and a shutdown of the scope cancel it.
    ///
    /// A request that can't be continued isn't ended; the call pauses before the next one that can. Has no effect on
    /// other calls, on calls that share their exchange, and on calls that ended.
    public func pause() {
        callPause?.change(of: self) { $0.isPaused = true }
    }

    /// Continues a paused transfer with a new exchange. Has no effect on a call that isn't paused.
    public func resume() {
        callPause?.change(of: self) { $0.isPaused = false }
    }

    /// The pause of the call; `nil` after its end.
    fileprivate var callPause: CallPause? { stored(CallPause.storage, or: CallPause.init) }
}

extension CallExchanges {
    /// Sets whether the caller can pause the call from now on; by default, pausing has no effect.
    ///
    /// A driver that can be paused sends each request in a task that the action cancels, and calls
    /// ``waitWhilePaused()`` before each request. When it ends, it passes `nil`. While the call is paused, the limit of
    /// `CallTimeout.wholeCall(_:)` doesn't expire.
    ///
    /// - Parameter action: Called when the caller pauses the call, on any thread; called immediately if the call is
    ///   already paused. `nil` if the call can't be paused, for example during a request that can't be continued.
    public func onPause(_ action: (@Sendable () -> Void)?) {
        let handle = context.handle
        if let progress = context.options.progress {
            progress.isPausable = action != nil
            progress.pausingHandler = { [weak handle] in handle?.pause() }
            progress.resumingHandler = { [weak handle] in handle?.resume() }
            if progress.isPaused { handle.pause() }
        }
        handle.callPause?.change(of: handle) { $0.action = action }
    }

    /// Waits while the call is paused. Returns immediately if the call can't be paused.
    ///
    /// - Throws: `CancellationError` if the call was cancelled or timed out.
    public func waitWhilePaused() async throws {
        try await context.handle.callPause?.wait()
        if isInterrupted { throw CancellationError() }
    }
}

/// The caller's pause of a call.
private final class CallPause: Sendable {
    struct State: Sendable {
        var isPaused = false
        /// Ends the driver's requests; `nil` if pausing has no effect.
        var action: (@Sendable () -> Void)?
        /// Settled when the call is resumed. While there is one, the call waits, or will wait before its next request.
        var resumption: SharedOutcome<Void>?
    }

    static let storage = PluginStorage<CallPause>()

    private let state = Locked(State())

    /// Changes the pause. If it takes effect, ends the driver's requests; if it ends, ends the waits for that.
    func change(of handle: RequestHandle, _ change: (inout State) -> Void) {
        let effect = state.withLock { state -> (@Sendable () -> Void)? in
            change(&state)
            let isEffective = state.isPaused && state.action != nil
            if isEffective == (state.resumption != nil) { return nil }
            if isEffective {
                state.resumption = SharedOutcome()
                return state.action
            }
            defer { state.resumption = nil }
            return { [resumption = state.resumption] in resumption?.settle(()) }
        }
        guard let effect else { return }
        var isStopped: Bool
        repeat {
            isStopped = isEffective
            handle.setTimeStopped(isStopped)
            // Another thread may have changed the pause.
        } while isStopped != isEffective
        effect()
    }

    private var isEffective: Bool { state.withLock { $0.resumption != nil } }

    /// Waits until the call isn't paused, or the task is cancelled.
    func wait() async throws {
        try await state.withLock(\.resumption)?.value()
    }
}
