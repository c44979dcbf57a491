// SPDX-License-Identifier: MIT
import Foundation
import _TargetKitFiles
import TargetKitTesting
import TestSupport
import Testing

@Suite("SHA-256", .throttled)
struct SHA256HasherTests {
    private func hexadecimal(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    @Test(
        "The examples of FIPS 180-2 appendix B and of NIST's example values",
        arguments: [
            ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ]
    )
    func examples(_ text: String, _ count: Int, _ digest: String) {
        let message = Data(String(repeating: text, count: count).utf8)
        #expect(hexadecimal(SHA256Hasher.digest(of: message)) == digest)
    }

    @Test("Messages of all lengths around the padding have their digest")
    func lengths() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let digests = (0...300).flatMap { SHA256Hasher.digest(of: Data(bytes.prefix($0))) }
        // The digest of the 301 digests, by Python's hashlib.
        let expected = "ddbdb189f5834c274dbe603d6d2874adf7234fd8a075c3d1bfbadc2107a75676"
        #expect(hexadecimal(SHA256Hasher.digest(of: Data(digests))) == expected)
    }

    @Test("The pieces in which a message arrives do not matter", arguments: [1, 2, 3] as [UInt64])
    func pieces(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let message = (0..<10_000).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let expected = SHA256Hasher.digest(of: message)
        for longest in [1, 63, 64, 65, 1000] {
            var hasher = SHA256Hasher()
            var rest = message[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 0...longest, using: &random))
                piece.withUnsafeBytes { hasher.update($0) }
                rest = rest.dropFirst(piece.count)
                // Asking in between changes nothing.
                _ = hasher.finalize()
            }
            #expect(hasher.finalize() == expected)
        }
    }
}
