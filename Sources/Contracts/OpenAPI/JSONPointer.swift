// SPDX-License-Identifier: MIT
import TargetKitTesting

/// The keys and indices of a value in a JSON document (RFC 6901).
struct JSONPointer: Sendable, Hashable {
    let tokens: [String]

    init(_ tokens: [String] = []) {
        self.tokens = tokens
    }

    /// Parses a reference within the same document, for example `#/components/schemas/Pet` (RFC 6901 §6).
    ///
    /// - Returns: `nil` for a reference to another document or an anchor.
    init?(reference: String) {
        guard reference.first == "#" else { return nil }
        let fragment = RequestParts.decoded(String(reference.dropFirst()))
        guard fragment.isEmpty || fragment.first == "/" else { return nil }
        self.init(fragment.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(Self.unescaped))
    }

    private static func unescaped(_ token: Substring) -> String {
        token.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
    }

    func appending(_ token: String) -> JSONPointer {
        JSONPointer(tokens + [token])
    }

    /// The value at the pointer; `nil` if there is none.
    func value(in document: JSONValue) -> JSONValue? {
        var value = document
        for token in tokens {
            switch value {
            case .object(let object):
                guard let member = object[token] else { return nil }
                value = member
            case .array(let elements):
                guard let index = JSONPath.index(token), elements.indices.contains(index) else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }

    /// The pointer as text, for example `/items/0/a~1b`; empty for the whole document.
    var text: String {
        tokens.map {
            "/" + $0.replacingOccurrences(of: "~", with: "~0").replacingOccurrences(of: "/", with: "~1")
        }.joined()
    }
}
