// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum TeaShop: RoutedTarget {
    case products
    case product(id: Int)
    case cart
    case legacyReport

    var baseURL: URL { URL(filePath: "/") }
    var route: Route { .get("/products") }
}

nonisolated enum TeaShopError: Error {
    case soldOut
}

nonisolated struct Cart: ResponseModel { var count: Int }

nonisolated struct Repairs: Sendable {
    func append(_ text: String) {}
}

nonisolated let provider = Provider<TeaShop>()
nonisolated let name = "green"
nonisolated let repairs = Repairs()
nonisolated let error = TargetKitError(stage: .transport)

nonisolated func show(_ count: Int) {}
nonisolated func show(_ text: String) {}
nonisolated func showRetry() {}
nonisolated func showSignIn() {}
