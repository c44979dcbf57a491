// SPDX-License-Identifier: MIT

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

    /// The value for logs: the placeholder if the field is secret or the metadata of an upload; otherwise the value
    /// without the queries of URLs.
    package func value(_ value: String, for name: HTTPHeaderName) -> String {
        if isSecret(name) || name == "Upload-Metadata" { return Self.placeholder }
        return Self.hasURL(name) ? RedactedURL.references(in: value) : RedactedURL.inside(value)
    }

    /// The value for descriptions, up to the first pair of a name and a value, such as a parameter or a member of JSON,
    /// because any name can be that of a secret, and up to the name of an authentication scheme.
    func description(of value: String, for name: HTTPHeaderName) -> String {
        let text = self.value(value, for: name)
        let words = text.split { ";, \t".contains($0) }
        guard let pair = words.first(where: Self.startsPair) else { return text }
        return text[..<pair.startIndex] + Self.placeholder
    }

    private static func startsPair(_ word: Substring) -> Bool {
        word.utf8.contains { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "{") }
            || ["basic", "bearer", "negotiate"].contains { word.equalsIgnoringASCIICase($0) }
    }

    /// Whether the field's value contains URL references, which can be relative (RFC 9110 §10, RFC 8288).
    package static func hasURL(_ name: HTTPHeaderName) -> Bool {
        name == .location || name == "Content-Location" || name == "Link" || name == "Referer" || name == "Refresh"
    }
}

/// A URL for logs and descriptions, without user, password, query and fragment, which may be secrets.
package struct RedactedURL: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ url: URL) {
        self.init(url.absoluteString)
    }

    init(_ text: String) {
        // Most URLs of APIs contain nothing to redact.
        guard text.utf8.contains(where: "@;?#".utf8.contains) || text.containsBytes(of: "eyJ") else {
            description = text
            return
        }
        var text = text[...]
        // By bytes, because a `?` and a combining mark after it are one character.
        if let end = text.utf8.firstIndex(where: "?#".utf8.contains) { text = text[..<end] }
        if text.utf8.contains(UInt8(ascii: ";")) || text.containsBytes(of: "eyJ") {
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
        let authority = text.utf8.prefix { $0 != UInt8(ascii: "/") }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return text[...] }
        return text[text.utf8.index(after: at)...]
    }

    /// The text with each URL in it redacted.
    static func inside(_ text: String) -> String {
        guard text.containsBytes(of: "://") else { return text }
        return words(of: text) { $0.containsBytes(of: "://") ? RedactedURL($0).description : $0 }
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
