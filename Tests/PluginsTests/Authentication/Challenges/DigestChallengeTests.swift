// SPDX-License-Identifier: MIT
import TargetKit
@testable import TargetKitPlugins
import Testing

@Suite("Message digests")
struct MessageDigestTests {
    @Test(
        "Messages of each length around a block have the digests that Python's hashlib computes",
        arguments: [
            (0, "d41d8cd98f00b204e9800998ecf8427e", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (1, "0cc175b9c0f1b6a831c399e269772661", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
            (
                55, "ef1772b6dff9a122358552954ad0df65",
                "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"
            ),
            (
                56, "3b0c8ac703f828b04c6c197006d17218",
                "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"
            ),
            (
                63, "b06521f39153d618550606be297466d5",
                "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"
            ),
            (
                64, "014842d480b571495a4a0363793f7367",
                "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
            ),
            (
                65, "c743a45e0d2e6a95cb859adae0248435",
                "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"
            ),
            (
                119, "8a7bd0732ed6a28ce75f6dabc90e1613",
                "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"
            ),
            (
                120, "5f61c0ccad4cac44c75ff505e1f1e537",
                "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"
            ),
            (
                1000, "cabe45dcc9ae5b66ba86600cca6b8ba8",
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
            ),
        ]
    )
    func lengths(_ count: Int, _ md5: String, _ sha256: String) {
        let text = String(repeating: "a", count: count)
        #expect(MessageDigest.md5.hexadecimal(of: text) == md5)
        #expect(MessageDigest.sha256.hexadecimal(of: text) == sha256)
    }

    @Test("The examples of RFC 1321 §A.5 and FIPS 180-4")
    func examples() {
        #expect(MessageDigest.md5.hexadecimal(of: "message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
        #expect(
            MessageDigest.sha256.hexadecimal(of: "abc")
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }
}

@Suite("Digest challenges (RFC 7616)")
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

    @Test("What the answer repeats is written as the challenge has it, and quoted")
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
