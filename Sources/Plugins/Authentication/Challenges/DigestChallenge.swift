// SPDX-License-Identifier: MIT
import TargetKit

/// A challenge of the `Digest` scheme (RFC 7616 §3.3), and the responses to it.
package struct DigestChallenge: Sendable, Hashable {
    /// The request for which a response is computed.
    package struct Request: Sendable {
        /// The method.
        let method: String
        /// The path and query in the request line.
        let uri: String
        /// The number of responses to this challenge, including this one.
        let count: Int

        package init(method: String, uri: String, count: Int) {
            self.method = method
            self.uri = uri
            self.count = count
        }
    }

    /// The digest.
    package let digest: MessageDigest
    /// Whether the server rejected a response only because its nonce was stale.
    package let isStale: Bool
    private let realm: String
    private let nonce: String
    private let opaque: String?
    /// The algorithm in the server's spelling.
    private let algorithm: String?
    private let isSession: Bool
    /// Whether the response has a quality of protection. Servers that implement RFC 2069 don't support it.
    private let hasQuality: Bool
    private let hashesUser: Bool
    private let clientNonce: String

    /// Reads a challenge of the `Digest` scheme.
    ///
    /// - Parameter clientNonce: The `cnonce` of all responses; default: 128 random bits.
    /// - Throws: ``Problem`` if the challenge isn't supported.
    package init(_ challenge: AuthenticationChallenge, clientNonce: String? = nil) throws(Problem) {
        guard let realm = challenge["realm"], let nonce = challenge["nonce"] else { throw .incomplete }
        algorithm = challenge["algorithm"]
        switch algorithm?.lowercased() ?? "md5" {
        case "md5": (digest, isSession) = (.md5, false)
        case "md5-sess": (digest, isSession) = (.md5, true)
        case "sha-256": (digest, isSession) = (.sha256, false)
        case "sha-256-sess": (digest, isSession) = (.sha256, true)
        default: throw .unsupportedAlgorithm
        }
        let qualities = challenge["qop"].map { text in
            text.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
        }
        if let qualities, !qualities.isEmpty, !qualities.contains("auth") { throw .integrityProtection }
        hasQuality = qualities?.contains("auth") == true
        hashesUser = challenge["userhash"]?.lowercased() == "true"
        isStale = challenge["stale"]?.lowercased() == "true"
        opaque = challenge["opaque"]
        self.realm = realm
        self.nonce = nonce
        self.clientNonce = clientNonce ?? Self.randomNonce()
    }

    /// Whether both challenges have the same nonce, so that their responses are counted together.
    func hasNonce(of other: DigestChallenge) -> Bool {
        nonce == other.nonce && realm == other.realm && opaque == other.opaque && algorithm == other.algorithm
            && hasQuality == other.hasQuality && hashesUser == other.hashesUser
    }

    /// The value of the `Authorization` field (RFC 7616 §3.4).
    package func answer(to request: Request, user: String, password: String) -> String {
        var fields = [userField(user), "realm=\(realm.quoted)", "uri=\(request.uri.quoted)"]
        if let algorithm { fields.append("algorithm=\(algorithm)") }
        fields.append("nonce=\(nonce.quoted)")
        let count = String(request.count, radix: 16)
        let paddedCount = String(repeating: "0", count: max(0, 8 - count.count)) + count
        if hasQuality { fields += ["nc=\(paddedCount)", "cnonce=\(clientNonce.quoted)", "qop=auth"] }
        let secret = secret(user: user, password: password)
        let target = digest.hexadecimal(of: "\(request.method):\(request.uri)")
        let protection = hasQuality ? "\(paddedCount):\(clientNonce):auth:" : ""
        let response = digest.hexadecimal(of: FieldOctets.octets("\(secret):\(nonce):\(protection)\(target)"))
        fields.append("response=\(response.quoted)")
        if let opaque { fields.append("opaque=\(opaque.quoted)") }
        if hashesUser { fields.append("userhash=true") }
        return "Digest " + fields.joined(separator: ", ")
    }

    /// `H(A1)` (RFC 7616 §3.4.2).
    private func secret(user: String, password: String) -> String {
        let realm = FieldOctets.octets(realm)
        let secret = digest.hexadecimal(of: Array("\(user):".utf8) + realm + Array(":\(password)".utf8))
        let session = FieldOctets.octets("\(secret):\(nonce):\(clientNonce)")
        return isSession ? digest.hexadecimal(of: session) : secret
    }

    private func userField(_ user: String) -> String {
        if hashesUser {
            let name = digest.hexadecimal(of: Array("\(user):".utf8) + FieldOctets.octets(realm))
            return "username=\(name.quoted)"
        }
        // Text that isn't ASCII is encoded as in RFC 8187 (RFC 7616 §3.4.4).
        if user.utf8.allSatisfy({ $0 < 0x80 }) { return "username=\(user.quoted)" }
        return "username*=UTF-8''\(user.formEncoded)"
    }

    private static func randomNonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(UInt32.random(in: .min ... .max, using: &generator), radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }
}

extension DigestChallenge {
    /// The reason why a challenge isn't supported.
    package enum Problem: Error, Sendable, Hashable, CaseIterable {
        /// The server requires `auth-int`, with which responses contain a digest of the body.
        case integrityProtection
        /// The algorithm is neither MD5 nor SHA-256.
        case unsupportedAlgorithm
        /// The challenge has no realm or no nonce.
        case incomplete
        /// The user contains a control character.
        case controlCharacter
    }
}

extension DigestChallenge.Problem: DescribedError {
    /// The problem in one line.
    package var redactedDescription: String {
        switch self {
        case .integrityProtection:
            "the server requires Digest authentication with integrity protection (qop=auth-int), which isn't supported;"
                + " configure it to offer qop=auth"
        case .unsupportedAlgorithm:
            "the server requires an algorithm for Digest authentication that is neither MD5 nor SHA-256"
        case .incomplete: "the server's challenge for Digest authentication has no realm or no nonce"
        case .controlCharacter: "the user contains a control character, which Digest authentication doesn't allow"
        }
    }
}

extension DigestChallenge: RedactedDescription {
    /// The digest, without nonces.
    package var redactedDescription: String { "Digest challenge with \(digest)" }
}

extension String {
    /// The text as a quoted string (RFC 9110 §5.6.4).
    fileprivate var quoted: String {
        let escaped = replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
