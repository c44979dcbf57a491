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
    func encode(_ value: some Encodable) throws -> String {
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

extension URLEncodedFormEncoder {
    /// The format of the names of array elements. No standard exists; each server framework accepts one of these
    /// formats.
    public enum ArrayEncoding: Sendable {
        /// `key[]=1&key[]=2`, the format of PHP and Rails. The default.
        case brackets
        /// `key=1&key=2`, the format of most Java, Go and .NET frameworks.
        case plain
        /// `key[0]=1&key[1]=2`, the format of ASP.NET and Node's `qs`.
        case indexed
    }

    /// The format of a `Bool`.
    public enum BoolEncoding: Sendable {
        /// `1` and `0`. The default.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// The format of a `Date`.
    public enum DateEncoding: Sendable {
        /// Seconds since 1 January 1970 UTC, for example `978307323.456`. The default.
        case secondsSince1970
        /// Milliseconds since 1 January 1970 UTC.
        case millisecondsSince1970
        /// ISO 8601 (RFC 3339) in UTC with whole seconds: `2001-01-01T00:02:03Z`.
        case iso8601
        /// The text that a closure returns. The closure's errors are passed to the caller unchanged.
        case custom(@Sendable (Date) throws -> String)
    }
}

extension URLEncodedFormEncoder.DateEncoding {
    /// A date as a number or a string.
    func json(of date: Date) throws -> JSONValue {
        guard date.timeIntervalSinceReferenceDate.isFinite else { throw ParameterEncodingError(.notFinite) }
        switch self {
        case .secondsSince1970: return .number(JSONNumber(.double(date.timeIntervalSince1970)))
        case .millisecondsSince1970: return .number(JSONNumber(.double(date.timeIntervalSince1970 * 1000)))
        case .iso8601:
            // Foundation's formatter traps on dates that overflow its integers.
            guard (-62_135_596_800..<253_402_300_800).contains(date.timeIntervalSince1970) else {
                throw ParameterEncodingError(.dateOutOfRange)
            }
            return .string(date.formatted(.iso8601))
        case .custom(let closure): return .string(try closure(date))
        }
    }
}

extension JSONEncoder.KeyEncodingStrategy {
    /// The name of a coding path's last key: `one_two_three` for `oneTwoThree`, `my_url_path` for `myURLPath`, `_a_`
    /// for `_a_`, when converted to snake case.
    func name(of codingPath: [any CodingKey]) -> String {
        let key = codingPath.last?.stringValue ?? ""
        switch self {
        case .convertToSnakeCase: return Self.words(of: key).joined(separator: "_")
        case .custom(let closure): return closure(codingPath).stringValue
        case .useDefaultKeys: return key
        @unknown default: return key
        }
    }

    /// The lowercase words of a camel-case key. A run of capitals is one word, without a last capital before a
    /// lowercase letter: `myURLPath` is `my`, `url`, `path`.
    private static func words(of key: String) -> [String] {
        let letters = Array(key)
        var words: [String] = []
        var start = 0
        var index = 1
        while let capital = letters.indices.dropFirst(index).first(where: { letters[$0].isUppercase }) {
            words.append(String(letters[start..<capital]).lowercased())
            start = capital
            guard let small = letters.indices.dropFirst(capital).first(where: { letters[$0].isLowercase }) else {
                break
            }
            if small > capital + 1 {
                words.append(String(letters[capital..<small - 1]).lowercased())
                start = small - 1
            }
            index = small + 1
        }
        words.append(String(letters[start...]).lowercased())
        return words
    }
}
