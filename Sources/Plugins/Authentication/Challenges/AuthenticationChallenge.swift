// SPDX-License-Identifier: MIT
import TargetKit

/// A challenge of a `WWW-Authenticate` field, which is a scheme with parameters (RFC 9110 §11.3).
package struct AuthenticationChallenge: Sendable, Hashable {
    /// A parameter of a challenge (RFC 9110 §11.2).
    package struct Parameter: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    /// The scheme in the server's spelling, for example `Basic`.
    package let scheme: String
    /// The parameters in order, with quoted strings unquoted.
    package private(set) var parameters: [Parameter] = []
    /// The `token68` that some schemes, such as `Negotiate`, have instead of parameters.
    package let token68: String?

    private init(scheme: String, token68: String?) {
        self.scheme = scheme
        self.token68 = token68
    }

    /// Returns the challenges in `WWW-Authenticate` fields, each of which is a list (RFC 9110 §11.6.1).
    ///
    /// Text that isn't a challenge is ignored.
    package static func challenges(in fields: [String]) -> [AuthenticationChallenge] {
        fields.flatMap { field in
            var challenges: [AuthenticationChallenge] = []
            var parser = FieldParser(field)
            while true {
                _ = parser.text { $0.isSpaceOrTab || $0 == UInt8(ascii: ",") }
                if parser.isAtEnd { return challenges }
                let name = String(parser.text(while: isTokenByte))
                var rest = parser
                rest.skipSpaces()
                if name.isEmpty {
                    // Neither a challenge nor a parameter.
                    parser.skipElement(before: ",")
                } else if let last = challenges.indices.last, rest.skip("=") {
                    // A token followed by `=` is a parameter. Any other token is the scheme of the next challenge.
                    parser = rest
                    parser.skipSpaces()
                    let value = parser.quotedString()?.text ?? String(parser.text(while: isUnquotedByte))
                    challenges[last].parameters.append(Parameter(name: name, value: value))
                } else {
                    challenges.append(AuthenticationChallenge(scheme: name, token68: parser.token68()))
                }
            }
        }
    }

    /// The value of a parameter. Names are case-insensitive, and the first parameter counts.
    package subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringASCIICase(name) }?.value
    }

    /// Whether the challenge has a scheme. Schemes are case-insensitive.
    package func hasScheme(_ other: String) -> Bool { scheme.equalsIgnoringASCIICase(other) }
}

extension FieldParser {
    /// Reads the text after a scheme if it doesn't start a parameter; `nil` otherwise.
    fileprivate mutating func token68() -> String? {
        guard next?.isSpaceOrTab == true else { return nil }
        var rest = self
        rest.skipSpaces()
        var text = String(rest.text { $0.isLetterOrDigit || "-._~+/".utf8.contains($0) })
        text += rest.text { $0 == UInt8(ascii: "=") }
        rest.skipSpaces()
        guard !text.isEmpty, rest.isAtEnd || rest.next == UInt8(ascii: ",") else { return nil }
        self = rest
        return text
    }
}

/// Whether the byte may be part of a scheme or a name. Bytes such as `/` and `:`, which RFC 9110 §5.6.2 forbids, are
/// accepted.
private func isTokenByte(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && !#"",=\;()<>[]{}"#.utf8.contains(byte)
}

/// Whether the byte may be part of a value without quotes, which ends at a space or a comma, because servers send
/// unquoted URLs and base64.
private func isUnquotedByte(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\"")
}
