// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

extension TransferQueue {
    struct Item: Sendable {
        var transfer: Transfer<Target>
        /// The JSON of the target; empty in a queue without a file.
        let json: String
        let number: Int
        /// The owner of the credential with which the transfer is made; `nil` if there was none or no plugin names it.
        var owner: String?
        /// The session of that credential, if the owner is a user with several sessions; otherwise `nil`.
        var session: String?
        /// Whether the credential couldn't be read when the transfer was added.
        var isOwnerUncertain = false
        /// The ``CredentialSession/count`` before this process added the transfer; `nil` for an earlier process.
        var sessionCount: Int?
        /// The base URL for which the transfer was added; `nil` if it isn't known.
        var baseURL: URL?
        /// Whether a server may have processed a request that must not be sent twice.
        var isBegun: Bool
        /// The stored form of the failure. It isn't computed under the lock, because that can run the app's code.
        var failure: StoredFailure?
        /// The call, from its start to its completion.
        var call: Call?
        var interruptions = TransferInterruptions()
        /// The place where the transfer waits; `nil` if it doesn't wait.
        fileprivate var place: WaitingPlace?

        init(_ transfer: Transfer<Target>, json: String, number: Int) {
            self.transfer = transfer
            self.json = json
            self.number = number
            isBegun = false
        }

        /// Creates the item of a transfer that the file contains.
        init(_ transfer: Transfer<Target>, json: String, stored: StoredTransfer) {
            self.init(transfer, json: json, number: stored.number)
            owner = stored.owner
            session = stored.session
            isOwnerUncertain = stored.isOwnerUncertain == true
            baseURL = stored.baseURL
            isBegun = stored.isBegun == true
            failure = stored.reason
        }

        mutating func setOwner(_ requester: Requester) {
            (owner, session) = (requester.identifier, requester.sessionOfUser)
        }

        /// Whether the transfer was added for another server than the current one.
        func isElsewhere(than current: (Target) -> URL?) -> Bool {
            baseURL.map { $0 != current(transfer.target) } ?? false
        }

        /// Whether the transfer has failed, and the server may have processed its call.
        var mustStayFailed: Bool {
            if case .failed = transfer.state { isBegun } else { false }
        }

        enum Call: Sendable {
            case starting
            case started(StartedCall)
        }
    }

    struct Content: Sendable {
        private(set) var items: [UUID: Item] = [:]
        /// The identifiers in the order in which the transfers were added.
        private(set) var order: [UUID] = []
        /// The transfers that can start, by priority.
        private var ready: [TransferPriority: OrderedIDs<WaitingPlace.Rank>] = [:]
        /// The transfers that are delayed after a failure, ordered by the end of the delay.
        private var delayed = OrderedIDs<Duration>()
        private var delays = RetryDelays<UUID>()
        var nextNumber = 0
        var maxConcurrent: Int
        var storageError: TransferQueueError?
        /// The number of calls in progress, including calls of paused and removed transfers.
        var callCount = 0

        init(maxConcurrent: Int) {
            self.maxConcurrent = maxConcurrent
        }

        var transfers: [Transfer<Target>] { order.compactMap { items[$0]?.transfer } }

        /// Notes that a request begins that must not be sent twice, and returns the record; `nil` if the transfer is no
        /// longer in the queue.
        mutating func begin(_ id: UUID) -> StoredTransfer? {
            items[id]?.isBegun = true
            return items[id].map { StoredTransfer($0) }
        }

        /// Sets the owner of a transfer whose credential couldn't be read, and returns the record.
        mutating func setOwner(_ owner: Requester, of id: UUID) -> StoredTransfer? {
            items[id]?.setOwner(owner)
            items[id]?.isOwnerUncertain = false
            return items[id].map { StoredTransfer($0) }
        }

        /// The transfers that were added for another server than the current one.
        ///
        /// - Parameter baseURL: The current base URL of a target.
        func transfersElsewhere(than baseURL: (Target) -> URL?) -> Set<UUID> {
            Set(items.values.filter { $0.isElsewhere(than: baseURL) }.map(\.transfer.id))
        }

        /// Adds a transfer.
        mutating func insert(_ item: Item) {
            items[item.transfer.id] = item
            // A concurrent call can store a later number first.
            let place = order.lastIndex { (items[$0]?.number ?? 0) < item.number }.map { $0 + 1 } ?? 0
            order.insert(item.transfer.id, at: place)
            updatePlace(of: item.transfer.id)
        }

        /// Replaces a changed transfer.
        mutating func replace(_ item: Item) {
            items[item.transfer.id] = item
            updatePlace(of: item.transfer.id)
        }

        /// Allows another call of a failed or cancelled transfer even if the server may have processed the last one.
        mutating func allowRepetition(of id: UUID) {
            if items[id]?.transfer.state.hasEnded == true { items[id]?.isBegun = false }
        }

