// SPDX-License-Identifier: MIT

/// What signing in takes.
struct Credentials: Encodable, Sendable {
    let user: String
    let password: String
}

/// What signing in brings.
struct SignedIn: Decodable, Sendable {
    let token: String
}
