// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import _TargetKitStorage

/// A snapshot of a download or upload in a ``TransferQueue``.
public struct Transfer<Target: TargetType>: Identifiable, Sendable {
    /// The state of a transfer.
    public enum State: Sendable {
        /// It starts when fewer than ``TransferQueue/maxConcurrent`` transfers are running, a network that it may use
        /// is available, and the delay after a failure has ended.
        case waiting
        /// Its call is in progress.
        case running
        /// It was paused. ``TransferQueue/resume(_:)`` starts it again.
        case paused
        /// Its call succeeded.
        case finished(Response)
        /// Its call failed. ``TransferQueue/resume(_:)`` starts it again. After a launch, only the stage, kind and
        /// description of the error are known.
        case failed(TargetKitError)
        /// It was cancelled.
        case cancelled

        /// Whether the transfer finished, failed, or was cancelled.
        public var hasEnded: Bool {
            switch self {
            case .waiting, .running, .paused: false
            case .finished, .failed, .cancelled: true
            }
        }
    }

    /// A stable identifier that is preserved across launches.
    public let id: UUID
    /// The target of the call.
    public let target: Target
    /// The priority for starting the transfer.
    public internal(set) var priority: TransferPriority
    /// The state of the transfer.
    public internal(set) var state: State
    /// The progress of the request's body if there is one, or else of the response's; `nil` before the first bytes of
    /// this launch.
    public internal(set) var progress: TransferProgress?
    /// The error of the last call if that failed in this launch, for example to show why the transfer is waiting; `nil`
    /// otherwise.
    public internal(set) var lastError: TargetKitError?

    /// Creates a transfer for previews and tests.
    public init(
        id: UUID = UUID(),
        target: Target,
        priority: TransferPriority = .normal,
        state: State,
        progress: TransferProgress? = nil,
        lastError: TargetKitError? = nil
    ) {
        self.id = id
        self.target = target
        self.priority = priority
        self.state = state
        self.progress = progress
        self.lastError = lastError
    }
}

extension Transfer: RedactedDescription {
    /// The target and the state in one line, without the target's values; for a transfer that is waiting, with the error
    /// of its last call.
    package var redactedDescription: String {
        let reason = if state.isWaiting, let lastError { " after a failure: \(lastError)" } else { "" }
        return "\(target.name), \(state.redactedDescription)\(reason)"
    }
}

extension Transfer.State: RedactedDescription {
    /// The state in one line, with the status of the response or the reason for the failure.
    package var redactedDescription: String {
        switch self {
        case .waiting: "waiting"
        case .running: "running"
        case .paused: "paused"
        case .finished(let response): "finished: \(response)"
        case .failed(let error): "failed: \(error)"
        case .cancelled: "cancelled"
        }
    }
}

/// The priority with which a ``TransferQueue`` starts waiting transfers. Transfers with the same priority start in the
/// order in which they were added.
public enum TransferPriority: Int, Sendable, Codable, Comparable {
    /// After all others.
    case low
    /// After those with a high priority.
    case normal
    /// Before all others.
    case high

    /// Whether the first priority is lower.
    public static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}

/// An error of a ``TransferQueue``. Its description states what happened and how to resolve it.
public enum TransferQueueError: Error, Sendable, Hashable {
    /// Another queue uses the same file, in this process or in another one.
    case fileInUse(path: String)
    /// The file of the queue can't be used.
    case unusableFile(path: String, reason: String)
    /// The queue has no transfer with this identifier.
    case unknownTransfer(UUID)

    init(_ failure: RecordLogFailure) {
        switch failure {
        case .inUse(let path): self = .fileInUse(path: path)
        case .unusable(let path, let reason): self = .unusableFile(path: path, reason: reason)
        }
    }
}

extension TransferQueueError: DescribedError, ErrorWithKind {
    /// The kind of a call's failure whose beginning couldn't be stored; `nil` for other errors.
    package var kind: TargetKitError.Kind? {
        if case .unusableFile = self { .storageFull } else { nil }
    }

    /// What happened, and how to resolve it.
    package var redactedDescription: String {
        switch self {
        case .fileInUse(let path):
            "The queue file \(path) is in use by another queue. Create one queue for each file, and keep a reference to it."
        case .unusableFile(let path, let reason): "The queue file can't be used: \(path): \(reason)"
        case .unknownTransfer(let id): "The queue has no transfer \(id). It was removed, or belongs to another queue."
        }
    }
}
