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
