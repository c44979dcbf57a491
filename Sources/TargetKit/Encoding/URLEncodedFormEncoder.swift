// SPDX-License-Identifier: MIT

/// Encodes an `Encodable` value as `name=value&name=value`, for a query or a form body.
///
/// The options have the names of Alamofire's encoder. As in ``URLEncoding``, a number is written as the shortest
/// decimal that reads back to it (`1` for `1.0`), a `Bool` as `1` or `0`, a `Date` as seconds since 1970, `Data` as
/// Base64, `URL` as its absolute string. `nil` is omitted.
///
/// A form is flat, so a class that encodes with `superEncoder()` writes those values on its own level.
/// ```swift
/// struct Search: Encodable { var text: String; var tags: [String] }
/// let query: String = try URLEncodedFormEncoder().encode(Search(text: "a b", tags: ["x", "y"]))
/// // tags%5B%5D=x&tags%5B%5D=y&text=a%20b
/// ```
public struct URLEncodedFormEncoder: Sendable {
    let alphabetizeKeyValuePairs: Bool
    let arrayEncoding: ArrayEncoding
    let boolEncoding: BoolEncoding
    let dateEncoding: DateEncoding
    let keyEncoding: JSONEncoder.KeyEncodingStrategy
    let encodesSpacesAsPlus: Bool

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - alphabetizeKeyValuePairs: Whether names are sorted at every level; default `true`. Otherwise, values are
    ///     written in encoding order, and the order of a `Dictionary` changes between runs.
    ///   - arrayEncoding: The format of the names of array elements; default: `key[]`.
    ///   - boolEncoding: The format of a `Bool`; default: `1` and `0`.
    ///   - dateEncoding: The format of a `Date`; default: seconds since 1970.
    ///   - keyEncoding: The conversion of coding keys to names; default: unchanged.
    ///   - encodesSpacesAsPlus: Whether a space is written as `+`, as the WHATWG URL Standard's form serializer does;
    ///     default `false`, which writes `%20` (RFC 3986), valid in both queries and forms.
    public init(
        alphabetizeKeyValuePairs: Bool = true,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dateEncoding: DateEncoding = .secondsSince1970,
        keyEncoding: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys,
        encodesSpacesAsPlus: Bool = false
    ) {
        self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.encodesSpacesAsPlus = encodesSpacesAsPlus
    }

    /// Encodes a value as a form body.
    ///
    /// - Throws: An error with the coding path if the value has no names, or contains NaN or infinity; or an error of
    ///   the value's `encode(to:)` or a closure.
    public func encode(_ value: some Encodable) throws -> Data {
        let text: String = try encode(value)
        return Data(text.utf8)
    }

    /// Encodes a value as an escaped query, without a leading `?`.
    ///
    /// - Throws: The same errors as ``encode(_:)``.
    package func encode(_ value: some Encodable) throws -> String {
        let root = FormNode()
        try FormEncoder(node: root, codingPath: [], rules: self).encode(value)
        switch root.value(rules: self) {
        case nil: return ""
        case .object(let members):
            let form = FormWriter(arrays: arrayEncoding, bools: boolEncoding, spaceAsPlus: encodesSpacesAsPlus)
            return form.text(of: members)
        case .array: throw ParameterEncodingError(.rootWithoutKeys("an array"))
        default: throw ParameterEncodingError(.rootWithoutKeys("a single value"))
        }
    }
}
