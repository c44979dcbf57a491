// SPDX-License-Identifier: MIT

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
