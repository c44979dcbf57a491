// SPDX-License-Identifier: MIT
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
    /// The ``CredentialSession/count`` when the account changed; `nil` if it hasn't changed, or if the credential of
    /// that time is known to be the account's.
    private(set) var accountChange: Int?
    /// The ``CredentialSession/count`` when the app last set the account before a sign-in; `nil` if it hasn't, or if the
    /// credential of that time is known to be the account's.
    private(set) var announcement: Int?
    /// The owners of the entries that the account had at that time.
    private(set) var knownOwners: [String] = []
    /// The session that began before the account changed, and is the account's.
    private(set) var accountOwner: String?
    /// The owner of the last credential that this outbox has seen, and the last one before the account changed.
    private(set) var lastOwner: String?
    private(set) var formerOwner: String?
    /// Whether the app has called ``OfflineOutbox/sendNow()``, by which the next credential that this outbox sees is the
    /// account's, and its owner.
    private(set) var isConfirming = false
    private(set) var confirmedOwner: String?
    /// The ``CredentialSession/count`` before entries were kept whose credential couldn't be read.
    var unreadCounts: [UUID: Int] = [:]
    /// The entry whose call is in progress.
    var sending: UUID?
    /// The task of that call.
    var task: Task<Result<Response, TargetKitError>, Never>?
    /// The calls that aren't entries yet.
    var newCalls: [UUID: (target: Target, baseURL: URL?)] = [:]
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

// MARK: - Whose credential an entry is sent with

extension OutboxContent {
    /// Whether an entry may be sent with a request's credential.
    ///
    /// - Parameter isOfOtherServer: Whether the credential may be one of another server than the entry's. Only the
    ///   credential of the entry's own session is sent then.
    mutating func admits(_ requester: Requester, for item: OutboxItems<Target>.Item, isOfOtherServer: Bool) -> Bool {
        see(requester)
        let call = item.call
        let isUncertain = call.isOwnerUncertain == true
        if isOfOtherServer { return !isUncertain && requester.isSession(call.session, of: call.owner) }
        if call.account != nil, isOfAccount(requester), call.owner == nil || isUncertain || !requester.namesUser {
            return true
        }
        if let owner = call.owner { return owner == requester.identifier && (!isUncertain || owner == confirmedOwner) }
        if isUncertain {
            return unreadCounts[item.id].map(requester.isUnchanged) == true && !isFormer(requester)
        }
        guard requester.isKnown else { return true }
        // A user who signed in without a change of the account need not be the account's.
        let isUnannounced = call.account != nil && requester.session.map { $0.signIn.upperBound > 0 } == true
        return !isUnannounced && !isFormer(requester)
    }

    /// Stores the owner of a credential with a call. A user who was signed in before the account changed need not be
    /// the account's.
    mutating func setOwner(_ requester: Requester, of call: inout StoredCall) {
        see(requester)
        call.setOwner(requester)
        call.isOwnerUncertain = account != nil && isFormer(requester) ? true : nil
    }

    /// Sets the account.
    mutating func change(to account: String?) {
        self.account = account
        let count = CredentialSession.count
        accountChange = count
        announce(at: count)
        formerOwner = lastOwner
        (accountOwner, confirmedOwner, isConfirming) = (nil, nil, false)
        epoch += 1
        unauthorized = nil
        delays.removeAll()
    }

    /// Notes that the app sets the same account again, for example before its user signs in after a launch. It means
    /// nothing while the user is signed in.
    mutating func announce() {
        if lastOwner == nil { announce(at: CredentialSession.count) }
    }

    private mutating func announce(at count: Int) {
        announcement = count
        let own = items.all.filter { $0.call.account == account && $0.call.isOwnerUncertain != true }
        knownOwners = own.compactMap(\.call.owner)
    }

    /// Notes that the app says that its user is signed in.
    mutating func confirm() {
        isConfirming = true
        unauthorized = nil
        delays.removeAll()
    }

    /// Notes a credential. The one of the time before the account changed is known to be the account's if the app says
    /// so, or if an entry of the account had its owner.
    mutating func see(_ requester: Requester) {
        lastOwner = requester.identifier
        guard requester.isKnown else { return }
        let isFormer = isFormer(requester)
        if isConfirming, accountChange == nil || isFormer { confirmedOwner = requester.identifier }
        let isEarlier = isFormer || announcement.map(requester.isUnchanged) == true
        if isEarlier, isConfirming || requester.identifier.map(knownOwners.contains) == true {
            if isFormer, requester.session?.signIn.isEmpty == false { accountOwner = requester.identifier }
            (accountChange, announcement) = (nil, nil)
        }
        isConfirming = false
    }

    /// Whether the user signed in next after the app set the account, as documented, or had signed in before, and the
    /// app confirmed it.
    private func isOfAccount(_ requester: Requester) -> Bool {
        if let accountOwner, accountOwner == requester.identifier { return true }
        return announcement.flatMap { requester.session?.signIn.contains($0) } == true
    }

    /// Whether a credential can be the one of the user who was signed in before the account changed.
    private func isFormer(_ requester: Requester) -> Bool {
        guard let accountChange, requester.isKnown else { return false }
        return requester.session.map { $0.signIn.upperBound <= accountChange } ?? (requester.identifier == formerOwner)
    }
}

// MARK: - Entries

extension OutboxContent {
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

    /// The calls that were made for another server than the current one, including those that aren't entries yet.
    ///
    /// - Parameter baseURL: The current base URL of a target.
    func callsElsewhere(than baseURL: (Target) -> URL?) -> Set<UUID> {
        let entries = items.all.compactMap { item in item.target.map { (item.id, $0, item.call.baseURL) } }
        let calls = entries + newCalls.map { ($0.key, $0.value.target, $0.value.baseURL) }
        return Set(calls.compactMap { id, target, own in own != nil && own != baseURL(target) ? id : nil })
    }

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
        if case .sent = outcome { unreadCounts[item.id] = nil }
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
