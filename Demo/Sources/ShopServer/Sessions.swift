// SPDX-License-Identifier: MIT
import Foundation

/// Who is signed in, and what they have ordered.
actor Sessions {
    typealias Token = String

    private var orders: [Token: [PlacedOrder]] = [:]
    private var lastNumber = 1000

    func begin() -> Token {
        let token = UUID().uuidString.lowercased()
        orders[token] = []
        return token
    }

    func end(_ token: Token) {
        orders[token] = nil
    }

    func isOpen(_ token: Token) -> Bool {
        orders[token] != nil
    }

    func orders(of token: Token) -> [PlacedOrder] {
        orders[token] ?? []
    }

    func add(_ wish: OrderWish, cents: Int, to token: Token) -> PlacedOrder {
        lastNumber += 1
        let order = PlacedOrder(number: lastNumber, lines: wish.lines, note: wish.note, cents: cents)
        orders[token, default: []].append(order)
        return order
    }
}

/// What `POST /session` takes.
struct Credentials: Decodable {
    let user: String
    let password: String
}

/// What `POST /orders` takes.
struct OrderWish: Decodable {
    struct Line: Codable {
        let product: String
        let count: Int
    }

    let lines: [Line]
    let note: String?
}

/// What `POST /orders` gives back.
struct PlacedOrder: Encodable {
    let number: Int
    let lines: [OrderWish.Line]
    let note: String?
    let cents: Int
}
