// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import _TargetKitStorage

/// The record of a change of one entry in the file of an outbox.
struct OutboxRecord: Codable, Sendable {
    enum Change: String, Codable, Sendable {
        /// The entry was added.
        case kept
        /// A call that must not be retried was started.
        case begun
        case moved
        /// The owner of the entry's credential became known.
        case owned
        case failed
        case expired
        /// The entry is sent again.
        case waiting
        /// The entry was sent or removed.
        case ended
    }

    var change: Change
    var id: UUID
    /// The call of an entry that was added.
    var call: StoredCall?
    /// The entry before which this one was moved; `nil` for the end.
    var next: UUID?
    /// The owner that became known.
    var owner: String?
    /// The owner's session that became known.
    var session: String?
    /// The failure of the entry's call.
    var reason: StoredFailure?
    /// The date of the retry, from which the entry's age is measured.
    var date: Date?
}

extension OutboxRecord {
    private static let markID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The first record of a file that an outbox has shortened. It changes no entry.
    static let mark = OutboxRecord(change: .ended, id: markID)

    var isMark: Bool { id == Self.markID }

    /// The failure of an entry's call.
    static func failed(_ id: UUID, failure: StoredFailure) -> Self {
        Self(change: .failed, id: id, reason: failure)
    }
}

/// The call of an entry.
struct StoredCall: Codable, Sendable {
    /// The JSON of the target, because another version of the app may be unable to decode it.
    var target: String
    /// The value of `Idempotency-Key`; `nil` for none.
    var key: String?
    var account: String?
    /// The owner of the credential with which the call was made, or would have been made when it was kept; `nil` if
    /// there was none or no plugin names it.
    var owner: String?
    /// The session of that credential, if the owner is a user with several sessions; otherwise `nil`.
    var session: String?
    /// `true` if the call may belong to another user than ``owner``, who was signed in when the account had changed, or
    /// if the credential couldn't be read; otherwise `nil`.
    var isOwnerUncertain: Bool?
    var group: String?
    /// The base URL for which the call was made; `nil` if it isn't known.
    var baseURL: URL?
    var policy: OutboxPolicy
    var date: Date

    /// Sets the owner and the session.
    mutating func setOwner(_ requester: Requester) {
        (owner, session) = (requester.identifier, requester.sessionOfUser)
    }

    /// The group, whose entries are sent in order. Without an account, the calls of one user must not wait for those of
    /// another.
    var accountGroup: OutboxGroup {
        if account != nil { return OutboxGroup(account: account, group: group) }
        return OutboxGroup(owner: owner, isOwnerUncertain: isOwnerUncertain == true, group: group)
    }
}

struct OutboxGroup: Hashable, Sendable {
    var account: String?
    var owner: String?
    var isOwnerUncertain = false
    var group: String?
}

/// The entries that the records of a file describe.
struct OutboxItems<Target: TargetType & Codable>: Sendable {
    struct Item: Sendable {
        enum State: Sendable {
            case waiting, begun, expired
            case failed(StoredFailure)
        }

        let id: UUID
        var call: StoredCall
        /// `nil` if this version of the app can't decode it.
        let target: Target?
        var state = State.waiting

        init(id: UUID, call: StoredCall) {
            self.id = id
            self.call = call
            target = StoredTarget.decoded(call.target)
        }

        /// Whether the entry failed or expired.
        var isFailedOrExpired: Bool {
            switch state {
            case .waiting, .begun: false
            case .failed, .expired: true
            }
        }
    }

    private(set) var items: [UUID: Item] = [:]
    private(set) var order: [UUID] = []
    /// The number of bytes of all targets.
    private(set) var byteCount = 0

    subscript(id: UUID) -> Item? { items[id] }

    /// The entries in order.
    var all: [Item] { order.compactMap { items[$0] } }

    mutating func apply(_ record: OutboxRecord) {
        switch record.change {
        case .kept: if let call = record.call { add(Item(id: record.id, call: call)) }
        case .begun: items[record.id]?.state = .begun
        case .moved: move(record.id, before: record.next)
        case .owned:
            items[record.id]?.call.owner = record.owner
            items[record.id]?.call.session = record.session
            items[record.id]?.call.isOwnerUncertain = nil
        case .failed: items[record.id]?.state = .failed(record.reason ?? StoredFailure(text: "The call failed."))
        case .expired: items[record.id]?.state = .expired
        case .waiting:
            items[record.id]?.state = .waiting
            if let date = record.date { items[record.id]?.call.date = date }
        case .ended: remove(record.id)
        }
    }

    private mutating func add(_ item: Item) {
        guard items[item.id] == nil else { return }
        items[item.id] = item
        order.append(item.id)
        byteCount += item.call.target.utf8.count
    }

    private mutating func remove(_ id: UUID) {
        guard let item = items.removeValue(forKey: id) else { return }
        byteCount -= item.call.target.utf8.count
        order.removeAll { $0 == id }
    }

    private mutating func move(_ id: UUID, before next: UUID?) {
        guard items[id] != nil, id != next else { return }
        order.removeAll { $0 == id }
        order.insert(id, at: next.flatMap { order.firstIndex(of: $0) } ?? order.count)
    }

    /// The shortest list of records that describes the entries.
    var records: [OutboxRecord] {
        all.flatMap { item -> [OutboxRecord] in
            let kept = OutboxRecord(change: .kept, id: item.id, call: item.call)
            return switch item.state {
            case .waiting: [kept]
            case .begun: [kept, OutboxRecord(change: .begun, id: item.id)]
            case .expired: [kept, OutboxRecord(change: .expired, id: item.id)]
            case .failed(let failure): [kept, .failed(item.id, failure: failure)]
            }
        }
    }
}
