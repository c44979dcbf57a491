// SPDX-License-Identifier: MIT

/// A call in progress.
///
/// Releasing the handle doesn't cancel the call.
public final class RequestHandle: Sendable {
    /// The reason why a call ends early.
    enum Interruption: Sendable {
        case cancelled
        case timedOut
        /// Its scope accepts no new calls. Its plugins process the failure, so its tasks aren't cancelled.
        case shutDown
    }

    typealias Outcome = Result<Response, TargetKitError>

    struct State: Sendable {
        /// The call's own task, if it has one.
        var task: (any CancellableTask)?
        /// Cancels the exchange, if the call runs in its caller's task.
        var cancelExchange: (@Sendable () -> Void)?
        /// The tasks that the call waits for, by identifier.
        var waits: [Int: any CancellableTask] = [:]
        /// The identifier of the last task that the call started to wait for.
        var lastTaskID = 0
        /// The identifier of the last task that finished.
        var lastFinishedTaskID = 0
        var interruption: Interruption?
        /// Whether the tasks that the call waits for are cancelled.
        var isEnding: Bool { interruption != nil && interruption != .shutDown }
        /// Whether the call has an effect that a cancellation can't undo, so it can no longer be interrupted.
        var isCommitted = false
        /// An interruption that arrived after the commit.
        var lateInterruption: Interruption?
        var outcome: Outcome?
        var waiters: [UnsafeContinuation<Outcome, Never>] = []
        /// The values that plugins store in the call's context; `nil` after its end. Stored here so that a call needs
        /// only one lock.
        var storage: [StoredEntry]? = []
        var attempt = 0
        var processing = Processing()
        /// The time when the call times out; `nil` without a limit for the whole call.
        var deadline: Deadline?
        /// The priority to raise the task to when it is attached.
        var priority: TaskPriority?
        /// `nil` until the call is paused for the first time, or can be.
        var pause: Boxed<Pause>?
    }

    let state: Locked<State>

    init(deadline: Deadline? = nil) {
        state = Locked(State(deadline: deadline))
    }

    /// Cancels the call. It then fails with stage `.cancelled`.
    ///
    /// You can call this method from any thread. It has no effect after the call ends.
    public func cancel() {
        interrupt(.cancelled)
    }

    /// Whether ``cancel()`` was called before the call timed out.
    public var isCancelled: Bool { interruption == .cancelled }

    /// Waits for the response of this call. Any number of tasks can wait, before or after the response arrives.
    ///
    /// Cancelling a waiting task cancels the call.
    ///
    /// - Throws: The ``TargetKitError`` that is passed to the call's completion.
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

    /// Sets the action that cancels the exchange, for a transport that implements ``Transport/send(_:cancelledBy:)``.
    ///
    /// A call has one exchange at a time, so a new action replaces the previous one.
    ///
    /// - Parameter action: Called at most once, on any thread, when the call is cancelled or times out; called
    ///   immediately if that already happened.
    public func onCancel(_ action: @escaping @Sendable () -> Void) {
        // The previous action is released outside the lock.
        let (isInterrupted, _) = state.withLock { state in
            defer { if !state.isEnding { state.cancelExchange = action } }
            return (state.isEnding, state.cancelExchange)
        }
        if isInterrupted { action() }
    }

    /// Runs work in a new task, which is cancelled with the call. Work within other work is cancelled together with it.
    func runInTask<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let id = state.withLock { state in
            state.lastTaskID += 1
            return state.lastTaskID
        }
        // Starting the task synchronously saves a thread hop.
        let task = Task.startingNow { [state] in
            let result = await Result.of(work)
            state.withLock { $0.lastFinishedTaskID = id }
            return result
        }
        // Most hooks return without waiting, and need no cancellation.
        guard let isInterrupted = addWait(for: task, id: id) else { return try await task.value.get() }
        if isInterrupted { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        // The task is released outside the lock.
        _ = state.withLock { $0.waits.removeValue(forKey: id) }
        return try result.get()
    }

