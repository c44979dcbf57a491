// SPDX-License-Identifier: MIT
import Foundation
import Observation
import ShopAPI
import TargetKit
import TargetKitOffline

/// The orders that wait for a network.
@available(iOS 17, macOS 14, *)
@MainActor @Observable
public final class OfflineModel {
    /// An order in the outbox.
    public struct Row: Identifiable, Equatable, Sendable {
        /// The identifier of the entry.
        public let id: UUID
        /// The product's identifier and the count.
        public let title: String
        /// Why it isn't sent again, for the person; `nil` while it waits.
        public let message: String?
    }

    /// The orders, the oldest first.
    public private(set) var rows: [Row] = []

    private let outbox: OfflineOutbox<WaitingOrder>

    package init(_ outbox: OfflineOutbox<WaitingOrder>) {
        self.outbox = outbox
    }

    /// Follows the outbox, until the task is cancelled.
    public func follow() async {
        let events = outbox.events
        show()
        for await _ in events { show() }
    }

    /// Shows the orders as they are now.
    public func show() {
        rows = outbox.entries.map { entry in
            let lines = entry.target.order.lines.map { "\($0.count) × \($0.product)" }
            return Row(id: entry.id, title: lines.joined(separator: ", "), message: Self.message(of: entry.state))
        }
    }

    /// Sends the orders now.
    public func sendNow() {
        outbox.sendNow()
    }

    /// Removes an order.
    public func remove(_ id: UUID) async {
        try? await outbox.remove(id)
        show()
    }

    private static func message(of state: OutboxEntry<WaitingOrder>.State) -> String? {
        if case .failed(let error) = state { error.localizedDescription } else { nil }
    }
}
