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

    /// Whether the field's value is secret, because the field is in ``secretNames`` or by its name.
    package func isSecret(_ name: HTTPHeaderName) -> Bool {
        secretNames.contains(name) || SecretFields.isSecret(name.rawValue)
    }

    /// Whether the field must not be sent to another origin than the call's.
    package func isForOneOrigin(_ name: HTTPHeaderName) -> Bool {
        // A nonce, without which there is no handshake (RFC 6455 §4.1).
        if name == "Sec-WebSocket-Key" { return false }
        return name == .host || isSecret(name)
    }

    /// The value for logs: the placeholder if the field is secret or the metadata of an upload; otherwise the value
    /// without the queries of URLs.
    package func value(_ value: String, for name: HTTPHeaderName) -> String {
        if isSecret(name) || name == "Upload-Metadata" { return SecretFields.placeholder }
        return Self.hasURL(name) ? RedactedURL.references(in: value) : RedactedURL.inside(value)
    }

    /// The value for descriptions, up to the first pair of a name and a value, such as a parameter or a member of JSON,
    /// because any name can be that of a secret, and up to the name of an authentication scheme.
    func description(of value: String, for name: HTTPHeaderName) -> String {
        let text = self.value(value, for: name)
        let words = text.split { ";, \t".contains($0) }
        guard let pair = words.first(where: Self.startsPair) else { return text }
        return text[..<pair.startIndex] + SecretFields.placeholder
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
