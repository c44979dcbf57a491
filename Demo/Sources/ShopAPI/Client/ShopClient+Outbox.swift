// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitOffline

extension ShopClient {
    /// Orders that wait for the network.
    ///
    /// - Parameter folder: A folder for the orders; `nil`: they are kept in memory.
    package func outbox(storedIn folder: URL?) throws(OutboxError) -> OfflineOutbox<WaitingOrder> {
        try OfflineOutbox(waiting, storedIn: folder)
    }
}
