// SPDX-License-Identifier: MIT

import Foundation

extension URLEncodedFormEncoder {
    /// How the name of an array's element is written. There is no standard; each server framework reads one of these.
    public enum ArrayEncoding: Sendable {
        /// `key[]=1&key[]=2`, the default, as PHP and Rails read it.
        case brackets
        /// `key=1&key=2`, as most of Java, Go and .NET read it.
        case plain
        /// `key[0]=1&key[1]=2`, as ASP.NET and Node's `qs` read it.
        case indexed
    }

    /// How a `Bool` is written.
    public enum BoolEncoding: Sendable {
        /// `1` and `0`, the default.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// How a `Date` is written.
    public enum DateEncoding: Sendable {
        /// Seconds since 1 January 1970 UTC, as short as reads back to the same number: `978307323.456`. The default.
        case secondsSince1970
        /// Milliseconds since 1 January 1970 UTC, as short as reads back to the same number.
        case millisecondsSince1970
        /// ISO 8601 (RFC 3339) in UTC with whole seconds: `2001-01-01T00:02:03Z`.
        case iso8601
        /// The text that a closure returns. The caller receives its error unchanged.
        case custom(@Sendable (Date) throws -> String)
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

extension JSONEncoder.KeyEncodingStrategy {
    /// The name of a coding path's last key: `one_two_three` for `oneTwoThree`, `my_url_path` for `myURLPath`, `_a_` for
    /// `_a_`, when converted to snake case.
    func name(of codingPath: [any CodingKey]) -> String {
        let key = codingPath.last?.stringValue ?? ""
        switch self {
        case .convertToSnakeCase: return Self.words(of: key).joined(separator: "_")
        case .custom(let closure): return closure(codingPath).stringValue
        case .useDefaultKeys: return key
        @unknown default: return key
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
