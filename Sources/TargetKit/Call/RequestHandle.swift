// SPDX-License-Identifier: MIT

/// A call that is in progress.
///
/// Releasing the handle does not cancel the call.
public final class RequestHandle: Sendable {
    /// Why a call ends early.
    enum Interruption: Sendable {
        case cancelled
        case timedOut
    }

    private typealias Outcome = Result<Response, TargetKitError>

    private struct State: Sendable {
        /// The task of the call, if it has one of its own.
        var task: (any CancellableTask)?
        /// Ends the exchange that is under way in a task of the caller's.
        var cancelExchange: (@Sendable () -> Void)?
        var interruption: Interruption?
        var outcome: Outcome?
        var waiters: [UnsafeContinuation<Outcome, Never>] = []
        /// What plugins store in the call's context. It is here so that a call has one lock.
        var storage: [ObjectIdentifier: any Sendable] = [:]
        var attempt = 0
        /// What the task's priority is raised to when it is attached.
        var priority: TaskPriority?
    }

    private let state = Locked(State())

    init() {}

    /// Cancels the call, from any thread, at any time; a call that has ended is not changed.
    ///
    /// The call then ends with an error of stage `.cancelled`.
    public func cancel() {
        interrupt(.cancelled)
    }

    /// Whether ``cancel()`` was called before the call timed out.
    public var isCancelled: Bool { interruption == .cancelled }

    /// Waits for the response of this call. Any number of tasks may wait for it, also after it has arrived.
    ///
    /// Cancelling the task that waits cancels the call.
    ///
    /// - Throws: ``TargetKitError``, the same that the call's completion gets.
    public func response() async throws(TargetKitError) -> Response {
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let outcome = state.withLock { state -> Outcome? in
                    if state.outcome == nil { state.waiters.append(waiter) }
                    return state.outcome
                }
                if let outcome { waiter.resume(returning: outcome) }
            }
        } onCancel: {
            cancel()
        }
        return try outcome.get()
    }

    /// Sets what ends the exchange of this call, for a transport that implements ``Transport/send(_:cancelledBy:)``. A call has
    /// one exchange at a time: the action replaces the one before.
    ///
    /// - Parameter action: Is called once at most, on any thread: when the call is cancelled or times out, or right away if
    ///   that has happened before.
    public func onCancel(_ action: @escaping @Sendable () -> Void) {
        // The action before is released outside the lock.
        let (isInterrupted, _) = state.withLock { state in
            defer { if state.interruption == nil { state.cancelExchange = action } }
            return (state.interruption != nil, state.cancelExchange)
        }
        if isInterrupted { action() }
    }

    /// Why the call is to end early, if it is.
    var interruption: Interruption? { state.withLock(\.interruption) }

    /// The first reason stays.
    func interrupt(_ reason: Interruption) {
        let (task, cancelExchange) = state.withLock { state in
            if state.interruption == nil { state.interruption = reason }
            defer { state.cancelExchange = nil }
            return (state.task, state.cancelExchange)
        }
        cancelExchange?()
        task?.cancel()
    }

    /// Ties the call's task to this handle; if the call was interrupted before, the task is cancelled now.
    func attach(_ task: some CancellableTask) {
        let (isInterrupted, priority) = state.withLock { state in
            state.task = task
            return (state.interruption != nil, state.priority)
        }
        if isInterrupted { task.cancel() }
        if let priority { Task(priority: priority) { await task.end() } }
    }

    /// Runs the call's task with at least that priority: awaiting a task escalates it (SE-0304).
    func escalateTask(to priority: TaskPriority) {
        let task = state.withLock { state in
            if state.task == nil { state.priority = priority }
            return state.task
        }
        if let task { Task(priority: priority) { await task.end() } }
    }

    /// The number of the call's last attempt, from 0.
    var attempt: Int {
        get { state.withLock(\.attempt) }
        set { state.withLock { $0.attempt = newValue } }
    }

    /// Completes ``response()``.
    func finish(_ outcome: Result<Response, TargetKitError>) {
        let (waiters, _) = state.withLock { state in
            state.outcome = outcome
            defer {
                state.task = nil
                state.cancelExchange = nil
                state.waiters = []
            }
            return (state.waiters, (state.task, state.cancelExchange))
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}

extension RequestHandle {
    func stored(_ key: ObjectIdentifier) -> (any Sendable)? {
        state.withLock { $0.storage[key] }
    }

    func store(_ value: (any Sendable)?, for key: ObjectIdentifier) {
        // The old value is released outside the lock: its end may run code of the plugin.
        _ = state.withLock { state in
            defer { state.storage[key] = value }
            return state.storage[key]
        }
    }

    func copyStorage(of other: RequestHandle) {
        let storage = other.state.withLock(\.storage)
        state.withLock { $0.storage = storage }
    }

    /// Releases what plugins have stored, at the end of the call: the caller may keep the handle.
    func removeStorage() {
        _ = state.withLock { state in
            defer { state.storage = [:] }
            return state.storage
        }
    }
}

/// A task, whatever its result.
protocol CancellableTask: Sendable {
    func cancel()
    func end() async
}

extension Task: CancellableTask {
    /// Waits for the end of the task.
    func end() async { _ = await result }
}
