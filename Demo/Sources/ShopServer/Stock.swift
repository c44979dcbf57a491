// SPDX-License-Identifier: MIT

/// What the shop has to sell.
struct Stock: Sendable {
    let all: [ListedProduct]

    /// - Parameter environment: The staging system has one product more.
    init(_ environment: ShopRoutes.Environment) {
        let products = [
            ListedProduct(id: "earl-grey", name: "Earl Grey", cents: 650, tags: ["black", "bergamot"]),
            ListedProduct(id: "sencha", name: "Sencha", cents: 890, tags: ["green", "japan"]),
            ListedProduct(id: "gyokuro", name: "Gyokuro", cents: 2400, tags: ["green", "japan", "shaded"]),
            ListedProduct(id: "rooibos", name: "Rooibos & vanilla", cents: 520, tags: ["herbal"]),
            ListedProduct(id: "cup", name: "Cup, 0.2 l", cents: 1150, tags: ["ware"]),
        ]
        let unreleased = ListedProduct(id: "kabusecha", name: "Kabusecha (unreleased)", cents: 1600, tags: ["japan"])
        all = environment == .staging ? products + [unreleased] : products
    }

    func product(_ id: String) -> ListedProduct? {
        all.first { $0.id == id }
    }

    /// The products whose names have the text in them, and which have each of the tags.
    func products(containing text: String, tags: [String]) -> [ListedProduct] {
        all.filter { product in
            (text.isEmpty || product.name.lowercased().contains(text.lowercased()))
                && tags.allSatisfy(product.tags.contains)
        }
    }
}

/// A product as it is listed.
struct ListedProduct: Encodable {
    let id: String
    let name: String
    let cents: Int
    let tags: [String]
}

/// What `GET /products` gives back.
struct ProductList: Encodable {
    let total: Int
    let items: [ListedProduct]
}

/// What `GET /products/{id}/stock` gives back.
struct Availability: Encodable {
    let product: String
    let left: Int
}
