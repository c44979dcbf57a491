// SPDX-License-Identifier: MIT
import Fixtures
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What Apple's systems need for pins, which Linux can test: libcurl does its own reading.
@Suite("The key of a certificate", .throttled, .timeLimit(.minutes(2)))
struct CertificateKeyTests {
    @Test(
        "It is the SubjectPublicKeyInfo that OpenSSL prints",
        arguments: ["certificate-p256", "certificate-rsa2048"]
    )
    func key(name: String) throws {
        let certificates = CertificateKey.certificates(inPEM: try Fixture(shared: name + ".pem").data())
        let certificate = try #require(certificates.first)
        #expect(certificates.count == 1)
        let expected = try Fixture(shared: name + ".spki").data()
        #expect(CertificateKey.subjectPublicKeyInfo(ofCertificate: certificate) == expected)
    }

    @Test("Several certificates in PEM text are read, and other blocks are ignored")
    func chain() throws {
        let one = try Fixture(shared: "certificate-p256.pem").text()
        let other = try Fixture(shared: "certificate-rsa2048.pem").text()
        let text = "comment\n" + one + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" + other
        #expect(CertificateKey.certificates(inPEM: Data(text.utf8)).count == 2)
        #expect(CertificateKey.certificates(inPEM: Data("none".utf8)).isEmpty)
    }

    @Test("Truncated bytes are not a certificate, and are harmless")
    func truncated() throws {
        let certificate = try #require(
            CertificateKey.certificates(inPEM: try Fixture(shared: "certificate-p256.pem").data()).first
        )
        for count in 0..<certificate.count {
            #expect(CertificateKey.subjectPublicKeyInfo(ofCertificate: certificate.prefix(count)) == nil)
        }
    }

    #if canImport(FoundationNetworking)
    @Test(
        "URLSession on Linux refuses every policy but the system's",
        arguments: [
            TLSPolicy(pins: ["a": ["k"]]), TLSPolicy(trust: .insecureTrustAll(for: ["a"])),
            TLSPolicy(requiresTLS13: true), TLSPolicy(clientCertificate: .init(file: URL(filePath: "/a.p12"))),
        ]
    )
    func linux(policy: TLSPolicy) async throws {
        let provider = Provider<TestTarget>(transport: URLSessionTransport(tls: policy))
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(TestTarget(.example)) }
        #expect((error.underlying as? URLError)?.code == .unsupportedURL)
    }
    #endif
}
