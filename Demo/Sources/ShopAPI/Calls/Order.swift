// SPDX-License-Identifier: MIT

/// An order as it is sent.
package struct NewOrder: Codable, Sendable {
    package struct Line: Codable, Sendable {
        package let product: String
        package let count: Int

        package init(product: String, count: Int) {
            (self.product, self.count) = (product, count)
        }
    }

    package let lines: [Line]
    package let note: String?

    package init(lines: [Line], note: String?) {
        (self.lines, self.note) = (lines, note)
    }
}

/// An order as the server stores it.
package struct Order: Decodable, Sendable {
    package let number: Int
    package let cents: Int
}

/// The content of a report.
package struct OrderReport: Decodable, Sendable {
    package let orders: Int
}
