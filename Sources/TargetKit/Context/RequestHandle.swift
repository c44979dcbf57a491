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
        /// The task in which the call runs.
        var task: (any CancellableTask)?
        var interruption: Interruption?
        /// Whether the task is cancelled.
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
        /// The last request after the plugins' `prepare`; `nil` without plugins.
        var prepared: TransportRequest?
        /// The other origin for which a plugin's `prepare` last changed a request of the call's driver.
        var movedOrigin: [String]?
        /// Whether the call's driver sent a request.
        var hasSent = false
        /// The number of exchanges after which a request that must not be sent twice may have been processed.
        var processedCount = 0
        /// Whether another call can continue the transfer, or restart it safely.
        var isContinuable = false
    }

    let state = Locked(State())
    /// The time when the call times out; `nil` without a limit for the whole call.
    let deadline: Deadline?

    init(deadline: Deadline? = nil) {
        self.deadline = deadline
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

    /// The reason why the call is ending early; `nil` if it isn't.
    var interruption: Interruption? { state.withLock(\.interruption) }

    /// Interrupts the call, unless it is committed. Only the first reason is recorded.
    func interrupt(_ reason: Interruption) {
        let task = state.withLock { state -> (any CancellableTask)? in
            guard !state.isCommitted else {
                if state.lateInterruption == nil { state.lateInterruption = reason }
                return nil
            }
            if state.interruption == nil { state.interruption = reason }
            return reason == .shutDown ? nil : state.task
        }
        task?.cancel()
    }

    /// Attaches the call's task to this handle, and cancels it if the call is already interrupted.
    func attach(_ task: some CancellableTask) {
        let isInterrupted = state.withLock { state in
            state.task = task
            return state.isEnding
        }
        if isInterrupted { task.cancel() }
    }

    /// The number of the call's last attempt, from 0.
    var attempt: Int {
        get { state.withLock(\.attempt) }
        set { state.withLock { $0.attempt = newValue } }
    }

    /// The last request after the plugins' `prepare`; `nil` without plugins.
    var prepared: TransportRequest? {
        get { state.withLock(\.prepared) }
        set {
            // The previous request is released outside the lock.
            _ = state.withLock { state in
                defer { state.prepared = newValue }
                return state.prepared
            }
        }
    }

    /// The number of the call's requests that must not be sent twice and that a server may have processed.
    var processedCount: Int { state.withLock(\.processedCount) }

    /// Notes exchanges after which a server may have processed a request that must not be sent twice.
    func noteProcessing(_ count: Int = 1) {
        state.withLock { $0.processedCount += count }
    }

    /// Stops or continues the time until the call times out.
    package func setTimeStopped(_ isStopped: Bool) {
        if isStopped { deadline?.stop() } else { deadline?.start() }
    }

    /// Completes ``response()``.
    func finish(_ outcome: Result<Response, TargetKitError>) {
        let (waiters, _) = state.withLock { state in
            state.outcome = outcome
            defer {
                state.task = nil
                state.waiters = []
            }
            return (state.waiters, state.task)
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

    /// The stored value, made by the first access; `nil` after the end of the call.
    package func stored<Value: Sendable>(_ storage: PluginStorage<Value>, or make: () -> Value) -> Value? {
        let (key, new) = (ObjectIdentifier(storage), StoredBox(make()))
        return state.withLock { state in
            if let stored = state.storage?.first(where: { $0.key == key }) {
                return (stored.value as? StoredBox<Value>)?.value
            }
            state.storage?.append(StoredEntry(key: key, value: new))
            return state.storage == nil ? nil : new.value
        }
    }

    /// The plugins' stored values.
    var storedEntries: [StoredEntry] { state.withLock(\.storage) ?? [] }

    /// Releases the plugins' stored values, and the tasks with their results, at the end of the call, because the
    /// caller may retain the handle, and a plugin the context.
    func releaseAtEnd() {
        _ = state.withLock { state in
            defer { (state.storage, state.task, state.prepared) = (nil, nil, nil) }
            return (state.storage, state.task, state.prepared)
        }
    }
}

/// A task of any result type.
protocol CancellableTask: Sendable {
    func cancel()
}

extension Task: CancellableTask {}

extension RequestHandle {
    /// Whether the call can no longer be interrupted, because its file is at its destination or is being moved there.
    var isCommitted: Bool { state.withLock(\.isCommitted) }

    /// Prevents interruptions from now on; returns `false` if the call is already interrupted.
    func commit() -> Bool {
        state.withLock { state in
            guard state.interruption == nil else { return false }
            state.isCommitted = true
            return true
        }
    }

    /// Allows interruptions again, because the call continues. Applies an interruption that arrived in between.
    func revokeCommit() {
        let late = state.withLock { state -> Interruption? in
            guard state.isCommitted else { return nil }
            defer { (state.isCommitted, state.lateInterruption) = (false, nil) }
            return state.lateInterruption
        }
        if let late { interrupt(late) }
    }
}
