// SPDX-License-Identifier: MIT

import Foundation

/// Encodes an `Encodable` value as `name=value&name=value`, for a query or a form body.
///
/// The options have the names of Alamofire's encoder. Values are written as ``URLEncoding`` writes them: the shortest
/// decimal that reads back to a number (`1` for `1.0`), a `Bool` as `1` or `0`, a `Date` as seconds since 1970, `Data`
/// as Base64, `URL` as its absolute string. `nil` is omitted.
///
/// A form is flat, so values that a class encodes with `superEncoder()` are on the same level as its own.
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
    ///   - alphabetizeKeyValuePairs: Whether names are sorted at every level; default: yes. Otherwise values are
    ///     written in the order in which they are encoded, which for a `Dictionary` changes from one run to the next.
    ///   - arrayEncoding: The format of the names of array elements; default: `key[]`.
    ///   - boolEncoding: The format of a `Bool`; default: `1` and `0`.
    ///   - dateEncoding: The format of a `Date`; default: seconds since 1970.
    ///   - keyEncoding: The conversion of coding keys to names; default: unchanged.
    ///   - encodesSpacesAsPlus: Whether a space is written as `+`, as the WHATWG URL Standard's form serializer does;
    ///     default: no, as `%20` (RFC 3986), which is read the same in a query and in a form.
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

    /// Encodes a value as an escaped query, without a leading `?`.
    ///
    /// - Throws: The same errors as ``encode(_:)``.
    package func encode(_ value: some Encodable) throws -> String {
        try bytes(value).string
    }

    /// Encodes a value as a form body.
    ///
    /// - Throws: An error with the coding path if the value has no names, or contains NaN or infinity; or the error of
    ///   the value's `encode(to:)` or of a closure.
    public func encode(_ value: some Encodable) throws -> Data {
        try bytes(value).data
    }

    private func bytes(_ value: some Encodable) throws -> ByteBuffer {
        let root = FormNode()
        try FormEncoder(node: root, codingPath: [], rules: self).encode(value)
        var serializer = FormSerializer(rules: self)
        try serializer.write(root: root)
        return serializer.finish()
    }
}
