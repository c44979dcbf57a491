// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
@testable import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// Whom the transport trusts. The server is OpenSSL's own, with certificates that each test makes.
@Suite(
    "CurlTransport: TLS",
    .throttled,
    .enabled(if: TLSServer.isAvailable, "skipped: there is no /usr/bin/openssl"),
    .timeLimit(.minutes(3))
)
struct CurlTLSTests {
    private func transport(_ policy: TLSPolicy) -> CurlTransport {
        var configuration = CurlTransport.Configuration.patient
        configuration.tls = policy
        return CurlTransport(configuration: configuration)
    }

    private func code(_ server: TLSServer, _ policy: TLSPolicy, path: String = "/") async -> URLError.Code? {
        await TestCall(path: path).failure(at: server.baseURL, with: transport(policy))
    }

    @Test("Only the given authorities are trusted, from a file or from memory")
    func authority() async throws {
        let server = try TLSServer()
        let pem = try Data(contentsOf: server.authority)
        #expect(await code(server, .system) == .serverCertificateHasUnknownRoot)
        let response = try await transport(TLSPolicy(trust: .authoritiesFile(server.authority)))
            .send(TestCall().request(to: server.baseURL))
        #expect(response.head.statusCode == 200)
        #expect(response.metrics?.secureConnect != nil)
        #expect(response.metrics?.trustedBlindly == false)
        #expect(await code(server, TLSPolicy(trust: .authorities(pem: pem))) == nil)
        let other = try TLSServer()
        #expect(await code(other, TLSPolicy(trust: .authorities(pem: pem))) == .serverCertificateHasUnknownRoot)
    }

    @Test("An expired certificate, or one for another name, is refused")
    func badCertificates() async throws {
        let other = try TLSServer(name: "example.com")
        #expect(await code(other, TLSPolicy(trust: .authoritiesFile(other.authority))) == .serverCertificateUntrusted)
        let old = try TLSServer(days: -1)
        #expect(await code(old, TLSPolicy(trust: .authoritiesFile(old.authority))) == .serverCertificateHasBadDate)
    }

    @Test("Any certificate is accepted for the given hosts only")
    func insecure() async throws {
        let server = try TLSServer(name: "example.com")
        let response = try await transport(TLSPolicy(trust: .insecureTrustAll(for: ["localhost"])))
            .send(TestCall().request(to: server.baseURL))
        #expect(response.metrics?.trustedBlindly == true)
        #expect(await code(server, TLSPolicy(trust: .insecureTrustAll(for: ["example.com"]))) != nil)
    }

    @Test("Any of several pinned keys is accepted; another key ends the call with a specific error")
    func pin() async throws {
        let server = try TLSServer()
        let pin = try server.pin()
        let wrong = String(repeating: "A", count: 43) + "="
        let trust = TLSPolicy.Trust.authoritiesFile(server.authority)
        for keys in [[pin], [wrong, pin]] {
            #expect(await code(server, TLSPolicy(trust: trust, pins: ["localhost": keys])) == nil)
        }
        #expect(await code(server, TLSPolicy(trust: trust, pins: ["other": [wrong]])) == nil)
        for keys in [[wrong], []] {
            let policy = TLSPolicy(trust: trust, pins: ["localhost": keys])
            let error = await #expect(throws: URLError.self) {
                try await transport(policy).send(TestCall().request(to: server.baseURL))
            }
            #expect(error?.code == .serverCertificateUntrusted)
            #expect(error?.userInfo[NSUnderlyingErrorKey] as? TLSPolicy.PinMismatch == .init(host: "localhost"))
        }
    }

    @Test("A pin is checked before the request is sent")
    func pinFirst() async throws {
        // Without -www the server prints what it is sent.
        let server = try TLSServer(arguments: [])
        let wrong = String(repeating: "A", count: 43) + "="
        let policy = TLSPolicy(trust: .authoritiesFile(server.authority), pins: ["localhost": [wrong]])
        #expect(await code(server, policy, path: "/secret-path") == .serverCertificateUntrusted)
        let open = TLSPolicy(trust: .authoritiesFile(server.authority))
        let call = TestCall(path: "/other-path", destination: .memory())
        let task = Task { await call.failure(at: server.baseURL, with: transport(open)) }
        let output = await server.output(through: "GET /other-path")
        #expect(output.contains("GET /other-path") && !output.contains("secret-path"))
        task.cancel()
    }

    @Test("A server that requests a client certificate gets it")
    func clientCertificate() async throws {
        let server = try TLSServer(arguments: ["-www", "-Verify", "1", "-verify_return_error"])
        let trust = TLSPolicy.Trust.authoritiesFile(server.authority)
        let certificate = TLSPolicy.ClientCertificate(file: server.file("client.pem"), key: server.file("client.key"))
        #expect(await code(server, TLSPolicy(trust: trust)) != nil)
        #expect(await code(server, TLSPolicy(trust: trust, clientCertificate: certificate)) == nil)
        let missing = TLSPolicy.ClientCertificate(file: server.file("nothing.pem"))
        let refused = await code(server, TLSPolicy(trust: trust, clientCertificate: missing))
        #expect(refused == .clientCertificateRejected)
    }

    @Test("A TLS version below the minimum is refused")
    func version() async throws {
        let server = try TLSServer(arguments: ["-www", "-no_tls1_3"])
        let trust = TLSPolicy.Trust.authoritiesFile(server.authority)
        #expect(await code(server, TLSPolicy(trust: trust)) == nil)
        #expect(await code(server, TLSPolicy(trust: trust, requiresTLS13: true)) == .secureConnectionFailed)
    }

    @Test("Plain HTTP at a TLS port, and TLS at a plain one, are errors")
    func mixedUp() async throws {
        let server = try TLSServer()
        var options = TestServer.Options()
        options.onConnect = { _ in [.text("HTTP/1.1 400 Bad Request\r\n\r\n"), .close] }
        let plain = try TestServer(options: options, response: .text("x"))
        let base = try #require(URL(string: "https://127.0.0.1:\(plain.port)"))
        #expect(await TestCall().failure(at: base, with: CurlTransport.patient) == .secureConnectionFailed)
        let wrong = try #require(URL(string: "http://localhost:\(server.port)"))
        #expect(await TestCall().failure(at: wrong, with: CurlTransport.patient) != nil)
    }
}
#endif