        mutating func remove(_ ids: [UUID]) -> [Item] {
            let removed = ids.compactMap { id -> Item? in
                if let place = items[id]?.place { leave(place, id: id) }
                delays.forget(id)
                return items.removeValue(forKey: id)
            }
            guard let item = removed.first, removed.count == 1 else {
                let gone = Set(ids)
                order.removeAll(where: gone.contains)
                return removed
            }
            // The numbers are in order.
            var (low, high) = (0, order.count)
            while low < high {
                let middle = (low + high) / 2
                if (items[order[middle]] ?? item).number < item.number { low = middle + 1 } else { high = middle }
            }
            if low < order.count, order[low] == item.transfer.id { order.remove(at: low) }
            return removed
        }

        mutating func setProgress(_ progress: TransferProgress, of id: UUID) {
            items[id]?.transfer.progress = progress
            items[id]?.interruptions.callAdvances()
        }

        /// Records a started call. Returns whether the call is still wanted.
        mutating func began(_ call: StartedCall, of id: UUID) -> Bool {
            // The call may have ended already.
            guard case .starting? = items[id]?.call else { return items[id] != nil }
            items[id]?.call = .started(call)
            return items[id]?.transfer.state.isRunning == true
        }
    }
}

// MARK: - What starts next

extension TransferQueue.Content {
    /// Marks waiting transfers as running, up to the limit, and returns them.
    mutating func startNext(at time: Duration) -> [Transfer<Target>] {
        guard delays.wait(at: time) == .zero else { return [] }
        while let (end, id) = delayed.first, end <= time {
            delays.endDelay(of: id)
            updatePlace(of: id)
        }
        var starting: [Transfer<Target>] = []
        while callCount < maxConcurrent, let id = firstReady, var item = items[id] {
            item.call = .starting
            item.transfer.state = .running
            item.interruptions.callBegins()
            replace(item)
            callCount += 1
            starting.append(item.transfer)
        }
        return starting
    }

    /// The time until the next waiting transfer can start; zero if it became ready just now, `nil` if none waits for a
    /// time.
    func wait(at time: Duration) -> Duration? {
        guard callCount < maxConcurrent else { return nil }
        let all = delays.wait(at: time)
        if firstReady != nil { return all }
        return delayed.first.map { max(all, $0.key - time) }
    }

    private var firstReady: UUID? {
        for priority in [TransferPriority.high, .normal, .low] {
            if let first = ready[priority]?.first { return first.id }
        }
        return nil
    }

    private mutating func updatePlace(of id: UUID) {
        guard let item = items[id] else { return }
        let place: WaitingPlace? =
            if item.call != nil || !item.transfer.state.isWaiting { nil } else if let end = delays.end(of: id) {
                .delayed(end)
            } else {
                .ready(item.transfer.priority, WaitingPlace.Rank(delays.failureCount(of: id), number: item.number))
            }
        guard place != item.place else { return }
        if let old = item.place { leave(old, id: id) }
        switch place {
        case .ready(let priority, let rank)?: ready[priority, default: OrderedIDs()].insert(id, key: rank)
        case .delayed(let end)?: delayed.insert(id, key: end)
        case nil: break
        }
        items[id]?.place = place
    }

    private mutating func leave(_ place: WaitingPlace, id: UUID) {
        switch place {
        case .ready(let priority, let rank): ready[priority]?.remove(id, key: rank)
        case .delayed(let end): delayed.remove(id, key: end)
        }
    }
}

// MARK: - Delays

extension TransferQueue.Content {
    /// Delays a failed transfer, or all transfers if there was no response.
    mutating func delay(_ id: UUID, after failure: TransferRetry, at time: Duration) {
        switch failure {
        case .unavailable(let delay): delays.addUnavailable(id, retryAfter: delay, at: time)
        // Calls that fail together delay the other transfers once.
        case .noResponse where delays.wait(at: time) > .zero: delays.countFailure(of: id)
        case .noResponse: delays.addNoResponse(id, at: time)
        }
        updatePlace(of: id)
    }

    /// Ends the delay of a transfer, and all delays that the server didn't set.
    mutating func endDelays(of id: UUID) {
        delays.remove(id)
        updatePlace(of: id)
    }

    /// Ends the delays that the server didn't set.
    mutating func endNoResponse() {
        delays.endNoResponse()
    }
}

/// The place where a transfer waits.
enum WaitingPlace: Sendable, Hashable {
    /// The order of transfers with the same priority: fewer failures first.
    struct Rank: Sendable, Hashable, Comparable {
        private let failureCount: Int
        private let number: Int

        init(_ failureCount: Int, number: Int) {
            self.failureCount = failureCount
            self.number = number
        }

        static func < (first: Self, second: Self) -> Bool {
            (first.failureCount, first.number) < (second.failureCount, second.number)
        }
    }

    case ready(TransferPriority, Rank)
    /// Until a time.
    case delayed(Duration)
}
