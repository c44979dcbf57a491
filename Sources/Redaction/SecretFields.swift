// SPDX-License-Identifier: MIT
import TargetKit

/// The rule that recognizes the names of secret header fields, query items and body fields.
///
/// A name is split into words at `-`, `_`, other punctuation, digits, and changes of letter case: `X-Session-Key`,
/// `sessionKey` and `SESSION_KEY` have the words `session` and `key`. Only complete words count, so `monkey`, `author`
/// and `tokenizer` aren't secret. In names without separators, such as `accesstoken`, the end of a word counts. Short
/// words with other meanings count only as the last word (`paySign`, but not `sign_in`) or as the whole name (`mac`,
/// but not `macOS`).
extension SecretFields {
    /// Whether a field with this name usually contains a secret.
    package static func isSecret(_ name: some StringProtocol) -> Bool {
        ContiguousText.read(name) { isSecret(utf8: $0) }
    }

    /// Whether a field with this name, in UTF-8, usually contains a secret.
    package static func isSecret(utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        SecretNames().isSecret(utf8: name)
    }

    /// Whether a query item or form field with this name usually contains a secret. This includes `code`, which can be
    /// OAuth's authorization code (RFC 6749 §4.1.2) or a code sent to the user. In JSON, the name is common for other
    /// values.
    package static func isSecretParameter(_ name: some StringProtocol) -> Bool {
        ContiguousText.read(name) { isSecretParameter(utf8: $0) }
    }

    /// Whether a query item or form field with this name, in UTF-8, usually contains a secret.
    package static func isSecretParameter(utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        SecretNames().isSecretParameter(utf8: name)
    }

    /// The name for comparison, in lowercase without `-` and `_`.
    package static func normalized(_ name: some StringProtocol) -> String {
        String(unsafeUninitializedCapacity: name.utf8.count) { text in
            var count = 0
            for byte in name.utf8 where byte != UInt8(ascii: "_") && byte != UInt8(ascii: "-") {
                text.initializeElement(at: count, to: byte.asciiLowercased)
                count += 1
            }
            return count
        }
    }

    /// The path, with the values of secret path parameters (`/a;jsessionid=1`, RFC 3986 §3.3) and JSON Web Tokens
    /// redacted.
    package static func redacted(path: String) -> String {
        guard path.containsBytes(of: "eyJ") else { return redacted(parametersOf: path) }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { isJWT($0.utf8) ? placeholder : redacted(parametersOf: String($0)) }
            .joined(separator: "/")
    }

    private static func redacted(parametersOf path: String) -> String {
        let parts = path.split(separator: ";", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            guard index > 0, let end = part.firstIndex(of: "="), isSecret(part[..<end]) else { return String(part) }
            return part[...end] + placeholder + part[end...].drop { $0 != "/" && $0 != "?" }
        }.joined(separator: ";")
    }
}

extension HeaderRedaction {
    /// Whether the field's value is secret, because the field is in `secretNames` or by its name.
    package func isSecret(_ name: HTTPHeaderName) -> Bool {
        secretNames.contains(name) || SecretFields.isSecret(name.rawValue)
    }
}
