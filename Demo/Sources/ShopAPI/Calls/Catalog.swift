// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// The shop's products.
package enum Catalog: ShopTarget {
    case products
    case product(id: String)
    case search(Search)
    case availability(id: String)

    package var route: Route {
        switch self {
        case .products: .get("/products")
        case .product(let id): .get("/products/\(id)")
        case .search(let search): .get("/products", .query(search))
        case .availability(let id): .get("/products/\(id)/stock")
        }
    }

    /// The catalog needs no session.
    package var options: CallOptions { .setting(\.authorization, .none) }

    package var sampleData: Data {
        switch self {
        case .product:
            Data(#"{"id":"sencha","name":"Sencha","cents":890,"tags":["green"]}"#.utf8)
        case .availability: Data(#"{"product":"sencha","left":12}"#.utf8)
        case .products, .search:
            Data(#"{"total":1,"items":[{"id":"sencha","name":"Sencha","cents":890,"tags":["green"]}]}"#.utf8)
        }
    }

    package func sampleResponse(in scenario: String) -> SampleResponse? {
        switch (scenario, self) {
        case ("empty shop", .products), ("empty shop", .search): .json(#"{"total":0,"items":[]}"#)
        default: nil
        }
    }
}
