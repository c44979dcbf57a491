// SPDX-License-Identifier: MIT
import TargetKit

/// The SHA-256 digests of a `Repr-Digest` or `Content-Digest` field (RFC 9530 §2, §3).
///
/// The value is a dictionary of byte sequences (RFC 9651), for example
/// `sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:`. Other algorithms are ignored.
enum DigestFields {
    /// The digest, 32 bytes; `nil` if the field has none or is invalid.
    static func sha256(in field: String) -> Data? {
        var digest: Data?
        // Neither base64 nor the names of algorithms contain a comma.
        for member in field.listElements {
            let name = member.prefix { $0 != "=" }
            // Keys are in lowercase (RFC 9651 §3.1.2), so `SHA-256` is another key. A later member replaces an earlier
            // one.
            guard name == "sha-256" else { continue }
            let value = member.dropFirst(name.count + 1).prefix { $0 != ";" }
            guard value.count > 2, value.first == ":", value.last == ":" else { return nil }
            guard let bytes = Data(base64Encoded: String(value.dropFirst().dropLast())), bytes.count == 32 else {
                return nil
            }
            digest = bytes
        }
        return digest
    }
}
