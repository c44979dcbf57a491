// SPDX-License-Identifier: MIT
import TargetKit
@testable import TargetKitPlugins
import TestSupport
import Testing

@Suite("Digest challenges (RFC 7616)", .throttled)
struct DigestChallengeTests {
    private static let host = #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#

    private func challenge(_ field: String, clientNonce: String) throws -> DigestChallenge {
        let challenge = try #require(AuthenticationChallenge.challenges(in: [field]).first)
        return try DigestChallenge(challenge, clientNonce: clientNonce)
    }

    @Test(
        "The answers of the RFCs' examples",
        arguments: [
            // RFC 7616 §3.9.1.
            (
                #"""
                Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, \#
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
                """#, "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "Circle of Life",
                "8ca523f5e9506fed4657c9700eebdbec"
            ),
            (
                #"""
                Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, \#
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
                """#, "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "Circle of Life",
                "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
            ),
            // RFC 2617 §3.5, and RFC 2069, whose challenges have no quality of protection.
            (host + #", qop="auth,auth-int""#, "0a4f113b", "Circle Of Life", "6629fae49393a05397450978507c4ef1"),
            (host, "", "CircleOfLife", "1949323746fe6a43ef61f9606e7febea"),
            // Computed with Python's hashlib.
            (
                #"Digest realm="testrealm@host.com", nonce="n", qop=auth, algorithm=SHA-256-sess"#, "c",
                "Circle Of Life", "e15326efce4ea2aff5a99807a389ddf8e05c89782b1cfb58db0423690c418226"
            ),
            (
                #"Digest realm="testrealm@host.com", nonce="n", qop=auth, algorithm=MD5-sess"#, "c",
                "Circle Of Life", "f08570f3f895f706df6ae96be6449aa2"
            ),
        ]
    )
    func examples(_ field: String, _ clientNonce: String, _ password: String, _ response: String) throws {
        let challenge = try challenge(field, clientNonce: clientNonce)
        let request = DigestChallenge.Request(method: "GET", uri: "/dir/index.html", count: 1)
        let answer = challenge.answer(to: request, user: "Mufasa", password: password)
        #expect(answer.contains(#"response="\#(response)""#))
        #expect(answer.contains("qop=auth") == field.contains("qop"))
        #expect(answer.contains("nc=00000001") == field.contains("qop"))
    }

    @Test("What the response repeats is written as the challenge has it, and quoted")
    func fields() throws {
        let field = #"Digest realm="a \"b\" \\", nonce="n", opaque="o", algorithm=sha-256, qop="auth""#
        let request = DigestChallenge.Request(method: "PUT", uri: "/x?y=%22", count: 255)
        let answer = try challenge(field, clientNonce: "c").answer(to: request, user: #"an"na"#, password: "p")
        #expect(
            answer.hasPrefix(
                #"""
                Digest username="an\"na", realm="a \"b\" \\", uri="/x?y=%22", algorithm=sha-256, nonce="n", \#
                nc=000000ff, cnonce="c", qop=auth, response="
                """#
            )
        )
        #expect(answer.hasSuffix(#"", opaque="o""#))
    }

    @Test("A user that is not ASCII is encoded, or hashed if the server asks for that (RFC 7616 §3.4.4)")
    func users() throws {
        let request = DigestChallenge.Request(method: "GET", uri: "/", count: 1)
        let field = #"Digest realm="api@example.org", nonce="n", algorithm=SHA-256, qop="auth", userhash="#
        let plain = try challenge(field + "false", clientNonce: "c")
        #expect(
            plain.answer(to: request, user: "Jäsøn Doe", password: "p")
                .hasPrefix("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, ")
        )
        let hashed = try challenge(field + "true", clientNonce: "c").answer(
            to: request,
            user: "Jäsøn Doe",
            password: "p"
        )
        #expect(hashed.contains(#"username="5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7""#))
        #expect(hashed.hasSuffix(", userhash=true"))
    }

    @Test(
        "The error of a challenge that cannot be answered gives the reason",
        arguments: [
            (#"Digest realm="a", nonce="n", qop="auth-int""#, .integrityProtection),
            (#"Digest realm="a", nonce="n", algorithm=SHA-512-256"#, .unsupportedAlgorithm),
            (#"Digest realm="a""#, .incomplete), (#"Digest nonce="n""#, .incomplete),
        ] as [(String, DigestChallenge.Problem)]
    )
    func problems(_ field: String, _ problem: DigestChallenge.Problem) throws {
        #expect(throws: problem) { try challenge(field, clientNonce: "c") }
        #expect(problem.errorDescription?.isEmpty == false)
    }

    @Test("The client's nonces are random")
    func nonces() throws {
        let parsed = try #require(AuthenticationChallenge.challenges(in: [#"Digest realm=a, nonce=n, qop=auth"#]).first)
        let request = DigestChallenge.Request(method: "GET", uri: "/", count: 1)
        let answers = try (0..<20).map { _ in
            try DigestChallenge(parsed).answer(to: request, user: "u", password: "p")
        }
        #expect(Set(answers).count == 20)
    }
}
