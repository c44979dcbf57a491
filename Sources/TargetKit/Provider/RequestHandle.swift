// SPDX-License-Identifier: MIT

/// A call that is under way.
///
/// Letting go of the handle does not end the call.
public final class RequestHandle: Sendable {
    /// Why a call ends before its time.
    enum Interruption: Sendable {
        case cancelled
        case timedOut
    }

    private typealias Outcome = Result<Response, TargetKitError>

    private struct State: Sendable {
        var task: (any CancellableTask)?
        var interruption: Interruption?
        var outcome: Outcome?
        var waiters: [UnsafeContinuation<Outcome, Never>] = []
    }

    private let state = Locked(State())

    init() {}

    /// Cancels the call, from any thread, at any time; a call that has ended is left as it is.
    ///
    /// The call then ends with an error of stage `.cancelled`.
    public func cancel() {
        interrupt(.cancelled)
    }

    /// Whether ``cancel()`` was called before the call had run out of time.
    public var isCancelled: Bool { interruption == .cancelled }

    /// Waits for the response of this call. Any number of tasks may wait for it, also after it has come.
    ///
    /// Cancelling the task that waits cancels the call, as it does with a call that is awaited from the start.
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

    /// Why the call is to end, if it is.
    var interruption: Interruption? { state.withLock(\.interruption) }

    /// The first reason stays.
    func interrupt(_ reason: Interruption) {
        let task = state.withLock { state in
            if state.interruption == nil { state.interruption = reason }
            return state.task
        }
        task?.cancel()
    }

    /// Ties the call's task to this handle; one that was interrupted meanwhile is cancelled now.
    func attach(_ task: some CancellableTask) {
        // What was tied before is let go of outside the lock: who knows what else goes with it.
        let (isInterrupted, _) = state.withLock { state in
            defer { state.task = task }
            return (state.interruption != nil, state.task)
        }
        if isInterrupted { task.cancel() }
    }

    /// Runs a step in a task that is tied to this handle from its first wait on: up to there the step runs right here, and
    /// nobody can cancel a task that he does not have yet.
    func run<Value: Sendable, Failure: Error>(
        _ step: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let task = Task.startingNow { () async -> Result<Value, Failure> in
            do throws(Failure) { return .success(try await step()) } catch { return .failure(error) }
        }
        attach(task)
        let result = await task.value
        // The step may have cancelled the task that it runs in, which stands for the call's.
        if task.isCancelled { cancel() }
        return try result.get()
    }

    /// Says what the call has brought to those that wait for it.
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

/// A task, whatever it results in.
protocol CancellableTask: Sendable {
    func cancel()
}

extension Task: CancellableTask {}
