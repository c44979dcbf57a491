// SPDX-License-Identifier: MIT

import Foundation

/// The header fields whose values are secrets, and the text that replaces these.
public struct HeaderRedaction: Sendable, Hashable {
    /// The names of the fields with secret values.
    public var secretNames: Set<HTTPHeaderName>

    /// Creates a redaction of fields.
    public init(secretNames: Set<HTTPHeaderName>) {
        self.secretNames = secretNames
    }

    /// The fields that contain credentials by definition or by convention.
    public static let standard = Self(secretNames: [
        .authorization, .proxyAuthorization, .cookie, .setCookie,
        "Authentication-Info", "Proxy-Authentication-Info", "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Access-Token",
        "X-Csrf-Token", "X-Amz-Security-Token",
    ])

    /// The text that replaces a secret.
    package static let placeholder = "<redacted>"

    /// The value, or the placeholder if the field is secret.
    package func value(_ value: String, for name: HTTPHeaderName) -> String {
        secretNames.contains(name) ? Self.placeholder : value
    }
}

/// The names of query items and body fields that usually contain secrets.
package enum SecretFields {
    /// The names; see ``isSecret(_:)`` for how they are compared.
    package static let standard: Set<String> = [
        "password", "passwd", "passphrase", "pwd", "pin", "otp", "new_password", "old_password", "current_password",
        "confirm_password", "password_confirmation", "secret", "client_secret", "client_assertion", "assertion",
        "code_verifier", "token", "access_token", "refresh_token", "id_token", "auth_token", "session_token",
        "csrf_token",
        "api_key", "private_key", "secret_key", "access_key", "authorization", "jwt", "cvv", "cvc", "card_number",
        "signature", "sig", "x-amz-signature", "x-amz-credential", "x-amz-security-token",
    ]

    private static let normalizedNames = Set(
        standard.map { normalized($0) } + HeaderRedaction.standard.secretNames.map { normalized($0.rawValue) }
    )

    /// Whether the field is secret: one of the standard names, or the name of a secret header field.
    package static func isSecret(_ name: String) -> Bool {
        normalizedNames.contains(normalized(name))
    }

    /// The name for comparison: in lowercase, without `-` and `_`.
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

    /// The escaped query, with the values of secret items redacted.
    static func redacted(query: Substring) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let name = item.prefix { $0 != "=" }
            guard name.endIndex != item.endIndex, isSecret(PercentEncoding.decode(String(name))) else {
                return String(item)
            }
            return name + "=" + HeaderRedaction.placeholder
        }.joined(separator: "&")
    }
}

/// A type whose `dump` shows the description only, because its properties can hold secrets.
package protocol ReflectsDescription: CustomStringConvertible, CustomReflectable {}

extension ReflectsDescription {
    /// Reflects only the description.
    public var customMirror: Mirror { Mirror(describing: self) }
}

/// A value with secrets that its textual forms omit: interpolation, `debugPrint` and `dump` show the redacted
/// description.
package protocol RedactedDescription: ReflectsDescription, CustomDebugStringConvertible {
    /// The value on one line, without its secrets.
    var redactedDescription: String { get }
}

extension RedactedDescription {
    /// The redacted description.
    public var description: String { redactedDescription }
    /// The redacted description.
    public var debugDescription: String { redactedDescription }
}

extension Mirror {
    /// Creates a mirror that reflects only the description, so that `dump` reveals no secret that the description
    /// omits.
    package init(describing subject: some CustomStringConvertible) {
        self.init(subject, children: ["description": subject.description])
    }
}

/// A URL for a text that people read: without user, password, query and fragment, which may be secrets.
package struct RedactedURL: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ url: URL) {
        self.init(url.absoluteString)
    }

    package init(_ text: String) {
        var text = text[...]
        if let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[..<end] }
        // A text without white space, JSON for example, can have several URLs.
        description = text.components(separatedBy: "://").enumerated()
            .map { index, part in index == 0 ? part : "://" + Self.withoutUser(part) }
            .joined()
    }

    /// The text after `://`, without the user and the password.
    private static func withoutUser(_ text: String) -> Substring {
        guard let at = text.prefix(while: { $0 != "/" }).lastIndex(of: "@") else { return text[...] }
        return text[text.index(after: at)...]
    }

    /// The text with each URL in it redacted.
    package static func inside(_ text: String) -> String {
        guard text.contains("://") else { return text }
        var (result, word) = ("", "")
        for character in text {
            if character.isWhitespace {
                result += hidden(word)
                result.append(character)
                word = ""
            } else {
                word.append(character)
            }
        }
        return result + hidden(word)
    }

    private static func hidden(_ word: String) -> String {
        word.contains("://") ? RedactedURL(word).description : word
    }
}

extension URL {
    /// The URL with potential secrets removed, for values that appear in texts.
    package var redacted: URL {
        let text = RedactedURL(self).description
        return text == absoluteString ? self : URL(string: text) ?? URL(fileURLWithPath: "/")
    }
}
