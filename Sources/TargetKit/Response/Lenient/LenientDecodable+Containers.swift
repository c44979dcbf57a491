// SPDX-License-Identifier: MIT

extension Optional: LenientDecodable where Wrapped: Decodable {
    /// `nil`.
    public static var lenientDefault: Wrapped? { nil }

    /// What the wrapped type makes of what is there.
    public static func mended(from decoder: any Decoder) -> Wrapped?? {
        guard let type = Wrapped.self as? any LenientDecodable.Type else { return nil }
        guard let wrapped = type.mended(from: decoder) as? Wrapped else { return nil }
        return .some(.some(wrapped))
    }
}

extension Array: LenientDecodable where Element: Decodable {
    /// The empty array.
    public static var lenientDefault: [Element] { [] }

    /// The elements that decode or can be mended, in order. The others are left out.
    public static func mended(from decoder: any Decoder) -> [Element]? {
        LossyElement<Element>.elements(of: decoder, mending: true)?.kept
    }
}

extension Set: LenientDecodable where Element: Decodable {
    /// The empty set.
    public static var lenientDefault: Set<Element> { [] }

    /// The elements that decode or can be mended. The others are left out.
    public static func mended(from decoder: any Decoder) -> Set<Element>? {
        LossyElement<Element>.elements(of: decoder, mending: true).map { Set($0.kept) }
    }
}

extension Dictionary: LenientDecodable where Key == String, Value: Decodable {
    /// The empty dictionary.
    public static var lenientDefault: [String: Value] { [:] }

    /// The values that decode or can be mended, by their keys. The others are left out.
    public static func mended(from decoder: any Decoder) -> [String: Value]? {
        LossyElement<Value>.members(of: decoder, mending: true)?.kept
    }
}
