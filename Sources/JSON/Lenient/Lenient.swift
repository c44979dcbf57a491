// SPDX-License-Identifier: MIT
import TargetKit

/// A property that always decodes, because a default replaces a value that is missing, null, or of another type.
///
/// ```swift
/// struct Product: Codable {
///     @Lenient var id: Int          // 7 for 7, "7" and 7.0
///     @Lenient var name: String     // "" when missing or null
///     @Lenient var price: Decimal?  // nil when missing, null or no number
///     @Lenient var tags: [String]   // ["1", "a"] for [1, "a", null]
/// }
/// ```
/// Strings, numbers and `Bool` are converted as `JSONValue.lenient` describes. The default is the type's
/// ``LenientDecodable/lenientDefault``; use ``LenientDefault`` for another one. A value in the declaration applies only
/// to the memberwise initializer, not to decoding. For example, `@Lenient var page: Int = 1` is 0 for `{}`. The
/// observer of `JSONDecoder.lenient(dates:observer:)` receives each repair. The plain value is encoded, and `nil` is
/// omitted.
@propertyWrapper
public struct Lenient<Value: LenientDecodable> {
    /// The value, or the default that replaces it.
    public var wrappedValue: Value

    /// Creates a property with a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension Lenient: Sendable where Value: Sendable {}
extension Lenient: Equatable where Value: Equatable {}
extension Lenient: Hashable where Value: Hashable {}

extension Lenient: Decodable {
    /// Decodes the value, converted if needed, or uses the default. Never throws.
    public init(from decoder: any Decoder) {
        wrappedValue = Coercion.value(of: Value.self, from: decoder) ?? Value.lenientDefault
    }
}

extension Lenient: Encodable where Value: Encodable {
    /// Encodes the plain value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// Decodes the lenient property of a key, or uses its default if the key is missing. Never throws.
    public func decode<Value>(_ type: Lenient<Value>.Type, forKey key: Key) -> Lenient<Value> {
        Lenient(wrappedValue: Coercion.value(of: Value.self, forKey: key, in: self) ?? Value.lenientDefault)
    }
}

extension KeyedEncodingContainer {
    /// Encodes an optional property; `nil` is omitted.
    public mutating func encode<Wrapped: Codable>(_ property: Lenient<Wrapped?>, forKey key: Key) throws {
        try encodeIfPresent(property.wrappedValue, forKey: key)
    }
}

/// A type that provides a default for ``LenientDefault``, for example
/// `enum PageOne: LenientDefaultProvider { static let lenientDefault = 1 }`.
public protocol LenientDefaultProvider: Sendable {
    /// The type of the property.
    associatedtype Value: Decodable

    /// The default, which replaces a value that is missing, null, or of another type.
    static var lenientDefault: Value { get }
}

/// A property that always decodes, like ``Lenient``, with a specified default.
///
/// ```swift
/// struct Query: Codable {
///     @LenientDefault<PageOne> var page: Int
///     @LenientDefault<Visible> var isVisible: Bool
/// }
/// ```
@propertyWrapper
public struct LenientDefault<Provider: LenientDefaultProvider> {
    /// The value, or the default that replaces it.
    public var wrappedValue: Provider.Value

    /// Creates a property with a value.
    public init(wrappedValue: Provider.Value) {
        self.wrappedValue = wrappedValue
    }
}

extension LenientDefault: Sendable where Provider.Value: Sendable {}
extension LenientDefault: Equatable where Provider.Value: Equatable {}
extension LenientDefault: Hashable where Provider.Value: Hashable {}

extension LenientDefault: Decodable {
    /// Decodes the value, converted if needed, or uses the default. Never throws.
    public init(from decoder: any Decoder) {
        wrappedValue = Coercion.value(of: Provider.Value.self, from: decoder) ?? Provider.lenientDefault
    }
}

extension LenientDefault: Encodable where Provider.Value: Encodable {
    /// Encodes the plain value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// Decodes the lenient property of a key, or uses its default if the key is missing. Never throws.
    public func decode<Provider>(
        _ type: LenientDefault<Provider>.Type,
        forKey key: Key
    ) -> LenientDefault<Provider> {
        let value = Coercion.value(of: Provider.Value.self, forKey: key, in: self)
        return LenientDefault(wrappedValue: value ?? Provider.lenientDefault)
    }
}
