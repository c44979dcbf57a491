// SPDX-License-Identifier: MIT

/// Encodes values as bodies of a format, for ``HTTPTask/encoded(_:by:)-type.method``.
///
/// `JSONEncoder` and `PropertyListEncoder` conform. For another format, conform a type that calls its encoder:
///
/// ```swift
/// struct XMLBodyEncoder: BodyEncoder {
///     var contentType: String { "application/xml" }
///
///     func encode<Value: Encodable>(_ value: Value) throws -> Data {
///         try XMLEncoder().encode(value, withRootKey: "order")
///     }
/// }
/// ```
///
/// A value that isn't `Encodable`, such as a protobuf message, is encoded by the closure of
/// ``HTTPTask/encoded(contentType:_:)-type.method``.
public protocol BodyEncoder: Sendable {
    /// The value of `Content-Type`, unless the headers set it.
    var contentType: String { get }

    /// Encodes a value as the bytes of a body. Can be called concurrently.
    ///
    /// - Throws: `EncodingError`, or another error of the format.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: BodyEncoder {
    /// `application/json` (RFC 8259 §11).
    public var contentType: String { "application/json" }
}

extension PropertyListEncoder: BodyEncoder {
    /// `application/x-plist`, the type of both formats.
    public var contentType: String { "application/x-plist" }
}

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
/// default isolation is `MainActor`. A type that is both sent and received conforms to both protocols.
public protocol RequestModel: Encodable, Sendable {}
