// SPDX-License-Identifier: MIT
import Foundation

/// Who is signed in, and what they have ordered.
actor Sessions {
    /// A session lives as long as its refresh token; its access tokens come and go.
    private struct Session {
        var access: String
        var orders: [PlacedOrder] = []
        /// The orders by their idempotency keys.
        var keyed: [String: PlacedOrder] = [:]
    }

    private var sessions: [String: Session] = [:]
    private var lastNumber = 1000

    func begin() -> IssuedTokens {
        let tokens = IssuedTokens()
        sessions[tokens.refreshToken] = Session(access: tokens.accessToken)
        return tokens
    }

    /// New tokens for those that have expired; `nil` if the session has ended or the refresh token was used before.
    func refresh(_ token: String) -> IssuedTokens? {
        guard var session = sessions.removeValue(forKey: token) else { return nil }
        let tokens = IssuedTokens()
        session.access = tokens.accessToken
        sessions[tokens.refreshToken] = session
        return tokens
    }

    /// Ends the life of an access token, as time does.
    func expire(_ access: String) {
        guard let key = key(of: access) else { return }
        sessions[key]?.access = ""
    }

    func end(_ access: String) {
        guard let key = key(of: access) else { return }
        sessions[key] = nil
    }

    func isOpen(_ access: String) -> Bool { key(of: access) != nil }

    func orders(of access: String) -> [PlacedOrder] {
        key(of: access).flatMap { sessions[$0]?.orders } ?? []
    }

    /// Adds an order, once for each idempotency key.
    func add(_ wish: OrderWish, cents: Int, key idempotencyKey: String?, to access: String) -> PlacedOrder {
        let session = key(of: access)
        if let session, let idempotencyKey, let known = sessions[session]?.keyed[idempotencyKey] { return known }
        lastNumber += 1
        let order = PlacedOrder(number: lastNumber, lines: wish.lines, note: wish.note, cents: cents)
        guard let session else { return order }
        sessions[session]?.orders.append(order)
        if let idempotencyKey { sessions[session]?.keyed[idempotencyKey] = order }
        return order
    }

    private func key(of access: String) -> String? {
        access.isEmpty ? nil : sessions.first { $0.value.access == access }?.key
    }
}

/// What `POST /session` and `POST /session/refresh` give back.
struct IssuedTokens: Encodable {
    let accessToken = UUID().uuidString.lowercased()
    let refreshToken = UUID().uuidString.lowercased()
    /// Seconds.
    let expiresIn = 900
}

/// What `POST /session` takes.
struct Credentials: Decodable {
    let user: String
    let password: String
}

/// What `POST /session/refresh` takes.
struct RefreshRequest: Decodable {
    let refreshToken: String
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
