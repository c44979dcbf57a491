// SPDX-License-Identifier: MIT

/// A call that is under way.
///
/// Letting go of the handle does not end the call.
public final class RequestHandle: Sendable {
    private enum State: Sendable {
        case starting
        case running(any CancellableTask)
        case cancelled
    }

    private let state = Locked(State.starting)

    init() {}

    /// Cancels the call, from any thread, at any time; a call that has ended is left as it is.
    ///
    /// The call then ends with an error of stage `.cancelled`.
    public func cancel() {
        let task: (any CancellableTask)? = state.withLock { state in
            defer { state = .cancelled }
            if case .running(let task) = state { return task }
            return nil
        }
        task?.cancel()
    }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool {
        state.withLock { state in
            if case .cancelled = state { true } else { false }
        }
    }

    /// Ties the call's task to this handle; one that was cancelled meanwhile is cancelled now.
    func attach(_ task: any CancellableTask) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .running(task)
            return false
        }
        if isCancelled { task.cancel() }
    }
}

/// A task, whatever it results in.
protocol CancellableTask: Sendable {
    func cancel()
}

extension Task: CancellableTask {}
