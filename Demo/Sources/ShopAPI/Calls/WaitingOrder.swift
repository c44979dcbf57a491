// SPDX-License-Identifier: MIT
import TargetKit

/// An order that can wait for the network: it is stored, so it is `Codable`.
package struct WaitingOrder: ShopTarget, Codable {
    package let order: NewOrder

    package init(order: NewOrder) { self.order = order }

    package var route: Route { .post("/orders", .json(order)) }
}
