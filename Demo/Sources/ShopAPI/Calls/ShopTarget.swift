// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A call of the shop's server.
///
/// Its base URL is that of production. A ``ShopClient`` sends it to the environment that is selected.
package protocol ShopTarget: RoutedTarget {}

extension ShopTarget {
    package var baseURL: URL { ShopServers.production }
}

/// The public address of the shop, which is an example: there is no such server.
package enum ShopServers {
    package nonisolated static let production = URL(string: "https://shop.example") ?? URL(filePath: "/")
}
