// SPDX-License-Identifier: MIT
import TargetKit

/// A call that can be cancelled.
public protocol Cancellable {
    /// Whether the call was cancelled.
    var isCancelled: Bool { get }

    /// Cancels the call. Its completion handler receives an error, unless the call has ended.
    func cancel()
}

/// Cancels a call with an action.
public final class CancellableToken: Cancellable, CustomDebugStringConvertible, Sendable {
    private let action: Unchecked<() -> Void>
    private let request: Request?
    private let isCancelledFlag = Locked(false)

    /// Creates a token.
    ///
    /// - Parameter action: Cancels the call. It is called at most once.
    public init(action: @escaping () -> Void) {
        self.action = Unchecked(action)
        request = nil
    }

    init(request: Request) {
        self.request = request
        action = Unchecked { request.cancel() }
    }

    /// Whether the call was cancelled.
    public var isCancelled: Bool { isCancelledFlag.withLock { $0 } }

    /// Cancels the call.
    public func cancel() {
        let wasCancelled = isCancelledFlag.withLock { isCancelled in
            defer { isCancelled = true }
            return isCancelled
        }
        if !wasCancelled { action.value() }
    }

    /// The request as a cURL command, without the values of fields with secrets; `Empty Request` if there is none.
    public var debugDescription: String { request?.cURLDescription() ?? "Empty Request" }
}

/// A call whose request isn't known yet, because the request closure may take long, or never call back.
final class PendingCall: Cancellable, Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var hasBegun = false
        var call: Unchecked<any Cancellable>?
        /// Ends the call if it is cancelled before it begins.
        var cancellation: Unchecked<() -> Void>?
    }

    private let state = Locked(State())

    var isCancelled: Bool {
        let (isCancelled, call) = state.withLock { ($0.isCancelled, $0.call) }
        return isCancelled || call?.value.isCancelled == true
    }

    func cancel() {
        let (call, cancellation) = state.withLock { state in
            state.isCancelled = true
            // A call that is cancelled has begun: its request is ignored.
            defer { (state.hasBegun, state.cancellation) = (true, nil) }
            return (state.call, state.cancellation)
        }
        call?.value.cancel()
        cancellation?.value()
    }

    /// Sets what ends the call if it is cancelled before it begins.
    func onCancel(_ cancellation: @escaping () -> Void) {
        let cancellation = Unchecked(cancellation)
        state.withLock { $0.cancellation = cancellation }
    }

    /// Returns whether this is the first call, because a request closure must not send two requests, and the call wasn't
    /// cancelled, which ends it.
    func begin() -> Bool {
        let (isFirst, _) = state.withLock { state in
            defer { (state.hasBegun, state.cancellation) = (true, nil) }
            return (!state.hasBegun, state.cancellation)
        }
        return isFirst
    }

    func attach(_ call: any Cancellable) {
        let call = Unchecked(call)
        let isCancelled = state.withLock { state in
            state.call = call
            return state.isCancelled
        }
        if isCancelled { call.value.cancel() }
    }
}
