// SPDX-License-Identifier: MIT

/// A type that ``Lenient`` can always make a value of: from what it decodes, from something near to it, or from nothing.
///
/// Strings, numbers, `Bool`, `Decimal`, `Date`, `URL`, optionals, arrays, dictionaries and ``JSONValue`` conform. For a type of
/// one's own, the default is all that there is to write:
/// ```swift
/// enum Status: String, LenientDecodable {
///     case active, closed, unknown
///     static let lenientDefault = Status.unknown
/// }
/// ```
public protocol LenientDecodable: Decodable {
    /// What stands for a value that is missing, null, or of another kind.
    static var lenientDefault: Self { get }

    /// A value made of what is there although it is of another type, `"12"` for an `Int` for one; `nil` when nothing can be made
    /// of it. Called after plain decoding has failed.
    ///
    /// Default: an enum with raw values tries its raw value so; any other type returns `nil`.
    static func mended(from decoder: any Decoder) -> Self?
}

extension LenientDecodable {
    /// Nothing but a value of this type will do.
    public static func mended(from decoder: any Decoder) -> Self? { nil }
}

extension LenientDecodable where Self: RawRepresentable, RawValue: LenientDecodable {
    /// The case whose raw value can be made of what is there.
    public static func mended(from decoder: any Decoder) -> Self? {
        RawValue.mended(from: decoder).flatMap { Self(rawValue: $0) }
    }
}
