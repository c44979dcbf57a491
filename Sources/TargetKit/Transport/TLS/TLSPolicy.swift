// SPDX-License-Identifier: MIT

/// The servers that a transport trusts over TLS, and the certificate that it authenticates with.
public struct TLSPolicy: Sendable, Hashable {
    /// The trusted certificates.
    public enum Trust: Sendable, Hashable {
        /// The certificates that the system trusts.
        case system
        /// Only certificates signed by one of the authorities, given as certificates in PEM (RFC 7468).
        case authorities(pem: Data)
        /// Only certificates signed by one of the authorities in the PEM file.
        case authoritiesFile(URL)
        /// **For development only.** Any certificate for the given hosts, such as `example.com` or `*.example.com`; for
        /// other hosts, the certificates that the system trusts.
        case insecureTrustAll(for: [String])
    }

    /// A client certificate.
    public struct ClientCertificate: Sendable, Hashable {
        let file: URL
        let key: URL?
        let password: String?

        /// Creates a client certificate from files.
        ///
        /// - Parameters:
        ///   - file: The certificate and its chain: PKCS#12 if its name ends in `.p12` or `.pfx`, otherwise PEM.
        ///   - key: The key in PEM; default `nil`, which means that it is in `file`.
        ///   - password: The password of the key; default: none. Apple platforms require a password for PKCS#12.
        public init(file: URL, key: URL? = nil, password: String? = nil) {
            self.file = file
            self.key = key
            self.password = password
        }
    }

    /// The host's public key isn't one of the pinned keys. This is the underlying error of the transport's `URLError`.
    public struct PinMismatch: Error, Sendable, Hashable {
        /// The host.
        public var host: String

        /// Creates a mismatch.
        init(host: String) {
            self.host = host
        }
    }

    var trust: Trust
    package var pins: [String: [String]]
    var clientCertificate: ClientCertificate?
    var requiresTLS13: Bool
    private var trustsEveryHost = false

    /// Creates a policy.
    ///
    /// ```swift
    /// TLSPolicy(pins: ["api.example.com": ["sha256 of the key", "sha256 of the backup key"]])
    /// ```
    /// - Parameters:
    ///   - trust: The trusted certificates; default: the certificates that the system trusts.
    ///   - pins: The public keys that are accepted for a host, in addition to the trust; default: none. Each is a
    ///     Base64 SHA-256 digest of the key (`SubjectPublicKeyInfo` in DER, RFC 7469 §2.4) of the host's own certificate,
    ///     not of an authority's. A host is a name, or `*.example.com` for each host one label below `example.com`.
    ///   - clientCertificate: The client certificate; default: none.
    ///   - requiresTLS13: Whether TLS 1.2 is rejected; default `false`.
    public init(
        trust: Trust = .system,
        pins: [String: [String]] = [:],
        clientCertificate: ClientCertificate? = nil,
        requiresTLS13: Bool = false
    ) {
        self.trust = trust
        self.pins = pins
        self.clientCertificate = clientCertificate
        self.requiresTLS13 = requiresTLS13
    }

    /// The system's trust, no pins, TLS 1.2.
    public static let system = Self()

    /// The digests of the keys that are accepted for the host; `nil` if it isn't pinned.
    func pinnedKeys(for host: String) -> [String]? {
        var keys: [String]?
        for (pattern, digests) in pins where Self.matches(host, pattern: pattern) { keys = (keys ?? []) + digests }
        return keys
    }

    /// This policy with trust in any certificate of any host. Use it only for a named environment of an app.
    package var trustingEveryHost: TLSPolicy {
        var policy = self
        policy.trust = .insecureTrustAll(for: [])
        policy.trustsEveryHost = true
        return policy
    }

    /// Whether any certificate is accepted for the host.
    func trustsBlindly(_ host: String) -> Bool {
        guard case .insecureTrustAll(let hosts) = trust else { return false }
        return trustsEveryHost || hosts.contains { Self.matches(host, pattern: $0) }
    }

    /// The asterisk matches one whole label (RFC 6125 §6.4.3).
    private static func matches(_ host: String, pattern: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return host.equalsIgnoringASCIICase(pattern) }
        guard let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
        return ("*" + host[dot...]).equalsIgnoringASCIICase(pattern)
    }
}

extension TLSPolicy.ClientCertificate: RedactedDescription {
    /// The file URLs, without the password.
    var redactedDescription: String {
        file.path + (key.map { ", key \($0.path)" } ?? "") + (password == nil ? "" : ", with a password")
    }
}
