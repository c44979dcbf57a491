// SPDX-License-Identifier: MIT
import TargetKit

enum TeaShop: RoutedTarget {
    case products
    case product(id: Int)
    case cart
    case legacyReport

    var baseURL: URL { URL(filePath: "/") }
    var route: Route { .get("/products") }
}

enum TeaShopError: Error {
    case soldOut
}

struct Cart: Decodable, Sendable { var count: Int }

struct Repairs: Sendable {
    func append(_ text: String) {}
}

let provider = Provider<TeaShop>()
let repairs = Repairs()
let error = TargetKitError(stage: .transport)

func show(_ count: Int) {}
func show(_ text: String) {}
func showRetry() {}
func showSignIn() {}
