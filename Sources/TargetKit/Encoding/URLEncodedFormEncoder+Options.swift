// SPDX-License-Identifier: MIT

import Foundation

extension URLEncodedFormEncoder {
    /// How the name of an array's element is written. No standard says; each server framework reads one of these.
    public enum ArrayEncoding: Sendable {
        /// `key[]=1&key[]=2`, the default, as PHP and Rails read it.
        case brackets
        /// `key=1&key=2`, as most of Java, Go and .NET read it.
        case plain
        /// `key[0]=1&key[1]=2`, as ASP.NET and Node's `qs` read it.
        case indexed
        /// The closure makes the element's name, not yet escaped, of the array's name and the element's index.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)
    }

    /// How a `Bool` is written.
    public enum BoolEncoding: Sendable, Hashable {
        /// `1` and `0`, the default.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// How `Data` is written.
    public enum DataEncoding: Sendable {
        /// Base64 with padding (RFC 4648 §4), the default.
        case base64
        /// What the closure makes of it; its error goes to the caller unchanged.
        case custom(@Sendable (Data) throws -> String)
    }

    /// How a `Date` is written.
    public enum DateEncoding: Sendable {
        /// Seconds since 1 January 1970 UTC, as short as reads back to the same number: `978307323.456`. The default.
        case secondsSince1970
        /// Milliseconds since 1 January 1970 UTC, as short as reads back to the same number.
        case millisecondsSince1970
        /// ISO 8601 (RFC 3339) in UTC with whole seconds: `2001-01-01T00:02:03Z`.
        case iso8601
        /// What the closure makes of it; its error goes to the caller unchanged.
        case custom(@Sendable (Date) throws -> String)
    }

    /// How a value that is missing is written.
    public enum NilEncoding: Sendable, Hashable {
        /// Omits the name, too: the default for `nil`.
        case dropKey
        /// Writes the name with an empty value: `name=`.
        case dropValue
        /// Writes `name=null`.
        case null

        var replacement: String? {
            switch self {
            case .dropKey: nil
            case .dropValue: ""
            case .null: "null"
            }
        }
    }

    /// How a space in a name or a value is written.
    public enum SpaceEncoding: Sendable, Hashable {
        /// `%20` (RFC 3986), the default: it is read the same in a query and in a form.
        case percentEscaped
        /// `+`, as the WHATWG URL standard's form serializer writes it.
        case plusReplaced
    }
}

extension URLEncodedFormEncoder.DateEncoding {
    /// A date as a number or as text.
    enum Form {
        case number(Double)
        case text(String)
    }

    func form(of date: Date) throws -> Form {
        guard date.timeIntervalSinceReferenceDate.isFinite else { throw ParameterEncodingError(.notFinite) }
        switch self {
        case .secondsSince1970: return .number(date.timeIntervalSince1970)
        case .millisecondsSince1970: return .number(date.timeIntervalSince1970 * 1000)
        case .iso8601:
            // Foundation's formatter traps on dates that are too far away for its integers.
            guard (-62_135_596_800..<253_402_300_800).contains(date.timeIntervalSince1970) else {
                throw ParameterEncodingError(.dateOutOfRange)
            }
            return .text(date.formatted(.iso8601))
        case .custom(let closure): return .text(try closure(date))
        }
    }
}

extension URLEncodedFormEncoder.DataEncoding {
    func text(of data: Data) throws -> String {
        switch self {
        case .base64: data.base64EncodedString()
        case .custom(let closure): try closure(data)
        }
    }
}

extension URLEncodedFormEncoder {
    /// How a coding key becomes a name. Each key of a path is turned by itself.
    public enum KeyEncoding: Sendable {
        /// As it is, the default.
        case useDefaultKeys
        /// `oneTwoThree` becomes `one_two_three`, `myURLPath` becomes `my_url_path`, `_a_` stays.
        case convertToSnakeCase
        /// What the closure makes of it, not yet escaped.
        case custom(@Sendable (String) -> String)

        func name(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.words(of: key).joined(separator: "_")
            case .custom(let closure): closure(key)
            }
        }

        /// The words of a camel-case key, lower-case. A run of capitals is one word, but for its last one where a small
        /// letter follows: `myURLPath` is `my`, `url`, `path`.
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

    /// How the name of a value within a value is written.
    public enum KeyPathEncoding: Sendable, Hashable {
        /// `parent[child][grandchild]`, the default.
        case brackets
        /// `parent.child.grandchild`.
        case dots

        func part(_ key: String) -> String {
            switch self {
            case .brackets: "[\(key)]"
            case .dots: ".\(key)"
            }
        }
    }
}
