// SPDX-License-Identifier: MIT
import Foundation

/// What httpbin has understood of a request, as its `/anything` says.
struct Echo: Decodable, Sendable {
    /// The method.
    let method: String
    /// The query's pairs, unescaped.
    let args: [String: Values]
    /// The form's fields, of either kind of form.
    let form: [String: Values]
    /// The form's files, by the field's name.
    let files: [String: Values]
    /// Header fields.
    let headers: [String: String]
    /// The body, when it is no form: text, or a `data:` URL of bytes that are none.
    let data: String

    /// The values of one name: httpbin writes a string for one and a list for several.
    struct Values: Decodable, Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        let all: [String]

        init(stringLiteral value: String) {
            all = [value]
        }

        init(arrayLiteral elements: String...) {
            all = elements
        }

        init(_ all: String...) {
            self.all = all
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                all = [one]
            } else {
                all = try container.decode([String].self)
            }
        }
    }
}

/// What nginx has read of a request, as the configuration's `/echo` says.
struct EchoLines: Sendable {
    /// The method.
    let method: Substring
    /// Path and query, byte for byte as they came.
    let target: Substring
    /// The query, as it came.
    let query: Substring
    /// The media type.
    let contentType: Substring
    /// The header field `X-Probe`.
    let probe: Substring
    /// The path, unescaped.
    let path: Substring

    /// - Returns: `nil` when the text is no answer of `/echo`.
    init?(_ text: String) {
        // By scalars: CR LF is one character, and would not be split.
        let lines = text.unicodeScalars.split(separator: "\n", maxSplits: 5, omittingEmptySubsequences: false)
            .map(Substring.init)
        guard lines.count == 6 else { return nil }
        (method, target, query, contentType, probe, path) = (lines[0], lines[1], lines[2], lines[3], lines[4], lines[5])
    }
}
