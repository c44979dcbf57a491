// SPDX-License-Identifier: MIT

import Foundation

/// The header fields with secret values, and the text that replaces the values.
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

    /// Whether the field's value is secret, because the field is in ``secretNames`` or by its name.
    package func isSecret(_ name: HTTPHeaderName) -> Bool {
        secretNames.contains(name) || SecretFields.isSecret(name.rawValue)
    }

    /// The value for logs and descriptions: the placeholder if the field is secret; otherwise the value without the
    /// queries of URLs.
    package func value(_ value: String, for name: HTTPHeaderName) -> String {
        if isSecret(name) { return Self.placeholder }
        if name == "Upload-Metadata" { return Redaction().metadata(value) }
        return Self.hasURL(name) ? RedactedURL.references(in: value) : RedactedURL.inside(value)
    }

    /// Whether the field's value contains URL references, which can be relative (RFC 9110 §10, RFC 8288).
    package static func hasURL(_ name: HTTPHeaderName) -> Bool {
        name == .location || name == "Content-Location" || name == "Link" || name == "Referer" || name == "Refresh"
    }
}

/// A type whose `dump` shows only the description, because its properties can contain secrets.
package protocol ReflectsDescription: CustomStringConvertible, CustomReflectable {}

extension ReflectsDescription {
    /// Reflects only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A value whose secrets are omitted from its textual forms. Interpolation, `debugPrint` and `dump` show the redacted
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

/// A URL for logs and descriptions, without user, password, query and fragment, which may be secrets.
package struct RedactedURL: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ url: URL) {
        self.init(url.absoluteString)
    }

    package init(_ text: String) {
        var text = text[...]
        if let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[..<end] }
        if text.utf8.contains(UInt8(ascii: ";")) || text.contains("eyJ") {
            text = SecretFields.redacted(path: String(text))[...]
        }
        // Text without white space, such as JSON, can contain several URLs.
        let start = text.hasPrefix("//") ? "//" + Self.withoutUser(String(text.dropFirst(2))) : text
        description = start.components(separatedBy: "://").enumerated()
            .map { index, part in index == 0 ? part : "://" + Self.withoutUser(part) }
            .joined()
    }

    /// The text after `://`, without the user and the password.
    private static func withoutUser(_ text: String) -> Substring {
        guard let at = text.prefix(while: { $0 != "/" }).lastIndex(of: "@") else { return text[...] }
        return text[text.index(after: at)...]
    }

    /// The text with each URL in it redacted.
    static func inside(_ text: String) -> String {
        guard text.contains("://") else { return text }
        return words(of: text) { $0.contains("://") ? RedactedURL($0).description : $0 }
    }

    /// The text with each URL reference in it redacted, including relative ones.
    fileprivate static func references(in text: String) -> String {
        words(of: text) { RedactedURL($0).description }
    }

    private static func words(of text: String, redacted: (String) -> String) -> String {
        var (result, word) = ("", "")
        for character in text {
            if character.isWhitespace {
                result += redacted(word)
                result.append(character)
                word = ""
            } else {
                word.append(character)
            }
        }
        return result + redacted(word)
    }
}

extension URL {
    /// The URL with potential secrets removed, for logs and descriptions.
    package var redacted: URL {
        let text = RedactedURL(self).description
        return text == absoluteString ? self : URL(string: text) ?? URL(fileURLWithPath: "/")
    }
}
