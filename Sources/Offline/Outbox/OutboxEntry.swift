// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// A call in an ``OfflineOutbox``, and its state when the value was created.
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
        /// The server has accepted it. It is no longer in the outbox.
        case sent(Response)
        /// Its call failed and isn't repeated. It stays in the outbox; ``OfflineOutbox/retry(_:)`` sends it again.
        /// After a relaunch, the error has only its stage, kind and description.
        case failed(TargetKitError)
        /// It has reached the maximum age. It stays in the outbox; ``OfflineOutbox/retry(_:)`` sends it again.
        case expired
        /// It was removed: by the app, or, after it had failed or expired, to make room for another one.
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

    /// This entry in another state.
    func with(_ state: State) -> Self {
        var entry = self
        entry.state = state
        return entry
    }
}

extension OutboxEntry: RedactedDescription {
    /// The target and the state in one line, without the target's values.
    package var redactedDescription: String {
        let state =
            switch state {
            case .waiting: "waiting"
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

/// How much an outbox keeps.
struct OutboxLimits: Sendable {
    var age: Duration
    var count: Int
    var byteCount: Int
}

/// The failure of an operation of an ``OfflineOutbox``. Its description says what happened and what to do.
public enum OutboxError: Error, Sendable, Hashable {
    /// The outbox has reached its maximum number or size of entries: a call wasn't kept.
    case full
    /// A target couldn't be encoded, for example because it contains a number that JSON doesn't have.
    case unencodableTarget(type: String)
    /// The file of the outbox can't be used, for example because the disk is full.
    case unusableFile(path: String, reason: String)

    init(_ failure: RecordLogFailure) {
        switch failure {
        case .inUse(let path): self = .unusableFile(path: path, reason: "another process has locked it")
        case .unusable(let path, let reason): self = .unusableFile(path: path, reason: reason)
        }
    }
}

extension OutboxError: DescribedError, ErrorWithKind {
    /// What happened, and what to do.
    package var redactedDescription: String {
        switch self {
        case .full: "The outbox is full: the call was not kept. Send or remove entries, or raise its limits."
        case .unencodableTarget(let type): "The call was not kept: its target, \(type), cannot be encoded as JSON."
        case .unusableFile(let path, let reason): "The outbox's file cannot be used: \(path): \(reason)"
        }
    }

    /// There is no space for the call, or it can't be kept.
    package var kind: TargetKitError.Kind? {
        switch self {
        case .full, .unusableFile: .storageFull
        case .unencodableTarget: .invalidRequest
        }
    }
}
