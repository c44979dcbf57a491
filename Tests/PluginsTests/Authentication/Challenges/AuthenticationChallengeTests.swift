// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Authentication challenges", .throttled)
struct AuthenticationChallengeTests {
    private func read(_ fields: String...) -> [String] {
        AuthenticationChallenge.challenges(in: fields).map { challenge in
            ([challenge.scheme] + (challenge.token68.map { [$0] } ?? [])
                + challenge.parameters.map { "\($0.name)=\($0.value)" }).joined(separator: "|")
        }
    }

    @Test(
        "A field is a list of challenges with parameters (RFC 9110 §11.6.1)",
        arguments: [
            // The example of RFC 9110 §11.6.1.
            (
                #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
                ["Basic|realm=simple", #"Newauth|realm=apps|type=1|title=Login to "apps""#]
            ),
            ("Bearer", ["Bearer"]), ("Bearer, Basic", ["Bearer", "Basic"]), ("", []), (" , ,", []),
            (#"Bearer realm="a, Basic b""#, ["Bearer|realm=a, Basic b"]),
            (#"bearer error = invalid_token , scope="a b""#, ["bearer|error=invalid_token|scope=a b"]),
            ("Negotiate YWJj==, Basic realm=x", ["Negotiate|YWJj==", "Basic|realm=x"]),
            ("Negotiate", ["Negotiate"]), ("NTLM TlRM,Negotiate", ["NTLM|TlRM", "Negotiate"]),
            (
                #"Digest realm="a", qop="auth,auth-int", nonce="x", algorithm=SHA-256, Digest realm="a""#,
                ["Digest|realm=a|qop=auth,auth-int|nonce=x|algorithm=SHA-256", "Digest|realm=a"]
            ),
            (#"Basic realm="open"#, ["Basic|realm=open"]), (#"Basic realm="a\"#, [#"Basic|realm=a\"#]),
            ("realm=x, Basic", ["realm", "Basic"]), ("=x, (y), Basic realm=z", ["Basic|realm=z"]),
            (#""quoted, Basic", Digest"#, ["Digest"]), ("Basic realm=,", ["Basic|realm="]),
            ("Basic\trealm=é, Bearer", ["Basic|realm=", "Bearer"]),
            // Values that servers forget to quote.
            (
                "Digest realm=a, nonce=dGVh==, opaque=x=y=, cnonce==, algorithm=MD5",
                ["Digest|realm=a|nonce=dGVh==|opaque=x=y=|cnonce==|algorithm=MD5"]
            ),
            ("Digest realm=Tea(Shop)@[x];v{1}, nonce=n", ["Digest|realm=Tea(Shop)@[x];v{1}|nonce=n"]),
        ] as [(String, [String])]
    )
    func lists(_ field: String, _ expected: [String]) {
        #expect(read(field) == expected)
    }

    @Test("Several fields are one list, and names are compared without regard to case")
    func fields() throws {
        #expect(read("Basic realm=a", "Bearer") == ["Basic|realm=a", "Bearer"])
        let challenge = try #require(AuthenticationChallenge.challenges(in: [#"BEARER Realm="x""#]).first)
        #expect(challenge.hasScheme("Bearer"))
        #expect(challenge["realm"] == "x")
        #expect(challenge["error"] == nil)
    }

    @Test("No text makes the reader fail", arguments: 0..<200)
    func anything(_ seed: UInt64) {
        var random = SystemRandomNumberGenerator()
        let characters = Array("aB=\",\\ \t;/é-1")
        let text = String((0..<40).compactMap { _ in characters.randomElement(using: &random) })
        _ = read(text)
    }
}
