// SPDX-License-Identifier: MIT

/// A value of a request: `Encodable` and `Sendable`.
///
/// ```swift
/// struct Order: RequestModel {
///     let product: Int
/// }
///
/// let task = HTTPTask.json(Order(product: 7))
/// ```
///
/// As with ``ResponseModel``, a type that conforms to this protocol isn't isolated to the main actor in a module whose
/// default isolation is `MainActor`. A type of requests and responses conforms to both.
public protocol RequestModel: Encodable, Sendable {}
