// SPDX-License-Identifier: MIT

/// An order as it is sent.
struct NewOrder: Codable, Sendable {
    struct Line: Codable, Sendable {
        let product: String
        let count: Int
    }

    let lines: [Line]
    let note: String?
}

/// An order as the server keeps it.
struct Order: Decodable, Sendable {
    let number: Int
    let cents: Int
}

/// What a report brings.
struct OrderReport: Decodable, Sendable {
    let orders: Int
}
