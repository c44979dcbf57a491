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
    package private(set) var token68: String?

    fileprivate init(scheme: String) {
        self.scheme = scheme
    }

    /// Returns the challenges in `WWW-Authenticate` fields, each of which is a list (RFC 9110 §11.6.1).
    ///
    /// Text that isn't a challenge is ignored.
    package static func challenges(in fields: [String]) -> [AuthenticationChallenge] {
        fields.flatMap { field in
            var parser = ChallengeParser(field)
            return parser.challenges()
        }
    }

    /// The value of a parameter. Names are case-insensitive, and the first parameter counts.
    package subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringASCIICase(name) }?.value
    }

    /// Whether the challenge has a scheme. Schemes are case-insensitive.
    package func hasScheme(_ other: String) -> Bool { scheme.equalsIgnoringASCIICase(other) }

    fileprivate mutating func add(_ name: String, value: String) {
        parameters.append(Parameter(name: name, value: value))
    }

    fileprivate mutating func set(token68: String) { self.token68 = token68 }
}

/// Reads the list of challenges in one field.
///
/// Commas separate both challenges and their parameters. A token followed by `=` is a parameter; any other token is the
/// scheme of the next challenge.
private struct ChallengeParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ field: String) {
        bytes = Array(field.utf8)
    }

    mutating func challenges() -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        while skipToElement() {
            let name = token(isTokenByte)
            guard !name.isEmpty else {
                skipElement()
                continue
            }
            let end = position
            skipSpace()
            if next == UInt8(ascii: "="), let last = challenges.indices.last {
                position += 1
                challenges[last].add(name, value: value())
                continue
            }
            position = end
            var challenge = AuthenticationChallenge(scheme: name)
            if let token68 = token68() { challenge.set(token68: token68) }
            challenges.append(challenge)
        }
        return challenges
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while next == 0x20 || next == 0x09 { position += 1 }
    }

    /// Skips separators, and returns `false` at the end.
    private mutating func skipToElement() -> Bool {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") { position += 1 }
        return next != nil
    }

    /// Skips text that is neither a challenge nor a parameter.
    private mutating func skipElement() {
        while let byte = next, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = quotedString() } else { position += 1 }
        }
    }

    private mutating func token(_ isMember: (UInt8) -> Bool) -> String {
        let start = position
        while let byte = next, isMember(byte) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Reads the text after a scheme if it doesn't start a parameter; otherwise, the position doesn't change.
    private mutating func token68() -> String? {
        let start = position
        skipSpace()
        guard position > start else { return nil }
        var text = token(isToken68Byte)
        text += token { $0 == UInt8(ascii: "=") }
        skipSpace()
        guard !text.isEmpty, next == nil || next == UInt8(ascii: ",") else {
            position = start
            return nil
        }
        return text
    }

    private mutating func value() -> String {
        skipSpace()
        guard next == UInt8(ascii: "\"") else { return token(isUnquotedByte) }
        return quotedString()
    }

    /// Reads a quoted string (RFC 9110 §5.6.4). An unterminated string extends to the end of the field.
    private mutating func quotedString() -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\"), let escaped = next {
                position += 1
                text.append(escaped)
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
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

private func isToken68Byte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: "-._~+/".utf8.contains(byte)
    }
}
