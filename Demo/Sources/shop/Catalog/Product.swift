// SPDX-License-Identifier: MIT
import Foundation

/// A thing that the shop sells.
struct Product: Decodable, Sendable {
    let id: String
    let name: String
    let cents: Int
    let tags: [String]
}

/// What to look for: becomes `?limit=…&q=…&tags[]=…`, escaped.
struct Search: Encodable, Sendable {
    var q: String?
    var tags: [String] = []
    var limit: Int?
}

/// A price as it is shown.
func euros(_ cents: Int) -> String {
    String(format: "%.2f €", Double(cents) / 100)
}
