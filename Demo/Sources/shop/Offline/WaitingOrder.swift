// SPDX-License-Identifier: MIT
import TargetKit

/// An order that can wait for the network: it is stored, so it is `Codable`.
struct WaitingOrder: Codable {
    let order: NewOrder
}

extension WaitingOrder: ShopTarget {
    var route: Route { .post("/orders", .json(order)) }
}