    /// Adds a task to cancel with the call, and returns whether the call is already ending; `nil` if the task has
    /// already finished.
    private func addWait(for task: some CancellableTask, id: Int) -> Bool? {
        state.withLock { state in
            if state.lastFinishedTaskID == id { return nil }
            state.waits[id] = task
            return state.isEnding
        }
    }

    /// The reason why the call is ending early; `nil` if it isn't.
    var interruption: Interruption? { state.withLock(\.interruption) }

    /// Interrupts the call, unless it is committed. Only the first reason is recorded.
    func interrupt(_ reason: Interruption) {
        beginInterruption(reason)?()
    }

    /// Records an interruption, and returns the closure that ends the call's current work; `nil` if the call is
    /// committed.
    func beginInterruption(_ reason: Interruption) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.isCommitted else {
                if state.lateInterruption == nil { state.lateInterruption = reason }
                return nil
            }
            if state.interruption == nil { state.interruption = reason }
            let (task, waits, cancelExchange) = (state.task, state.waits.values, state.cancelExchange.take())
            return {
                cancelExchange?()
                for wait in waits { wait.cancel() }
                task?.cancel()
            }
        }
    }

    /// Attaches the call's task to this handle, and cancels it if the call is already interrupted.
    func attach(_ task: some CancellableTask) {
        let (isInterrupted, priority) = state.withLock { state in
            state.task = task
            return (state.isEnding, state.priority)
        }
        if isInterrupted { task.cancel() }
        if let priority { Task(priority: priority) { await task.end() } }
    }

    /// Raises the call's task to at least this priority. Awaiting a task escalates it (SE-0304).
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

    /// The requests of the call that a server may have processed.
    var processing: Processing { state.withLock(\.processing) }

    /// Notes exchanges after which a server may have processed a request that must not be sent twice.
    func noteProcessing(_ count: Int = 1) {
        state.withLock { $0.processing.count += count }
    }

    /// Notes whether another call can continue the transfer.
    func noteContinuable(_ isContinuable: Bool) {
        state.withLock { $0.processing.isContinuable = isContinuable }
    }

    /// The time when the call times out; `nil` without a limit for the whole call.
    var deadline: Deadline? { state.withLock(\.deadline) }

    /// Extends the deadline of a shared exchange to the deadline of a call that joins it, if that is later.
    func extendDeadline(to other: Deadline?) {
        state.withLock { $0.deadline = .later($0.deadline, other) }
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
    func stored(_ key: ObjectIdentifier) -> (any StoredValue)? {
        state.withLock { state in state.storage?.first { $0.key == key }?.value }
    }

    func store(_ value: (any StoredValue)?, for key: ObjectIdentifier) {
        // The old value is released outside the lock, because its deinitializer may run plugin code.
        _ = state.withLock { state -> (any StoredValue)? in
            // Nothing is stored after the end of the call.
            guard let index = state.storage?.firstIndex(where: { $0.key == key }) else {
                if let value { state.storage?.append(StoredEntry(key: key, value: value)) }
                return nil
            }
            defer {
                if let value { state.storage?[index].value = value } else { state.storage?.remove(at: index) }
            }
            return state.storage?[index].value
        }
    }

    /// The plugins' stored values.
    var storedEntries: [StoredEntry] { state.withLock(\.storage) ?? [] }

    func store(_ entries: [StoredEntry]) {
        state.withLock { $0.storage = entries }
    }

    /// Releases the plugins' stored values, and the tasks with their results, at the end of the call, because the
    /// caller may retain the handle, and a plugin the context.
    func releaseAtEnd() {
        _ = state.withLock { state in
            defer { (state.storage, state.task, state.cancelExchange) = (nil, nil, nil) }
            return (state.storage, state.task, state.cancelExchange)
        }
    }
}

/// A task of any result type.
protocol CancellableTask: Sendable {
    func cancel()
    func end() async
}

extension Task: CancellableTask {
    /// Waits until the task finishes.
    func end() async { _ = await result }
}
