// SPDX-License-Identifier: MIT
import Foundation

/// Whom a transport trusts over TLS, and as whom it shows itself.
public struct TLSPolicy: Sendable, Hashable {
    /// Which certificates are trusted.
    public enum Trust: Sendable, Hashable {
        /// What the system trusts.
        case system
        /// What one of these authorities has signed, and nothing else: certificates in PEM (RFC 7468).
        case authorities(pem: Data)
        /// What one of the authorities in that PEM file has signed, and nothing else.
        case authoritiesFile(URL)
        /// **For development only.** Any certificate of the hosts that are named, exactly or as `*.example.com`; of every
        /// other host what the system trusts.
        case insecureTrustAll(for: [String])
    }

    /// The public keys that a host may show.
    public struct Pin: Sendable, Hashable {
        /// The host's name, or `*.example.com` for each host one label below `example.com`.
        public var host: String
        /// The SHA-256 digests of the keys (the `SubjectPublicKeyInfo` in DER, RFC 7469 §2.4) in base64, any of which will do.
        public var keys: [String]

        /// A pin of those keys.
        public init(host: String, keys: [String]) {
            self.host = host
            self.keys = keys
        }
    }

    /// The certificate by which the client shows who it is.
    public struct ClientCertificate: Sendable, Hashable {
        /// The file with the certificate, and the chain above it: PEM, or PKCS#12 where its name ends in `.p12` or `.pfx`.
        public var file: URL
        /// The PEM file with the key; `nil` when it is in ``file``.
        public var key: URL?
        /// The password of the key; `nil` when it has none.
        public var password: String?

        /// The certificate in that file.
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

    /// The host showed another public key than those that are pinned. The `URLError` that a transport throws has it under
    /// `NSUnderlyingErrorKey`.
    public struct PinMismatch: Error, Sendable, Hashable {
        /// The host.
        public var host: String

        /// A mismatch at that host.
        public init(host: String) {
            self.host = host
        }
    }

    /// Which certificates are trusted; default: those the system trusts.
    public var trust: Trust
    /// The keys that hosts are pinned to, in addition to trust; default: none. A host that no pin names is free.
    public var pins: [Pin]
    /// The certificate by which the client shows who it is; default: none.
    public var clientCertificate: ClientCertificate?
    /// The oldest version that is spoken; default: TLS 1.2.
    public var minimumVersion: Version

    /// A policy, by default the system's.
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

    /// The digests that a host's key must be one of; `nil` when it is not pinned.
    public func pinnedKeys(for host: String) -> [String]? {
        let keys = pins.filter { Self.matches(host, $0.host) }.flatMap(\.keys)
        return keys.isEmpty && !pins.contains { Self.matches(host, $0.host) } ? nil : keys
    }

    /// Whether any certificate of that host is taken.
    public func trustsBlindly(_ host: String) -> Bool {
        guard case .insecureTrustAll(let hosts) = trust else { return false }
        return hosts.contains { Self.matches(host, $0) }
    }

    /// RFC 6125 §6.4.3: the asterisk stands for one whole label.
    private static func matches(_ host: String, _ pattern: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return host.equalsIgnoringASCIICase(pattern) }
        guard let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
        return host[dot...].equalsIgnoringASCIICase(pattern.dropFirst())
    }
}

extension TLSPolicy.ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The file URLs, without the password.
    public var description: String {
        file.path + (key.map { ", key \($0.path)" } ?? "") + (password == nil ? "" : ", with a password")
    }

    /// Reflects only the description, so `dump` omits the password.
    public var customMirror: Mirror { Mirror(describing: self) }
}
