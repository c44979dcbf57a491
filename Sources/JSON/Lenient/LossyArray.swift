// SPDX-License-Identifier: MIT
import TargetKit

/// An array that omits invalid elements instead of failing.
///
/// ```swift
/// struct Cart: Codable {
///     @LossyArray var items: [Item]
/// }
/// ```
/// The array is empty if the value is missing, null, or not an array. Elements aren't converted; use ``Lenient`` to
/// convert them. The observer of `JSONDecoder.lenient(dates:observer:)` receives each omission.
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
    /// Decodes the valid elements of an array. Never throws.
    public init(from decoder: any Decoder) {
        self.init(wrappedValue: [])
        if let elements = LossyElement<Element>.elements(of: decoder, coercing: false) {
            wrappedValue = elements
        } else {
            Coercion.reportFailure([Element].self, decoder: decoder)
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
    /// Decodes the lossy array of a key, which is empty if the key is missing. Never throws.
    public func decode<Element>(_ type: LossyArray<Element>.Type, forKey key: Key) -> LossyArray<Element> {
        Coercion.decoder(forKey: key, in: self, [Element].self).map { LossyArray(from: $0) }
            ?? LossyArray(wrappedValue: [])
    }
}
