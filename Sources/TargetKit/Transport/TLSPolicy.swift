// SPDX-License-Identifier: MIT
import Foundation

/// Which servers a transport trusts over TLS, and how it authenticates itself.
public struct TLSPolicy: Sendable, Hashable {
    /// Which certificates are trusted.
    public enum Trust: Sendable, Hashable {
        /// The certificates that the system trusts.
        case system
        /// Only certificates signed by one of the given authorities, as certificates in PEM (RFC 7468).
        case authorities(pem: Data)
        /// Only certificates signed by one of the authorities in the PEM file.
        case authoritiesFile(URL)
        /// **For development only.** Any certificate for the given hosts, named exactly or as `*.example.com`; for other
        /// hosts, the certificates that the system trusts.
        case insecureTrustAll(for: [String])
    }

    /// The public keys that are accepted for a host.
    public struct Pin: Sendable, Hashable {
        /// The host's name, or `*.example.com` for each host one label below `example.com`.
        public var host: String
        /// The SHA-256 digests of the accepted keys (`SubjectPublicKeyInfo` in DER, RFC 7469 §2.4), in base64.
        public var keys: [String]

        /// Creates a pin.
        public init(host: String, keys: [String]) {
            self.host = host
            self.keys = keys
        }
    }

    /// A client certificate.
    public struct ClientCertificate: Sendable, Hashable {
        /// The file with the certificate and its chain: PKCS#12 if its name ends in `.p12` or `.pfx`, otherwise PEM.
        public var file: URL
        /// The PEM file with the key; `nil` when it is in ``file``.
        public var key: URL?
        /// The password of the key; `nil` when it has none.
        public var password: String?

        /// Creates a client certificate from files.
        public init(file: URL, key: URL? = nil, password: String? = nil) {
            self.file = file
            self.key = key
            self.password = password
        }
    }

    /// A version of TLS.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case v1_2
        /// TLS 1.3 (RFC 8446).
        case v1_3
    }

    /// The host's public key is not one of the pinned keys. It is the underlying error of the transport's `URLError`.
    public struct PinMismatch: Error, Sendable, Hashable {
        /// The host.
        public var host: String

        /// Creates a mismatch.
        package init(host: String) {
            self.host = host
        }
    }

    /// Which certificates are trusted; default: the system's.
    public var trust: Trust
    /// The keys that hosts are pinned to, in addition to ``trust``; default: none.
    public var pins: [Pin]
    /// The client certificate; default: none.
    public var clientCertificate: ClientCertificate?
    /// The minimum TLS version; default: TLS 1.2.
    public var minimumVersion: Version

    /// Creates a policy, by default the system's.
    public init(
        trust: Trust = .system,
        pins: [Pin] = [],
        clientCertificate: ClientCertificate? = nil,
        minimumVersion: Version = .v1_2
    ) {
        self.trust = trust
        self.pins = pins
        self.clientCertificate = clientCertificate
        self.minimumVersion = minimumVersion
    }

    /// The system's trust, no pins, TLS 1.2.
    public static let system = Self()

    /// The digests of the keys that are accepted for the host; `nil` when it is not pinned.
    package func pinnedKeys(for host: String) -> [String]? {
        let keys = pins.filter { Self.matches(host, $0.host) }.flatMap(\.keys)
        return keys.isEmpty && !pins.contains { Self.matches(host, $0.host) } ? nil : keys
    }

    /// Whether any certificate is accepted for the host.
    package func trustsBlindly(_ host: String) -> Bool {
        guard case .insecureTrustAll(let hosts) = trust else { return false }
        return hosts.contains { Self.matches(host, $0) }
    }

    /// RFC 6125 §6.4.3: the asterisk matches one whole label.
    private static func matches(_ host: String, _ pattern: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return host.equalsIgnoringASCIICase(pattern) }
        guard let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
        return host[dot...].equalsIgnoringASCIICase(pattern.dropFirst())
    }
}

extension TLSPolicy.ClientCertificate: ReflectsDescription {
    /// The file URLs, without the password.
    public var description: String {
        file.path + (key.map { ", key \($0.path)" } ?? "") + (password == nil ? "" : ", with a password")
    }
}
