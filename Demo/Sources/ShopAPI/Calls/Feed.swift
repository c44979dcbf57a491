// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// What is left of the products, over a WebSocket.
package enum Feed: ShopTarget {
    case stock

    package var route: Route { .get("/feed") }

    /// The feed needs no session.
    package var options: CallOptions { .setting(\.authorization, .none) }
}

/// A message of the feed.
package struct StockQuote: ResponseModel {
    package let product: String
    package let name: String
    package let cents: Int
    package let left: Int
}
