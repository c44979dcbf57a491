// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("RequestPattern", .throttled)
struct RequestPatternTests {
    private func request(
        _ url: String,
        _ method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: String = "",
        target: (any TargetType)? = nil
    ) throws -> RecordedRequest {
        let url = try #require(URL(string: url))
        return RecordedRequest(method: method, url: url, headers: headers, body: Data(body.utf8), target: target)
    }

    @Test(
        "A path pattern matches decoded segments",
        arguments: [
            ("/a/b", "/a/b", true), ("a/b", "/a/b", true), ("/a/b", "/a/c", false), ("/a", "/a/", false),
            ("/a/", "/a/", true), ("/", "", true), ("", "/", true), ("/a", "/A", false), ("/a", "/a?x=1", true),
            ("/a/:id", "/a/1", true), ("/a/:id", "/a/", false), ("/a/:id", "/a/1/2", false), ("/a/:", "/a/1", true),
            ("/a/*", "/a/1", true), ("/*/b", "/a/b", true), ("/*", "/", false), ("/a/**", "/a", true),
            ("/a/**", "/a/b/c", true), ("/**", "", true), ("/**/c", "/a/b/c", true), ("/**/b/**", "/a/b/c", true),
            ("/**/b/*/d", "/b/b/c/d", true), ("/**/x", "/a/b", false), ("/a/**/b/c", "/a/b/b/c", true),
            ("/café", "/caf%C3%A9", true), ("/caf%C3%A9", "/caf%c3%a9", true), ("/a%2Fb", "/a%2fb", true),
            ("/a/b", "/a%2Fb", false), ("/a b", "/a%20b", true), ("/a+b", "/a+b", true), ("/%FF", "/%FF", true),
            ("/%FF", "/%FE", false), ("/日本/:id", "/%E6%97%A5%E6%9C%AC/1", true), ("/%3Aid", "/:id", true),
            ("/%3Aid", "/x", false), ("/%2A", "/*", true), ("/%2A", "/x", false), ("/a.b", "/axb", false),
            ("/(a|b)", "/(a%7Cb)", true), ("/(a|b)", "/a", false), ("/a[0]$", "/a%5B0%5D$", true),
            ("/\\d", "/1", false),
            ("/^.*$", "/abc", false), ("/:a/:b#x", "/1/2", true),
        ]
    )
    func paths(pattern: String, path: String, matches: Bool) throws {
        #expect(RequestPattern.get(pattern).matches(try request("https://shop.example\(path)")) == matches)
    }

    @Test("A named segment is captured unescaped")
    func captures() throws {
        let request = try request("https://shop.example/users/caf%C3%A9%2F1/posts/7")
        #expect(RequestPattern.get("/users/:name/posts/:id").captures(request) == ["name": "café/1", "id": "7"])
        #expect(RequestPattern.path("/**/posts/:id").captures(request) == ["id": "7"])
    }

    @Test(
        "A path matches the whole path, or the path below the target's base URL",
        arguments: [
            ("/products/7", true), ("/v1/products/7", true), ("/:id", false), ("/v2/products/7", false),
            ("https://shop.example/v1/products/7", true), ("https://shop.example/products/7", false),
            ("https://SHOP.example:443/v1/**", true), ("http://shop.example/v1/**", false),
            ("https://other.example/v1/**", false),
        ]
    )
    func baseURLs(pattern: String, matches: Bool) throws {
        let request = try request("https://shop.example/v1/products/7", target: TeaShop.product(id: 7))
        #expect(RequestPattern.get(pattern).matches(request) == matches)
    }

    @Test("Without a target, only the whole path matches")
    func noTarget() throws {
        let request = try request("https://shop.example/v1/products/7")
        #expect(!RequestPattern.get("/products/7").matches(request))
        #expect(RequestPattern.get("/v1/products/7").matches(request))
    }

    @Test(
        "The method must match, if the pattern has one",
        arguments: [
            (RequestPattern.get("/a"), HTTPMethod.get), (.post("/a"), .post), (.put("/a"), .put),
            (.patch("/a"), .patch),
            (.delete("/a"), .delete), (.method("PURGE", "/a"), "PURGE"),
        ]
    )
    func methods(pattern: RequestPattern, method: HTTPMethod) throws {
        #expect(pattern.matches(try request("https://shop.example/a", method)))
        #expect(!pattern.matches(try request("https://shop.example/a", "OTHER")))
        #expect(RequestPattern.path("/a").matches(try request("https://shop.example/a", method)))
        #expect(RequestPattern.any.matches(try request("https://shop.example/a", method)))
    }

