// SPDX-License-Identifier: MIT

/// A value of a response: `Decodable` and `Sendable`.
///
/// ```swift
/// struct Product: ResponseModel {
///     let id: Int
///     let name: String
/// }
///
/// let product = try await provider.request(.product(id: 7), as: Product.self)
/// ```
///
/// In a module whose default isolation is `MainActor`, as in a new app, a type that conforms to `Decodable` alone is
/// isolated to the main actor, and can't be decoded by a call. A type that conforms to this protocol isn't isolated, and
/// needs no further annotation. In other modules, `Decodable & Sendable` is the same.
public protocol ResponseModel: Decodable, Sendable {}
