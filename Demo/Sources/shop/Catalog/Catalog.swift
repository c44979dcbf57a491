// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// The shop's products.
enum Catalog {
    case products
    case product(id: String)
    case search(Search)
}

extension Catalog: ShopTarget {
    var route: Route {
        switch self {
        case .products: .get("/products")
        case .product(let id): .get("/products/\(id)")
        case .search(let search): .get("/products", .query(search))
        }
    }

    /// The catalog needs no session.
    var options: CallOptions { .setting(\.authorization, .none) }

    var sampleData: Data {
        switch self {
        case .product:
            Data(#"{"id":"sencha","name":"Sencha","cents":890,"tags":["green"]}"#.utf8)
        case .products, .search:
            Data(#"{"total":1,"items":[{"id":"sencha","name":"Sencha","cents":890,"tags":["green"]}]}"#.utf8)
        }
    }

    func sampleResponse(in scenario: String) -> SampleResponse? {
        switch (scenario, self) {
        case ("empty shop", .products), ("empty shop", .search): .json(#"{"total":0,"items":[]}"#)
        default: nil
        }
    }
}
