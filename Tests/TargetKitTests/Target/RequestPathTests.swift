// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("RequestPath", .throttled)
struct RequestPathTests {
    enum Size: String { case large = "very large" }

    private func url(_ base: String, _ path: RequestPath) throws -> String {
        let base = try #require(URL(string: base))
        return try Endpoint(target: TestTarget(base).with { $0.path = path }).url.absoluteString
    }

    @Test(
        "What is interpolated stays in its segment",
        arguments: [
            ("plain", "plain"), ("a/../b?c", "a%2F..%2Fb%3Fc"), ("a b", "a%20b"), ("50%", "50%25"), ("%2F", "%252F"),
            ("a#b", "a%23b"), ("a;b=c,d", "a%3Bb%3Dc%2Cd"), ("é", "%C3%A9"), ("汉字", "%E6%B1%89%E5%AD%97"),
            ("👍", "%F0%9F%91%8D"), ("a\r\nb", "a%0D%0Ab"), ("-._~", "-._~"), ("", ""), ("...", "..."),
            ("a@b:c", "a%40b%3Ac"),
            ("\u{0}", "%00"), ("+", "%2B"), ("&", "%26"),
        ]
    )
    func interpolation(raw: String, wire: String) throws {
        #expect(try url("https://h.example/v1", "/users/\(raw)/posts") == "https://h.example/v1/users/\(wire)/posts")
    }

    @Test("Numbers, Bools, UUIDs, raw values and substrings are segments too")
    func types() throws {
        let id = UUID(uuidString: "0B7C1A9C-1F2A-4E5A-8B0E-2D6F3C4B5A69") ?? UUID()
        #expect(try url("https://h.example", "/\(7)/\(-1.5)/\(true)") == "https://h.example/7/-1.5/true")
        #expect(try url("https://h.example", "/\(id)") == "https://h.example/\(id.uuidString)")
        #expect(try url("https://h.example", "/\(Size.large)") == "https://h.example/very%20large")
        #expect(try url("https://h.example", "/\("a/b".dropFirst())") == "https://h.example/%2Fb")
        #expect(try url("https://h.example", "/\(UInt64.max)") == "https://h.example/18446744073709551615")
    }

    @Test(
        "The literal's own text is kept, and escaped only where RFC 3986 asks for it",
        arguments: [
            ("/a/b", "/a/b"), ("/a%2Fb", "/a%2Fb"), ("/a b", "/a%20b"), ("/100%", "/100%25"), ("/é", "/%C3%A9"),
            ("/a:b@c;d=e,f!g$h&i'j(k)l*m+n", "/a:b@c;d=e,f!g$h&i'j(k)l*m+n"), ("/a#b", "/a%23b"), ("/[x]", "/%5Bx%5D"),
            ("/a%2", "/a%252"), ("/%zz", "/%25zz"), ("/a/", "/a/"), ("/a//b", "/a//b"), ("/a?b=c", "/a?b=c"),
            ("/a?b=c d", "/a?b=c%20d"), ("/a?", "/a"), ("/%41", "/%41"), ("/a\"b", "/a%22b"), ("/a\\b", "/a%5Cb"),
        ] as [(RequestPath, String)]
    )
    func literal(path: RequestPath, wire: String) throws {
        #expect(try url("https://h.example", path) == "https://h.example" + wire)
    }

    @Test("A raw interpolation is read like the literal, an interpolation in the query as strictly as one in the path")
    func raw() throws {
        let rest = "a/b?c=d"
        #expect(try url("https://h.example", "/x/\(raw: rest)") == "https://h.example/x/a/b?c=d")
        #expect(try url("https://h.example", RequestPath(raw: rest)) == "https://h.example/a/b?c=d")
        #expect(try url("https://h.example", "/s?q=\("a&b=c?d")") == "https://h.example/s?q=a%26b%3Dc%3Fd")
    }

    @Test(
        "Path and base URL are joined by exactly one slash, queries by an ampersand",
        arguments: [
            ("https://h.example", "/a", "https://h.example/a"), ("https://h.example/", "/a", "https://h.example/a"),
            ("https://h.example", "a", "https://h.example/a"), ("https://h.example/v1", "a", "https://h.example/v1/a"),
            ("https://h.example/v1/", "/a", "https://h.example/v1/a"),
            ("https://h.example/v1/", "a", "https://h.example/v1/a"),
            ("https://h.example/v1", "", "https://h.example/v1"),
            ("https://h.example/v1/", "", "https://h.example/v1/"),
            ("https://h.example", "", "https://h.example"), ("https://h.example", "/", "https://h.example/"),
            ("https://h.example/v1", "/", "https://h.example/v1/"),
            ("https://h.example/v1", "?a=b", "https://h.example/v1?a=b"),
            ("https://h.example/v1?k=1", "/a", "https://h.example/v1/a?k=1"),
            ("https://h.example/v1?k=1", "/a?b=2", "https://h.example/v1/a?k=1&b=2"),
            ("https://h.example/v1?k=1", "", "https://h.example/v1?k=1"),
            ("https://h.example/a%2Fb", "/c%2Fd", "https://h.example/a%2Fb/c%2Fd"),
            ("https://h.example/v1#top", "/a", "https://h.example/v1/a"),
            ("http://[::1]:8080/x", "/a", "http://[::1]:8080/x/a"),
        ] as [(String, RequestPath, String)]
    )
    func join(base: String, path: RequestPath, whole: String) throws {
        #expect(try url(base, path) == whole)
    }

    @Test(
        "A segment . or .. is an error of stage endpoint, however it is written",
        arguments: [
            "/a/../b", "/./a", "/..", "/a/.", "/%2e%2e/a", "/%2E./a", "/.%2e", "/\(raw: "../x")", "/a/\("..")",
            "/\(".")/b",
        ] as [RequestPath]
    )
    func dotSegments(path: RequestPath) throws {
        let error = try #require(throws: TargetKitError.self) { try url("https://h.example", path) }
        #expect(error.stage == .endpoint)
        #expect(error.underlying is InvalidRequest)
    }

    @Test(
        "Dots that are not a whole segment are kept",
        arguments: ["/a..b", "/...", "/.hidden", "/a.", "/a?b=.."]
    )
    func harmlessDots(path: String) throws {
        #expect(try url("https://h.example", RequestPath(stringLiteral: path)) == "https://h.example\(path)")
    }

    @Test("The description has no query")
    func description() {
        #expect("\("/a/b;token=s3cret?token=s3cret&q=tea" as RequestPath)" == "/a/b;token=<redacted>")
    }
}
