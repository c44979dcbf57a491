// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import TargetKit

/// A call of the shop's server.
protocol ShopTarget: RoutedTarget {}

extension ShopTarget {
    var baseURL: URL { ShopAddress.current }
}

/// The URL of the shop's server, which is known when the program has started.
enum ShopAddress {
    private static let address = Mutex(URL(filePath: "/"))

    static var current: URL {
        get { address.withLock { $0 } }
        set { address.withLock { $0 = newValue } }
    }
}
