// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import _TargetKitStorage

/// The record of a transfer in the file of a queue. A later record replaces an earlier one with the same identifier.
struct StoredTransfer: Codable, Sendable {
    enum State: String, Codable, Sendable {
        case waiting, paused, failed
        /// The transfer is no longer in the queue.
        case removed
    }

    var id: UUID
    /// The transfers start in the order of their numbers.
    var number: Int
    /// The JSON of the target, because another version of the app may be unable to decode it. `nil` for a removed
    /// transfer.
    var target: String?
    var priority = TransferPriority.normal
    var state: State
    /// The failure of the transfer.
    var reason: StoredFailure?
    /// The owner of the credential with which the transfer would have been made when it was added; `nil` if there was
    /// none or no plugin names it.
    var owner: String?
    /// The session of that credential, if the owner is a user with several sessions; otherwise `nil`.
    var session: String?
    /// `true` if that credential couldn't be read, otherwise `nil`.
    var isOwnerUncertain: Bool?
    /// The base URL for which the transfer was added; `nil` if it isn't known.
    var baseURL: URL?
    /// Whether a request was begun that must not be sent twice; `nil` if not.
    var isBegun: Bool?
}

extension StoredTransfer {
    /// The record of a transfer that is no longer in the queue.
    static func removed(_ id: UUID) -> Self { Self(id: id, number: 0, state: .removed) }

    /// Creates the record of a transfer. A running transfer is stored as waiting, and a finished or cancelled one as
    /// removed.
    init<Target: TargetType & Codable>(_ item: TransferQueue<Target>.Item) {
        let transfer = item.transfer
        self.init(id: transfer.id, number: item.number, target: item.json, priority: transfer.priority, state: .waiting)
        owner = item.owner
        session = item.session
        isOwnerUncertain = item.isOwnerUncertain ? true : nil
        baseURL = item.baseURL
        isBegun = item.isBegun ? true : nil
        switch transfer.state {
        case .waiting, .running: break
        case .paused: state = .paused
        case .failed(let error) where error.stage == .cancelled || error.stage == .shutDown:
            // The app was about to end. The next launch continues the transfer.
            break
        case .failed:
            state = .failed
            reason = item.failure
        case .finished, .cancelled: self = .removed(transfer.id)
        }
    }

    /// The transfer after a launch; `nil` if this version of the app can't decode it.
    func transfer<Target: TargetType & Codable>() -> Transfer<Target>? {
        guard let target: Target = target.flatMap(StoredTarget.decoded) else { return nil }
        let state: Transfer<Target>.State
        switch self.state {
        case .waiting: state = .waiting
        case .paused: state = .paused
        case .failed: state = .failed((reason ?? StoredFailure(text: "The transfer failed.")).error(of: target))
        case .removed: return nil
        }
        return Transfer(id: id, target: target, priority: priority, state: state, progress: nil)
    }
}