    @Test(
        "Query items are compared unescaped, and all values of a name count",
        arguments: [
            (RequestMatcher.query("q", "green tea"), "q=green%20tea", true),
            (.query("q", "green tea"), "q=green+tea", true),
            (.query("q", "a+b"), "q=a%2Bb", true), (.query("q", "a"), "q=b", false), (.query("q"), "q=b", true),
            (.query("q"), "p=b", false), (.query("tag", "a", "b"), "tag=a&x=1&tag=b", true),
            (.query("tag", "b", "a"), "tag=a&tag=b", false), (.query("tag", "a"), "tag=a&tag=b", false),
            (.query("t[]", "1"), "t%5B%5D=1", true), (.query("flag", ""), "flag", true),
            (.query("flag", ""), "flag=", true),
            (.not(.query("q")), "p=1", true), (.not(.query("q")), "q=1", false), (.query("e", "a=b"), "e=a=b", true),
        ]
    )
    func queries(matcher: RequestMatcher, query: String, matches: Bool) throws {
        let request = try request("https://shop.example/a?\(query)")
        #expect(RequestPattern.get("/a").with(matcher).matches(request) == matches)
    }

    @Test("A query in the path of a pattern must be part of the request's query")
    func queryInPath() throws {
        let pattern = RequestPattern.get("/a?q=green+tea&tag=1&tag=2")
        #expect(pattern.matches(try request("https://shop.example/a?tag=1&x=0&q=green%20tea&tag=2")))
        #expect(!pattern.matches(try request("https://shop.example/a?tag=1&q=green%20tea")))
    }

    @Test(
        "A name with and without a value, and a scheme in capitals, are understood",
        arguments: [
            ("/x?a&a=1", "https://h.example/x?a&a=1", true), ("/x?a&a=1", "https://h.example/x?a=1", false),
            ("/x?a", "https://h.example/x?a=7", true), ("HTTPS://H.example/x", "https://h.example/x", true),
            ("HTTPS://h.example/x", "http://h.example/x", false),
        ]
    )
    func patterns(pattern: String, url: String, matches: Bool) throws {
        #expect(RequestPattern.get(pattern).matches(try request(url)) == matches)
    }

    @Test("Header names are compared case-insensitively")
    func headers() throws {
        let request = try request("https://shop.example/a", headers: ["ACCEPT": "text/plain", "accept": "*/*"])
        #expect(RequestPattern.any.with(.header("accept", "text/plain, */*")).matches(request))
        #expect(RequestPattern.any.with(.header(.accept), .not(.header(.authorization))).matches(request))
        #expect(!RequestPattern.any.with(.header(.accept, "text/plain")).matches(request))
    }

    @Test(
        "JSON is compared at key paths, and numbers by value",
        arguments: [
            ("count", JSONValue.number(1), true), ("count", 1.0, true), ("count", true, false), ("on", true, true),
            ("on", 1, false), ("items.0.id", 3, true), ("items.1.id", 3, false),
            ("items.0", ["name": "tea", "id": 3] as JSONValue, true),
            ("items.-1.id", 3, false), ("none", .null, true), ("missing", .null, false), ("a\\.b", "c", true),
            ("big", 12_345_678_901_234_567, true), ("name", "日本", true),
        ]
    )
    func json(keyPath: String, value: JSONValue, matches: Bool) throws {
        let body = """
            {"count": 1, "on": true, "items": [{"id": 3.0, "name": "tea"}], "none": null, "a.b": "c",
             "big": 12345678901234567, "name": "\\u65e5本"}
            """
        let request = try request("https://shop.example/a", .post, body: body)
        #expect(RequestPattern.post("/a").with(.json(keyPath, value)).matches(request) == matches)
    }

