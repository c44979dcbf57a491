// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// What is left of the products, over a WebSocket.
package enum Feed {
    case stock
}

extension Feed: ShopTarget {
    package var route: Route { .get("/feed") }

    /// The feed needs no session.
    package var options: CallOptions { .setting(\.authorization, .none) }
}

/// A message of the feed.
package struct StockQuote: Decodable, Sendable {
    package let product: String
    package let name: String
    package let cents: Int
    package let left: Int
}
