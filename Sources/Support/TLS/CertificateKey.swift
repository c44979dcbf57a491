// SPDX-License-Identifier: MIT

/// The public key of a certificate in the form that pins use, its `SubjectPublicKeyInfo` (RFC 5280 §4.1).
///
/// The Security framework returns a key without its header, so the key is parsed from the certificate.
package enum CertificateKey {
    /// The `SubjectPublicKeyInfo` of a certificate in DER; `nil` if the bytes aren't a certificate.
    package static func subjectPublicKeyInfo(ofCertificate der: Data) -> Data? {
        var certificate = DERReader(Array(der))
        guard var outer = certificate.enter(0x30), var fields = outer.enter(0x30) else { return nil }
        // Certificates of version 1 have no explicit version field, [0].
        if fields.nextTag == 0xA0 { fields.skip() }
        // Skips the serial number, signature, issuer, validity and subject.
        for _ in 0..<5 { fields.skip() }
        return fields.nextTag == 0x30 ? fields.take() : nil
    }

    /// The certificates in PEM text (RFC 7468 §5.1), as DER; other blocks are ignored.
    package static func certificates(inPEM pem: Data) -> [Data] {
        let text = String(decoding: pem, as: UTF8.self)
        return text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst().compactMap { block in
            let base64 = block.components(separatedBy: "-----END CERTIFICATE-----")[0]
            return Data(base64Encoded: base64, options: .ignoreUnknownCharacters)
        }
    }

    /// Reads elements of DER (X.690 §8.1), which consist of a one-byte tag, a length and a value.
    private struct DERReader {
        private var bytes: ArraySlice<UInt8>

        init(_ bytes: [UInt8]) {
            self.bytes = bytes[...]
        }

        private init(_ bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
        }

        var nextTag: UInt8? { bytes.first }

        /// Returns a reader for the next element's value, if the element has the tag.
        mutating func enter(_ tag: UInt8) -> DERReader? {
            guard nextTag == tag, let (value, whole) = next else { return nil }
            bytes = bytes[whole.endIndex...]
            return DERReader(value)
        }

        /// Returns the next element, including its tag and length.
        mutating func take() -> Data? {
            guard let (_, whole) = next else { return nil }
            bytes = bytes[whole.endIndex...]
            return Data(whole)
        }

        mutating func skip() {
            // An unreadable element ends reading.
            bytes = next.map { bytes[$0.whole.endIndex...] } ?? []
        }

        private var next: (value: ArraySlice<UInt8>, whole: ArraySlice<UInt8>)? {
            var rest = bytes.dropFirst()
            guard let first = rest.popFirst() else { return nil }
            var length = Int(first)
            if first >= 0x80 {
                let digits = Int(first & 0x7F)
                guard (1...3).contains(digits), rest.count >= digits else { return nil }
                length = rest.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(digits)
            }
            guard rest.count >= length else { return nil }
            let value = rest.prefix(length)
            return (value, bytes[bytes.startIndex..<value.endIndex])
        }
    }
}
