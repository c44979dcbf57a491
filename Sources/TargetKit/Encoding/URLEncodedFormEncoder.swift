// SPDX-License-Identifier: MIT

import Foundation

/// Encodes an `Encodable` value as `name=value&name=value`, for a query or a form body.
///
/// The options are those of Alamofire's encoder of the same name, so that code moves over. Values are written as
/// ``URLEncoding`` writes them, so that a dictionary reads the same by either road: numbers as short as reads back (`1.0` as
/// `1`), a `Bool` as `1` or `0`, dates as seconds since 1970, `Data` as Base64, `URL` as its absolute string.
///
/// What the value encodes through `superEncoder()` stands beside its own values, with no `super` in the name: a form is
/// flat, and a server knows nothing of classes.
/// ```swift
/// struct Search: Encodable { var text: String; var tags: [String] }
/// let query: String = try URLEncodedFormEncoder().encode(Search(text: "a b", tags: ["x", "y"]))
/// // tags%5B%5D=x&tags%5B%5D=y&text=a%20b
/// ```
public struct URLEncodedFormEncoder: Sendable {
    /// Whether names are sorted at every level. Default: yes. Without it, values come in the order they encode themselves
    /// in, which for a `Dictionary` changes from one run to the next.
    package var alphabetizeKeyValuePairs: Bool
    /// How the name of an array's element is written. Default: `key[]`.
    package var arrayEncoding: ArrayEncoding
    /// How a `Bool` is written. Default: `1` and `0`.
    package var boolEncoding: BoolEncoding
    /// How `Data` is written. Default: Base64.
    package var dataEncoding: DataEncoding
    /// How a `Date` is written. Default: seconds since 1970.
    package var dateEncoding: DateEncoding
    /// How a coding key becomes a name. Default: as it is.
    package var keyEncoding: KeyEncoding
    /// How a name within a name is written. Default: `parent[child]`.
    package var keyPathEncoding: KeyPathEncoding
    /// What stands for `nil`. Default: nothing, the name is left out too.
    package var nilEncoding: NilEncoding
    /// How a space is written. Default: `%20`.
    package var spaceEncoding: SpaceEncoding

    /// An encoder with these rules.
    public init(
        alphabetizeKeyValuePairs: Bool = true,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dataEncoding: DataEncoding = .base64,
        dateEncoding: DateEncoding = .secondsSince1970,
        keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets,
        nilEncoding: NilEncoding = .dropKey,
        spaceEncoding: SpaceEncoding = .percentEscaped
    ) {
        self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dataEncoding = dataEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.keyPathEncoding = keyPathEncoding
        self.nilEncoding = nilEncoding
        self.spaceEncoding = spaceEncoding
    }

    /// The value as an escaped query, without a leading `?`.
    ///
    /// - Throws: ``ParameterEncodingError`` with the coding path when the value is not made of names and values, or
    ///   holds NaN or infinity; or whatever the value's own `encode(to:)` or a custom rule's closure throws.
    package func encode(_ value: some Encodable) throws -> String {
        try bytes(value).string
    }

    /// The value as the bytes of a form body.
    ///
    /// - Throws: As ``encode(_:)-(Encodable)`` does.
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
