// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import TargetKit

/// What the calls of all modules have in common.
protocol ShopTarget: RoutedTarget {}

extension ShopTarget {
    var baseURL: URL { ShopAddress.current }
}

/// Where the shop's server is: known when the program has started.
enum ShopAddress {
    private static let address = Mutex(URL(filePath: "/"))

    static var current: URL {
        get { address.withLock { $0 } }
        set { address.withLock { $0 = newValue } }
    }
}
