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

    /// Whether the field must not be sent to another origin than the call's.
    package func isForOneOrigin(_ name: HTTPHeaderName) -> Bool { name == .host || canBeSecret(name) }

    /// Whether the field's value can be secret, because the field is in ``secretNames`` or by its name.
    private func canBeSecret(_ name: HTTPHeaderName) -> Bool {
        secretNames.contains(name) || (!Self.harmlessNames.contains(name) && SecretFields.canBeSecret(name.rawValue))
    }

    /// Fields that are called like secrets: keys of requests and of caches, and the nonce without which there is no
    /// handshake (RFC 6455 §4.1).
    private static let harmlessNames: Set<HTTPHeaderName> = [
        "Idempotency-Key", "X-Idempotency-Key", "Sec-WebSocket-Key", "Surrogate-Key", "X-Cache-Key",
        "X-MS-DocumentDB-PartitionKey", "X-MS-Continuation-Token",
    ]

    /// The value for descriptions: the placeholder if the field can be secret or is the metadata of an upload; otherwise
    /// the value without the queries of URLs, up to the first pair of a name and a value, such as a parameter or a member
    /// of JSON, because any name can be that of a secret, and up to the name of an authentication scheme.
    func description(of value: String, for name: HTTPHeaderName) -> String {
        if canBeSecret(name) || name == "Upload-Metadata" { return SecretFields.placeholder }
        let text = Self.hasURL(name) ? RedactedURL.references(in: value) : RedactedURL.inside(value)
        let words = text.split { ";, \t".contains($0) }
        guard let pair = words.first(where: Self.startsPair) else { return text }
        return text[..<pair.startIndex] + SecretFields.placeholder
    }

    private static func startsPair(_ word: Substring) -> Bool {
        word.utf8.contains { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "{") }
            || ["basic", "bearer", "negotiate"].contains { String(word).equalsIgnoringASCIICase($0) }
    }

    /// Whether the field's value contains URL references, which can be relative (RFC 9110 §10, RFC 8288).
    package static func hasURL(_ name: HTTPHeaderName) -> Bool {
        name == .location || name == "Content-Location" || name == "Link" || name == "Referer" || name == "Refresh"
    }
}
