// SPDX-License-Identifier: MIT

/// An array that omits elements that cannot be decoded, instead of failing.
///
/// ```swift
/// struct Cart: Codable {
///     @LossyArray var items: [Item]
/// }
/// ```
/// The array is empty if the value is missing, null, or not an array. Elements are not converted: ``Lenient`` does that. The
/// decoder's `lenientObserver` is told what was omitted.
@propertyWrapper
public struct LossyArray<Element: Decodable> {
    /// The elements that could be decoded.
    public var wrappedValue: [Element]

    /// Creates an array with elements.
    public init(wrappedValue: [Element]) {
        self.wrappedValue = wrappedValue
    }
}

extension LossyArray: Sendable where Element: Sendable {}
extension LossyArray: Equatable where Element: Equatable {}
extension LossyArray: Hashable where Element: Hashable {}

extension LossyArray: Decodable {
    /// Decodes the elements of an array that can be decoded. Throws no error.
    public init(from decoder: any Decoder) {
        self.init(wrappedValue: [])
        if let elements = LossyElement<Element>.elements(of: decoder, coercing: false) {
            wrappedValue = elements
        } else {
            Coercion.reportFailure([Element].self, decoder)
        }
    }
}

extension LossyArray: Encodable where Element: Encodable {
    /// Encodes the elements as an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// Decodes the lossy array of a key; empty if the key is missing. Throws no error.
    public func decode<Element>(_ type: LossyArray<Element>.Type, forKey key: Key) -> LossyArray<Element> {
        Coercion.decoder(forKey: key, in: self, [Element].self).map { LossyArray(from: $0) }
            ?? LossyArray(wrappedValue: [])
    }
}

/// A dictionary that omits members that cannot be decoded, instead of failing.
///
/// ```swift
/// struct Prices: Codable {
///     @LossyDictionary var perDay: [Int: Double]  // [1: 9.5] for {"1": 9.5, "2": "free", "x": 1}
/// }
/// ```
/// A key is of any type that a text represents, for example `String` or `Int`. The dictionary is empty if the value is missing,
/// null, or not an object. Values are not converted: ``Lenient`` does that. The decoder's
/// `lenientObserver` is told what was omitted.
@propertyWrapper
public struct LossyDictionary<Key: Hashable & LosslessStringConvertible, Value: Decodable> {
    /// The members that could be decoded.
    public var wrappedValue: [Key: Value]

    /// Creates a dictionary with members.
    public init(wrappedValue: [Key: Value]) {
        self.wrappedValue = wrappedValue
    }
}

extension LossyDictionary: Sendable where Key: Sendable, Value: Sendable {}
extension LossyDictionary: Equatable where Value: Equatable {}
extension LossyDictionary: Hashable where Value: Hashable {}

extension LossyDictionary: Decodable {
    /// Decodes the members of an object that can be decoded. Throws no error.
    public init(from decoder: any Decoder) {
        self.init(wrappedValue: [:])
        guard let members = LossyElement<Value>.members(of: decoder, coercing: false) else {
            Coercion.reportFailure([Key: Value].self, decoder)
            return
        }
        for (text, value) in members {
            if let key = Key(text) {
                wrappedValue[key] = value
            } else {
                LossyElement<Value>.report(JSONPath.PathKey(text), decoder)
            }
        }
    }
}

extension LossyDictionary: Encodable where Value: Encodable {
    /// Encodes the members as an object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let members = wrappedValue.map { ($0.key.description, $0.value) }
        try container.encode(Dictionary(members) { _, last in last })
    }
}

extension KeyedDecodingContainer {
    /// Decodes the lossy dictionary of a key; empty if the key is missing. Throws no error.
    public func decode<Name, Value>(
        _ type: LossyDictionary<Name, Value>.Type,
        forKey key: Key
    ) -> LossyDictionary<Name, Value> {
        Coercion.decoder(forKey: key, in: self, [Name: Value].self).map { LossyDictionary(from: $0) }
            ?? LossyDictionary(wrappedValue: [:])
    }
}
