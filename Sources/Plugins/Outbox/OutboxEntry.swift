// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A call that an ``OfflineOutbox`` keeps, as it was at one moment.
public struct OutboxEntry<Target: TargetType>: Identifiable, Sendable {
    /// The state of an entry.
    public enum State: Sendable {
        /// It is sent when there is a network, after the entries before it.
        case waiting
        /// Its call is in progress.
        case sending
        /// The server's response had the status 401. Nothing is sent until ``OfflineOutbox/sendNow()``.
        case needsSignIn
        /// Its call failed for good. ``OfflineOutbox/retry(_:)`` sends it again. After a launch, only the description of
        /// the error is known.
        case failed(TargetKitError)
        /// It was older than ``OutboxLimits/age``. ``OfflineOutbox/retry(_:)`` sends it after all.
        case expired
    }

    /// A stable identifier that is preserved across launches.
    public let id: UUID
    /// The target of the call.
    public let target: Target
    /// When the call was kept.
    public let date: Date
    /// The state of the entry.
    public let state: State
}

/// What became of an entry of an ``OfflineOutbox``.
public enum OutboxEvent<Target: TargetType>: Sendable {
    /// It is on permanent storage.
    case kept(OutboxEntry<Target>)
    /// Its call has begun. This can happen several times.
    case sending(OutboxEntry<Target>)
    /// The server has accepted it, and it is no longer in the outbox.
    case sent(OutboxEntry<Target>, Response)
    /// Its call failed for good. It stays in the outbox until it is removed.
    case failed(OutboxEntry<Target>, TargetKitError)
    /// It is too old. It stays in the outbox until it is removed.
    case expired(OutboxEntry<Target>)
    /// It was removed: by the app, or, after it had failed or expired, to make room for another one.
    case removed(OutboxEntry<Target>)
}

/// The result of ``OfflineOutbox/send(_:)``.
public enum OutboxResult: Sendable {
    /// The server's response.
    case sent(Response)
    /// The call was kept; the identifier of its entry.
    case kept(UUID)
}

/// How much an ``OfflineOutbox`` keeps.
public struct OutboxLimits: Sendable, Hashable {
    /// How long an entry waits before it expires; default: 7 days.
    public var age: Duration
    /// The number of entries; default: 1,000.
    public var count: Int
    /// The size of all entries in bytes of JSON; default: 10 MiB.
    public var byteCount: Int

    /// Creates limits.
    public init(age: Duration = .seconds(7 * 86_400), count: Int = 1_000, byteCount: Int = 10 << 20) {
        self.age = age
        self.count = count
        self.byteCount = byteCount
    }
}

/// The failure of an operation of an ``OfflineOutbox``. Its description says what happened and what to do.
public enum OutboxError: Error, Sendable, Hashable {
    /// The outbox has reached its ``OutboxLimits``: a call was not kept.
    case full
    /// The file of the outbox cannot be used, for example because the disk is full.
    case unusableFile(path: String, reason: String)
    /// The outbox has no entry with this identifier: it was sent or removed.
    case unknownEntry(UUID)

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
        case .unusableFile(let path, let reason): "The outbox's file cannot be used: \(path): \(reason)"
        case .unknownEntry(let id): "The outbox has no entry \(id). It was sent or removed."
        }
    }

    /// There is no space for the call.
    package var kind: TargetKitError.Kind { .storageFull }
}
