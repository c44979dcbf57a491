// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A transfer as it is kept in the file of a queue. A later record replaces an earlier one with the same identifier.
struct StoredTransfer<Target: TargetType & Codable>: Codable, Sendable {
    enum State: String, Codable, Sendable {
        case waiting, paused, failed
        /// The transfer is no longer in the queue.
        case removed
    }

    var id: UUID
    /// The transfers start in the order of their numbers.
    var number: Int
    /// `nil` for a transfer that was removed.
    var target: Target?
    var priority: TransferPriority
    var state: State
    /// The description of the failure.
    var failure: String?
    /// The failure; `nil` if an earlier version of the library has written the record.
    var reason: StoredFailure?
    /// Orders the records of one process; not stored.
    var revision = 0

    private enum CodingKeys: CodingKey {
        case id, number, target, priority, state, failure, reason
    }
}

extension StoredTransfer {
    /// The transfers that are described by the records of a file, in the order of their numbers.
    static func latest(in records: [Self]) -> [Self] {
        var latest: [UUID: Self] = [:]
        for record in records { latest[record.id] = record }
        return latest.values.filter { $0.state != .removed && $0.target != nil }.sorted { $0.number < $1.number }
    }

    /// The record of a transfer that is no longer in the queue.
    static func removed(_ id: UUID, revision: Int = 0) -> Self {
        Self(id: id, number: 0, target: nil, priority: .normal, state: .removed, revision: revision)
    }

    /// The record of a transfer; one that is running is stored as waiting, and one that has ended for good as removed.
    ///
    /// - Parameter failure: Its failure.
    init(_ transfer: Transfer<Target>, number: Int, revision: Int, failure: StoredFailure? = nil) {
        self.init(
            id: transfer.id,
            number: number,
            target: transfer.target,
            priority: transfer.priority,
            state: .waiting
        )
        switch transfer.state {
        case .waiting, .running: break
        case .paused: state = .paused
        case .failed(let error) where error.stage == .cancelled || error.stage == .shutDown:
            // The app was about to end: the next launch goes on.
            break
        case .failed:
            state = .failed
            self.failure = failure?.description
            reason = failure
        case .finished, .cancelled: self = .removed(transfer.id)
        }
        self.revision = revision
    }

    var storedFailure: StoredFailure { reason ?? StoredFailure(text: failure ?? "The transfer failed.") }

    /// The transfer as it is after a launch.
    var transfer: Transfer<Target>? {
        guard let target else { return nil }
        let state: Transfer<Target>.State
        switch self.state {
        case .waiting: state = .waiting
        case .paused: state = .paused
        case .failed: state = .failed(storedFailure.error(of: target))
        case .removed: return nil
        }
        return Transfer(id: id, target: target, priority: priority, state: state, progress: nil)
    }
}