    @Test("A body can be compared as a form, bytes or text, or by a condition")
    func bodies() throws {
        let request = try request("https://shop.example/a", .post, body: "a=1+2&b=%26&b=x")
        let matching: [RequestMatcher] = [
            .form("a", "1 2"), .form("b", "&", "x"), .body("a=1+2&b=%26&b=x"), .body(Data("a=1+2&b=%26&b=x".utf8)),
            .satisfying("the body is short") { $0.body.count < 20 }, .not(.json("a", 1)),
        ]
        for matcher in matching { #expect(RequestPattern.any.with(matcher).matches(request)) }
        let others: [RequestMatcher] = [.form("a", "1+2"), .form("c"), .body("a"), .json("a", 1)]
        for matcher in others { #expect(!RequestPattern.any.with(matcher).matches(request)) }
    }

    @Test("A target matches by value, or by a closure for a type that is not Equatable")
    func targets() throws {
        let url = "https://shop.example/v1/products/7"
        let product = try request(url, target: TeaShop.product(id: 7))
        #expect(RequestPattern.target(TeaShop.product(id: 7)).matches(product))
        #expect(!RequestPattern.target(TeaShop.product(id: 8)).matches(product))
        #expect(!RequestPattern.target(TeaShop.product(id: 7)).matches(try request(url)))
        #expect(RequestPattern.target(of: TeaShop.self).matches(product))
        #expect(RequestPattern.target(of: MultiTarget.self).matches(product))
        #expect(!RequestPattern.target(of: Uploads.self).matches(product))
        let upload = try request(url, target: Uploads.avatar { 1 })
        #expect(
            RequestPattern.target(of: Uploads.self) { if case .avatar = $0 { true } else { false } }.matches(upload)
        )
    }

    @Test(
        "A mismatch says what was expected and what was found",
        arguments: [
            (RequestPattern.post("/v1/search"), ["method: expected POST, found GET"]),
            (.get("/products"), ["path: expected /products, found /v1/search"]),
            (.get("https://b.example/v1/search"), ["host: expected https://b.example, found https://shop.example"]),
            (.get("/search").with(.query("q", "tea")), [#"query q: expected "tea", found "coffee""#]),
            (.get("/search").with(.query("p", "1")), [#"query p: expected "1", found none"#]),
            (.get("/search").with(.query("token", "x")), ["query token: expected <redacted>, found <redacted>"]),
            (.get("/search").with(.header(.accept, "a")), [#"header Accept: expected "a", found "b""#]),
            (
                .get("/search").with(.header(.authorization, "a")),
                ["header Authorization: expected <redacted>, found <redacted>"]
            ),
            (.get("/search").with(.json("items.0.id", 3)), ["JSON items.0.id: expected 3, found 4"]),
            (.get("/search").with(.json("items.1.id", 3)), ["JSON items.1.id: expected 3, found none"]),
            (.get("/search").with(.json("password", "a")), ["JSON password: expected <redacted>, found <redacted>"]),
            (
                .get("/search").with(.json("user", ["password": "a"])),
                [#"JSON user: expected {"password":"<redacted>"}, found none"#]
            ),
            (.get("/search").with(.form("f", "1")), [#"form field f: expected "1", found none"#]),
            (.get("/search").with(.not(.query("q"))), ["unexpected query q"]),
            (
                .get("/search").with(.satisfying("the page is odd") { _ in false }),
                ["condition not met: the page is odd"]
            ),
            (.get("/search").when("signed in"), [#"state: expected "signed in", found none"#]),
            (.target(TeaShop.product(id: 7)), ["target: expected TeaShop.product, found TeaShop.search"]),
            (
                .target(TeaShop.search("tea", page: 1)),
                ["target: TeaShop.search has different values: value 1 (values without labels aren't shown)"]
            ),
            (
                .target(of: Uploads.self),
                ["target: expected Uploads, found TeaShop.search"]
            ),
            (
                .target(of: TeaShop.self) { if case .product = $0 { true } else { false } },
                ["target: TeaShop.search doesn't meet the condition"]
            ),
            (.any, []),
        ]
    )
    func mismatches(pattern: RequestPattern, sentences: [String]) throws {
        let request = try request(
            "https://shop.example/v1/search?q=coffee&token=abc",
            headers: ["Accept": "b", "Authorization": "Bearer abc"],
            body: #"{"items": [{"id": 4}], "password": "b"}"#,
            target: TeaShop.search("coffee", page: 1)
        )
        #expect(pattern.mismatches(request, in: nil) == sentences)
    }

    @Test("A pattern's description has no secrets")
    func descriptions() {
        let pattern = RequestPattern.post("/orders?page=1")
            .with(.json("count", 2), .query("token", "abc"), .header(.authorization, "Bearer abc")).when("signed in")
        let expected = """
            POST /orders with query page "1", JSON count 2, query token <redacted>, \
            header Authorization <redacted> when "signed in"
            """
        #expect("\(pattern)" == expected)
        #expect("\(RequestPattern.target(TeaShop.search("x", page: 2)))" == "TeaShop.search")
    }

    @Test("Matching many wildcards takes little time")
    func wildcards() throws {
        let pattern = RequestPattern.get(String(repeating: "/**/a", count: 40) + "/b")
        let path = String(repeating: "/a", count: 2000)
        let request = try request("https://shop.example\(path)")
        let start = threadTime
        #expect(!pattern.matches(request))
        #expect(threadTime - start < .seconds(2))
    }
}
