// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A thing that the shop sells.
package struct Product: ResponseModel, Hashable, Identifiable {
    package let id: String
    package let name: String
    package let cents: Int
    package let tags: [String]

    package init(id: String, name: String, cents: Int, tags: [String]) {
        (self.id, self.name, self.cents, self.tags) = (id, name, cents, tags)
    }
}

/// What to look for: becomes `?limit=…&q=…&tags[]=…`, escaped.
package struct Search: RequestModel {
    package var q: String?
    package var tags: [String] = []
    package var limit: Int?

    package init(q: String? = nil, tags: [String] = [], limit: Int? = nil) {
        (self.q, self.tags, self.limit) = (q, tags, limit)
    }
}

/// What is left of a product.
package struct Availability: ResponseModel {
    package let product: String
    package let left: Int
}

/// A price as it is shown.
package func euros(_ cents: Int) -> String {
    String(format: "%.2f €", Double(cents) / 100)
}
