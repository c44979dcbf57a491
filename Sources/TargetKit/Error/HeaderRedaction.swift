// SPDX-License-Identifier: MIT

/// Which header fields hold secrets, and what stands in their place in a text for people.
public struct HeaderRedaction: Sendable, Hashable {
    /// The names of the fields whose values are never shown.
    public var secretNames: Set<HTTPHeaderName>

    /// A redaction of those fields.
    public init(secretNames: Set<HTTPHeaderName>) {
        self.secretNames = secretNames
    }

    /// The fields that carry credentials by their definition or by wide custom.
    public static let standard = Self(secretNames: [
        .authorization, .proxyAuthorization, .cookie, .setCookie,
        "Authentication-Info", "Proxy-Authentication-Info", "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Access-Token",
        "X-Csrf-Token", "X-Amz-Security-Token",
    ])

    /// What stands in the place of a secret.
    public static let placeholder = "<redacted>"

    /// The value, or the placeholder when the field is secret.
    public func value(_ value: String, for name: HTTPHeaderName) -> String {
        secretNames.contains(name) ? Self.placeholder : value
    }
}
