// SPDX-License-Identifier: MIT

/// An array that leaves out the elements that do not decode, instead of failing for one of them.
///
/// ```swift
/// struct Post: Codable {
///     @LossyArray var tags: [String]  // ["a"] for [1, "a", null]
/// }
/// post.$tags.map(\.position)          // ["0", "2"]
/// ```
/// Missing, null, or no array at all is an empty array. Nothing is converted: for that, take ``Lenient``. What is left out is
/// in the projected value and told to the decoder's ``LenientObserver``. Two are equal when their elements are.
@propertyWrapper
public struct LossyArray<Element: Decodable> {
    /// The elements that decoded, in order.
    public var wrappedValue: [Element]

    /// The elements that did not, in order.
    public private(set) var projectedValue: [DroppedElement] = []

    /// An array of elements, nothing left out.
    public init(wrappedValue: [Element]) {
        self.wrappedValue = wrappedValue
    }
}

extension LossyArray: Sendable where Element: Sendable {}

extension LossyArray: Equatable where Element: Equatable {
    /// Whether the elements are equal, whatever was left out.
    public static func == (left: Self, right: Self) -> Bool { left.wrappedValue == right.wrappedValue }
}

extension LossyArray: Hashable where Element: Hashable {
    /// Feeds the elements.
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

extension LossyArray: Decodable {
    /// The elements of a decoder's array that decode. Throws nothing.
    public init(from decoder: any Decoder) {
        self.init(wrappedValue: [])
        guard let found = LossyElement<Element>.elements(of: decoder, mending: false) else {
            Mending.reportFailure([Element].self, decoder)
            return
        }
        wrappedValue = found.kept
        projectedValue = found.dropped
    }
}

extension LossyArray: Encodable where Element: Encodable {
    /// Gives the elements to an encoder as a plain array.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// The lossy array of a key, empty when there is no such key. Throws nothing.
    public func decode<Element>(_ type: LossyArray<Element>.Type, forKey key: Key) -> LossyArray<Element> {
        Mending.decoder(forKey: key, in: self, [Element].self).map { LossyArray(from: $0) }
            ?? LossyArray(wrappedValue: [])
    }
}

/// A dictionary that leaves out the members that do not decode, instead of failing for one of them.
///
/// ```swift
/// struct Prices: Codable {
///     @LossyDictionary var perDay: [Int: Double]  // [1: 9.5] for {"1": 9.5, "2": "free", "x": 1}
/// }
/// ```
/// A key is any type that its text makes, `String` and `Int` for two. Missing, null, or no object at all is an empty
/// dictionary. Nothing is converted: for that, take ``Lenient``. What is left out is in the projected value and told to the
/// decoder's ``LenientObserver``. Two are equal when their members are.
@propertyWrapper
public struct LossyDictionary<Key: Hashable & LosslessStringConvertible, Value: Decodable> {
    /// The members that decoded.
    public var wrappedValue: [Key: Value]

    /// The members that did not, sorted by key.
    public private(set) var projectedValue: [DroppedElement] = []

    /// A dictionary of members, nothing left out.
    public init(wrappedValue: [Key: Value]) {
        self.wrappedValue = wrappedValue
    }
}

extension LossyDictionary: Sendable where Key: Sendable, Value: Sendable {}

extension LossyDictionary: Equatable where Value: Equatable {
    /// Whether the members are equal, whatever was left out.
    public static func == (left: Self, right: Self) -> Bool { left.wrappedValue == right.wrappedValue }
}

extension LossyDictionary: Hashable where Value: Hashable {
    /// Feeds the members.
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

extension LossyDictionary: Decodable {
    /// The members of a decoder's object that decode. Throws nothing.
    public init(from decoder: any Decoder) {
        self.init(wrappedValue: [:])
        guard let found = LossyElement<Value>.members(of: decoder, mending: false) else {
            Mending.reportFailure([Key: Value].self, decoder)
            return
        }
        projectedValue = found.dropped
        for (text, value) in found.kept {
            if let key = Key(text) {
                wrappedValue[key] = value
            } else {
                let context = DecodingError.Context(
                    codingPath: decoder.codingPath + [JSONPath.PathKey(text)],
                    debugDescription: "The key is no \(Key.self)."
                )
                projectedValue.append(DroppedElement(position: text, error: DecodingError.dataCorrupted(context)))
                LossyElement<Value>.report(JSONPath.PathKey(text), decoder)
            }
        }
        projectedValue.sort { $0.position < $1.position }
    }
}

extension LossyDictionary: Encodable where Value: Encodable {
    /// Gives the members to an encoder as an object.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let members = wrappedValue.map { ($0.key.description, $0.value) }
        try container.encode(Dictionary(members) { _, last in last })
    }
}

extension KeyedDecodingContainer {
    /// The lossy dictionary of a key, empty when there is no such key. Throws nothing.
    public func decode<Name, Value>(
        _ type: LossyDictionary<Name, Value>.Type,
        forKey key: Key
    ) -> LossyDictionary<Name, Value> {
        Mending.decoder(forKey: key, in: self, [Name: Value].self).map { LossyDictionary(from: $0) }
            ?? LossyDictionary(wrappedValue: [:])
    }
}

/// An element that a lossy array or dictionary left out, and why.
public struct DroppedElement: Sendable {
    /// The element's index in the array, or its key in the object, as it was sent.
    public let position: String

    /// Why it did not decode: a `DecodingError` for most types.
    public let error: any Error

    /// An element that was left out.
    public init(position: String, error: any Error) {
        self.position = position
        self.error = error
    }
}
