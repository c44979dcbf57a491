// SPDX-License-Identifier: MIT

import Foundation

extension URLEncodedFormEncoder {
    /// How a coding key becomes a name. Each key of a path is turned by itself.
    public enum KeyEncoding: Sendable {
        /// As it is, the default.
        case useDefaultKeys
        /// `oneTwoThree` becomes `one_two_three`, `myURLPath` becomes `my_url_path`, `_a_` stays.
        case convertToSnakeCase
        /// `oneTwoThree` becomes `one-two-three`.
        case convertToKebabCase
        /// The first letter upper-case: `oneTwoThree` becomes `OneTwoThree`.
        case capitalized
        /// `oneTwoThree` becomes `ONETWOTHREE`.
        case uppercased
        /// `oneTwoThree` becomes `onetwothree`.
        case lowercased
        /// What the closure makes of it, not yet escaped.
        case custom(@Sendable (String) -> String)

        func name(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.words(of: key).joined(separator: "_")
            case .convertToKebabCase: Self.words(of: key).joined(separator: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
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
    public struct KeyPathEncoding: Sendable {
        /// `parent[child][grandchild]`, the default.
        public static let brackets = Self { "[\($0)]" }
        /// `parent.child.grandchild`.
        public static let dots = Self { ".\($0)" }

        let part: @Sendable (_ subkey: String) -> String

        /// Adds what the closure makes of each inner key, not yet escaped, to the outer name.
        public init(_ part: @escaping @Sendable (_ subkey: String) -> String) {
            self.part = part
        }
    }
}
