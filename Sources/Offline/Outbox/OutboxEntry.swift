// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import _TargetKitStorage

/// A snapshot of a call in an ``OfflineOutbox``.
public struct OutboxEntry<Target: TargetType>: Identifiable, Sendable {
    /// The state of an entry.
    public enum State: Sendable {
        /// It is on permanent storage, and is sent when there is a network, after the entries before it.
        case waiting
        /// Its call is in progress.
        case sending
        /// The server responded with status 401, or there are no valid credentials. Entries wait until
        /// ``OfflineOutbox/sendNow()`` or until a call of ``OfflineOutbox/send(_:)`` succeeds.
        case needsSignIn
        /// The server accepted it. It is no longer in the outbox.
        case sent(Response)
        /// Its call failed and isn't retried. It stays in the outbox; ``OfflineOutbox/retry(_:)`` sends it again. After
        /// a relaunch, the error has only its stage, kind and description.
        case failed(TargetKitError)
        /// It reached the maximum age. It stays in the outbox; ``OfflineOutbox/retry(_:)`` sends it again.
        case expired
        /// It was removed by the app, or, after it failed or expired, to make room for another entry.
        case removed
    }

    /// A stable identifier that is preserved across launches.
    public let id: UUID
    /// The target of the call.
    public let target: Target
    /// The date of the last ``OfflineOutbox/retry(_:)``, or the date on which the call was kept.
    public let date: Date
    /// The state of the entry.
    public internal(set) var state: State
    /// The error of the last call if this process made it and it failed, for example to show why the entry is waiting;
    /// `nil` otherwise.
    public let lastError: TargetKitError?

    /// A copy of this entry in another state.
    func with(_ state: State) -> Self {
        var entry = self
        entry.state = state
        return entry
    }
}

extension OutboxEntry: RedactedDescription {
    /// The target and the state in one line, without the target's values; for a waiting entry, with the error of its last
    /// call.
    package var redactedDescription: String {
        let state =
            switch state {
            case .waiting: lastError.map { "waiting after a failure: \($0)" } ?? "waiting"
            case .sending: "sending"
            case .needsSignIn: "needs a sign-in"
            case .sent(let response): "sent: \(response)"
            case .failed(let error): "failed: \(error)"
            case .expired: "expired"
            case .removed: "removed"
            }
        return "\(target.name), \(state)"
    }
}

/// The result of ``OfflineOutbox/send(_:)``.
public enum OutboxResult: Sendable {
    /// The server's response.
    case sent(Response)
    /// The call was kept. The value is the identifier of its entry.
    case kept(UUID)
}

/// The limits of an outbox.
struct OutboxLimits: Sendable {
    var age: Duration
    var count: Int
    var byteCount: Int
}

/// An error of an ``OfflineOutbox``. Its description states what happened and how to resolve it.
public enum OutboxError: Error, Sendable, Hashable {
    /// A call wasn't kept, because the outbox has reached its maximum number or size of entries.
    case full
    /// A target couldn't be encoded, for example because it contains a number that JSON can't represent.
    case unencodableTarget(type: String)
    /// The file of the outbox can't be used, for example because the disk is full.
    case unusableFile(path: String, reason: String)

    init(_ failure: RecordLogFailure) {
        switch failure {
        case .inUse(let path): self = .unusableFile(path: path, reason: "it is locked by another process")
        case .unusable(let path, let reason): self = .unusableFile(path: path, reason: reason)
        }
    }
}

extension OutboxError: DescribedError, ErrorWithKind {
    /// What happened, and how to resolve it.
    package var redactedDescription: String {
        switch self {
        case .full: "The call wasn't kept, because the outbox is full. Send or remove entries, or raise its limits."
        case .unencodableTarget(let type): "The call wasn't kept, because its target \(type) can't be encoded as JSON."
        case .unusableFile(let path, let reason): "The outbox file can't be used: \(path): \(reason)"
        }
    }

    /// The kind of a failure to keep a call; `nil` for other errors.
    package var kind: TargetKitError.Kind? {
        switch self {
        case .full, .unusableFile: .storageFull
        case .unencodableTarget: .invalidRequest
        }
    }
}
