// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// The state of an outbox in this process.
struct OutboxContent<Target: TargetType & Codable>: Sendable {
    var items = OutboxItems<Target>()
    /// The number of lines of the file that aren't records.
    var damagedCount = 0
    var storageError: OutboxError?

    /// The account whose entries are sent.
    var account: String?
    /// The number of sign-ins in this process when the account changed; `nil` if it hasn't changed, or if the app has
    /// called ``OfflineOutbox/sendNow()`` since.
    var accountChange: Int?
    /// The owner of the last credential that this outbox has seen, and the last one before the account changed.
    private(set) var lastOwner: String?
    var formerOwner: String?
    /// The entry whose call is in progress.
    var sending: UUID?
    /// The task of that call.
    var task: Task<Result<Response, TargetKitError>, Never>?
    /// The first attempts of calls that aren't entries yet.
    var firstAttempts: [UUID: Task<Result<Response, TargetKitError>, Never>] = [:]
    /// The number of account changes and removals of all entries. A call whose first attempt began earlier isn't kept.
    var epoch = 0
    /// The entry that the server rejected with status 401.
    var unauthorized: UUID?
    /// The errors of the last calls of entries, in this process.
    var errors: [UUID: TargetKitError] = [:]
    var delays = RetryDelays<OutboxGroup>()

    /// Whether the task that sends the entries is running.
    var isRunning = false
    /// Whether the task must check for entries again before it ends.
    var hasPendingChange = false
}

extension OutboxContent {
    /// Whether a call may be sent with a credential of this owner.
    ///
    /// - Parameter owner: `nil` for a request without a credential, or with one whose owner isn't known.
    mutating func admits(_ owner: CredentialOwner?, for call: StoredCall) -> Bool {
        lastOwner = owner?.identifier
        guard let owner else { return call.owner == nil }
        // The app sets the account before the user signs in.
        if call.account != nil, let number = owner.signInNumber, number > accountChange ?? 0 { return true }
        return call.owner.map { $0 == owner.identifier } ?? !isFormer(owner)
    }

    /// The owner to store with a call. A user who was signed in before the account changed isn't the account's.
    mutating func stored(_ owner: CredentialOwner?) -> String? {
        lastOwner = owner?.identifier
        guard let owner, account == nil || !isFormer(owner) else { return nil }
        return owner.identifier
    }

    /// Whether the owner of a credential can be the user who was signed in before the account changed.
    private func isFormer(_ owner: CredentialOwner) -> Bool {
        guard let accountChange else { return false }
        return owner.signInNumber.map { $0 <= accountChange } ?? (owner.identifier == formerOwner)
    }

    /// The entries of the account, in order.
    var entries: [OutboxEntry<Target>] {
        items.all.compactMap(entry)
    }

    /// The public value of an entry; `nil` if it belongs to another account, or this version of the app can't decode it.
    func entry(_ item: OutboxItems<Target>.Item) -> OutboxEntry<Target>? {
        guard item.call.account == account, let target = item.target else { return nil }
        return OutboxEntry(
            id: item.id,
            target: target,
            date: item.call.date,
            state: state(of: item, target: target),
            lastError: errors[item.id]
        )
    }

    func entry(_ id: UUID) -> OutboxEntry<Target>? { items[id].flatMap(entry) }

    private func state(of item: OutboxItems<Target>.Item, target: Target) -> OutboxEntry<Target>.State {
        switch item.state {
        case .expired: .expired
        case .failed(let failure): .failed(errors[item.id] ?? failure.error(of: target))
        case .waiting, .begun:
            if sending == item.id { .sending } else if unauthorized == item.id { .needsSignIn } else { .waiting }
        }
    }

    /// Whether an entry of a group must be sent before a new one.
    func hasWaiting(in group: OutboxGroup) -> Bool {
        items.all.contains { $0.call.accountGroup == group && $0.target != nil && !$0.isFailedOrExpired }
    }

    /// The entries of the account that are sent next, the first of each group.
    private var firstOfEachGroup: [OutboxItems<Target>.Item] {
        var groups: Set<OutboxGroup> = []
        return items.all.filter { item in
            item.call.account == account && item.target != nil && !item.isFailedOrExpired
                && groups.insert(item.call.accountGroup).inserted
        }
    }

    /// The entry to send now, which is the first one with the fewest failures.
    func next(at time: Duration) -> OutboxItems<Target>.Item? {
        guard unauthorized.flatMap({ items[$0] }) == nil, delays.wait(at: time) == .zero else { return nil }
        return firstOfEachGroup.filter { delays.wait(of: $0.call.accountGroup, at: time) == .zero }
            .min { delays.failureCount(of: $0.call.accountGroup) < delays.failureCount(of: $1.call.accountGroup) }
    }

    /// Applies the outcome of an entry's call to the entry and to the delays of the others.
    mutating func endCall(
        of item: OutboxItems<Target>.Item,
        with outcome: OutboxOutcome,
        error: TargetKitError?,
        isInOutbox: Bool,
        at time: Duration
    ) {
        (sending, task) = (nil, nil)
        // The outcome of a call that was cancelled by a change of account is ignored.
        guard account == item.call.account, isInOutbox else { return }
        errors[item.id] = error
        switch outcome {
        case .sent, .failed: delays.remove(item.call.accountGroup)
        case .needsSignIn: unauthorized = item.id
        case .noResponse: delays.addNoResponse(item.call.accountGroup, at: time)
        case .unavailable(let delay): delays.addUnavailable(item.call.accountGroup, retryAfter: delay, at: time)
        case .otherOwner: delays.addUnavailable(item.call.accountGroup, retryAfter: nil, at: time)
        }
    }

    /// The time until an entry can be sent; `nil` if none is waiting.
    func wait(at time: Duration) -> Duration? {
        guard unauthorized.flatMap({ items[$0] }) == nil else { return nil }
        return firstOfEachGroup.map { max(delays.wait(at: time), delays.wait(of: $0.call.accountGroup, at: time)) }
            .min()
    }
}
