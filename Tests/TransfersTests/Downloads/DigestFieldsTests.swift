// SPDX-License-Identifier: MIT
import Foundation
import _TargetKitFiles
import TestSupport
import Testing

@testable import TargetKitTransfers

/// The digest of `{"hello": "world"}` and a line feed (RFC 9530 §B.1).
private let digest = "RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg="

@Suite("Repr-Digest and Content-Digest", .throttled)
struct DigestFieldsTests {
    @Test(
        "The SHA-256 of the field, beside other algorithms and with parameters",
        arguments: [
            "sha-256=:\(digest):", " sha-256=:\(digest): ", "sha-512=:AAAA:, sha-256=:\(digest):",
            "sha-256=:\(digest):;x=1, unixsum=?1",
        ]
    )
    func valid(_ field: String) {
        #expect(DigestFields.sha256(in: field) == Data(SHA256Hasher.digest(of: Data("{\"hello\": \"world\"}\n".utf8))))
    }

    @Test(
        "No digest, or one that cannot be read",
        arguments: [
            "", "sha-512=:\(digest):", "SHA-256=:\(digest):", "sha-256=\(digest)", "sha-256=:\(digest)", "sha-256=::",
            "sha-256=:AAAA:", "sha-256=:not base64:", "sha-256", "sha-256=\"\(digest)\"",
            "sha-256=:AAAA:,sha-256=:\(digest):",
        ]
    )
    func invalid(_ field: String) {
        #expect(DigestFields.sha256(in: field) == nil)
    }
}
