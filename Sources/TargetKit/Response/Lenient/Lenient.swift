// SPDX-License-Identifier: MIT

/// A property that always decodes: what is missing, null or of another kind becomes a default instead of an error.
///
/// ```swift
/// struct Product: Codable {
///     @Lenient var id: Int          // 7 for 7, "7" and 7.0
///     @Lenient var name: String     // "" when missing or null
///     @Lenient var price: Decimal?  // nil when missing, null or no number
///     @Lenient var tags: [String]   // ["1", "a"] for [1, "a", null]
/// }
/// ```
/// Strings, numbers and `Bool` stand for each other as ``JSONValue/lenient`` says. The default is the type's
/// ``LenientDecodable/lenientDefault``; take ``LenientDefault`` for another one, since a value that the declaration sets is only
/// for the memberwise initializer. What was mended is told to the decoder's
/// ``LenientObserver``. Encoding writes the plain value; `nil` is left out.
@propertyWrapper
public struct Lenient<Value: LenientDecodable> {
    /// The value, or the default that stands for it.
    public var wrappedValue: Value

    /// A property with a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension Lenient: Sendable where Value: Sendable {}
extension Lenient: Equatable where Value: Equatable {}
extension Lenient: Hashable where Value: Hashable {}

extension Lenient: Decodable {
    /// What a decoder holds, mended where it must be. Throws nothing.
    public init(from decoder: any Decoder) {
        wrappedValue = Mending.value(of: Value.self, from: decoder) ?? Value.lenientDefault
    }
}

extension Lenient: Encodable where Value: Encodable {
    /// Gives the plain value to an encoder.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// The lenient property of a key, with its default when there is no such key. Throws nothing.
    public func decode<Value>(_ type: Lenient<Value>.Type, forKey key: Key) -> Lenient<Value> {
        Lenient(wrappedValue: Mending.value(of: Value.self, forKey: key, in: self) ?? Value.lenientDefault)
    }
}

extension KeyedEncodingContainer {
    /// Writes an optional property as optional properties are written: `nil` is left out.
    ///
    /// - Throws: What the value or the encoder throws.
    public mutating func encode<Wrapped: Codable>(_ property: Lenient<Wrapped?>, forKey key: Key) throws {
        try encodeIfPresent(property.wrappedValue, forKey: key)
    }
}

/// A default for ``LenientDefault``, as a type: `enum PageOne: LenientDefaultProvider { static let lenientDefault = 1 }`.
public protocol LenientDefaultProvider {
    /// The type of the property.
    associatedtype Value: Decodable

    /// What stands for a value that is missing, null, or of another kind.
    static var lenientDefault: Value { get }
}

/// A property that always decodes, as ``Lenient`` does, with a default that is named at the property.
///
/// ```swift
/// struct Query: Codable {
///     @LenientDefault<PageOne> var page: Int
///     @LenientDefault<LenientTrue> var isVisible: Bool
/// }
/// ```
@propertyWrapper
public struct LenientDefault<Provider: LenientDefaultProvider> {
    /// The value, or the default that stands for it.
    public var wrappedValue: Provider.Value

    /// A property with a value.
    public init(wrappedValue: Provider.Value) {
        self.wrappedValue = wrappedValue
    }
}

extension LenientDefault: Sendable where Provider.Value: Sendable {}
extension LenientDefault: Equatable where Provider.Value: Equatable {}
extension LenientDefault: Hashable where Provider.Value: Hashable {}

extension LenientDefault: Decodable {
    /// What a decoder holds, mended where it must be. Throws nothing.
    public init(from decoder: any Decoder) {
        wrappedValue = Mending.value(of: Provider.Value.self, from: decoder) ?? Provider.lenientDefault
    }
}

extension LenientDefault: Encodable where Provider.Value: Encodable {
    /// Gives the plain value to an encoder.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// The lenient property of a key, with its default when there is no such key. Throws nothing.
    public func decode<Provider>(
        _ type: LenientDefault<Provider>.Type,
        forKey key: Key
    ) -> LenientDefault<Provider> {
        let value = Mending.value(of: Provider.Value.self, forKey: key, in: self)
        return LenientDefault(wrappedValue: value ?? Provider.lenientDefault)
    }
}

/// `true` as a default.
public enum LenientTrue: LenientDefaultProvider, Sendable {
    /// `true`.
    public static let lenientDefault = true
}

/// 1 as a default.
public enum LenientOne: LenientDefaultProvider, Sendable {
    /// 1.
    public static let lenientDefault = 1
}
