// SPDX-License-Identifier: MIT

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
