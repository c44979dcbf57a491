// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects: Location", .throttled, .timeLimit(.minutes(2)))
struct RedirectLocationTests {
    @Test(
        "An unescaped Location is escaped, and its existing escapes are kept",
        arguments: [
            ("/a b", "/a%20b"), ("/a%2Fb c?x=%26&y= ", "/a%2Fb%20c?x=%26&y="),
            ("/ü?q=ü&x=%2F", "/%C3%BC?q=%C3%BC&x=%2F"),
            ("x?a[]=1", "/x?a%5B%5D=1"), ("/100%", "/100%25"), ("/a%zzb%2", "/a%25zzb%252"),
            ("/日本/…?k=é", "/%E6%97%A5%E6%9C%AC/%E2%80%A6?k=%C3%A9"),
            ("/a\"<>^`{|}b", "/a%22%3C%3E%5E%60%7B%7C%7Db"), ("?only=q r", "/start?only=q%20r"), ("/a\\b", "/a%5Cb"),
            ("/a#b c#d", "/a"), ("/é%C3%A9", "/%C3%A9%C3%A9"), ("/a+b;c=1,2:3@4!$&'()*", "/a+b;c=1,2:3@4!$&'()*"),
        ]
    )
    func escaped(location: String, target: String) async throws {
        let server = try TestServer { request in
            request.target == "/start" ? .redirect(to: location) : .status(200)
        }
        let start = TestTarget(server.baseURL).with { $0.path = "/start" }
        let response = try await Provider<TestTarget>(transport: SystemTransport.patient).request(start)
        #expect(response.statusCode == 200)
        #expect(server.requests.map(\.target) == ["/start", target])
        let url = try #require(response.redirects.last?.to)
        // Foundation before iOS 17 accepts only this form.
        #expect(URL(escaped: url.absoluteString) == url)
    }

    @Test(
        "A Location with its own host keeps it",
        arguments: [
            ("https://b.example/a b", "https://b.example/a%20b"),
            ("//b.example:8443/ü", "https://b.example:8443/%C3%BC"),
            ("https://b.example?q=a b", "https://b.example?q=a%20b"),
            ("HTTPS://B.example/%7e x", "HTTPS://B.example/%7e%20x"),
            ("https://[::1]:8443/a b", "https://[::1]:8443/a%20b"),
            ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ]
    )
    func elsewhere(location: String, url: String) async throws {
        let transport = StubTransport { request in
            request.urlRequest.url == .start
                ? .response(status: 302, headers: ["Location": location], data: Data())
                : .response(status: 200, data: Data())
        }
        let response = try await Provider<TestTarget>(transport: transport)
            .request(TestTarget(.start).with { $0.path = "" })
        #expect(response.request?.url?.absoluteString == url)
    }

    @Test(
        "A Location without a fragment has the one of the URL that it replaces (RFC 9110 §10.2.2)",
        arguments: [
            ("/a#alice", ["/b"], "/b#alice"), ("/a#alice", ["/b#bob"], "/b#bob"), ("/a#alice", ["/b#"], "/b#"),
            ("/a#alice", ["/b", "/c?d=e"], "/c?d=e#alice"), ("/a#alice", ["/b#bob", "/c"], "/c#bob"),
            ("/a", ["/b"], "/b"), ("/a#%C3%BC/?%23", ["/b%20c"], "/b%20c#%C3%BC/?%23"),
            ("/a#alice", ["https://b.example"], "https://b.example#alice"), ("/a#alice", ["?q"], "/a?q#alice"),
            ("/a#", ["/b"], "/b#"),
        ]
    )
    func fragments(start: String, locations: [String], end: String) async throws {
        let rest = Locked(locations[...])
        let transport = StubTransport { _ in
            guard let location = rest.withLock({ $0.popFirst() }) else { return .response(status: 200, data: Data()) }
            return .response(status: 302, headers: ["Location": location], data: Data())
        }
        let url = try #require(URL(string: "https://a.example" + start))
        let provider = Provider<TestTarget>(requestClosure: { _ in URLRequest(url: url) }, transport: transport)
        let response = try await provider.request(TestTarget(.start))
        let expected = end.hasPrefix("/") ? "https://a.example" + end : end
        #expect(response.request?.url?.absoluteString == expected)
        #expect(response.redirects.last?.to.absoluteString == expected)
    }

    @Test(
        "The error of a redirect that can't be followed states what is wrong with its Location",
        arguments: [
            ([""], "its Location is empty"), (["  "], "its Location is empty"),
            (["/b", "/c"], "it has several different Location fields"),
            (["ftp://b.example/"], "its Location isn't an http or https URL"),
            (["ws://b.example/"], "its Location isn't an http or https URL"),
            (["https:///b"], "its Location isn't an http or https URL"),
        ] as [([String], String)]
    )
    func sentences(locations: [String], words: String) async throws {
        let headers = HTTPHeaders(locations.map { HTTPHeaders.Field(name: "Location", value: $0) })
        let transport = StubTransport(.response(status: 302, headers: headers, data: Data()))
        let error = await #expect(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: transport).request(TestTarget(.example))
        }
        #expect(error?.kind == .badRedirect)
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(": the redirect can't be followed: \(words) (URLError"), "\(text)")
    }

    @Test("Two Location fields with the same value are followed")
    func twice() async throws {
        let transport = StubTransport { request in
            request.urlRequest.url == .start
                ? .response(
                    status: 302,
                    headers: HTTPHeaders(["/b", "/b"].map { HTTPHeaders.Field(name: "Location", value: $0) }),
                    data: Data()
                ) : .response(status: 200, data: Data())
        }
        let target = TestTarget(.start).with { $0.path = "" }
        let response = try await Provider<TestTarget>(transport: transport).request(target)
        #expect(response.request?.url?.path == "/b")
    }

    @Test(
        "A URL without a port has the port of its scheme",
        arguments: [
            ("http://a.example:80/end", "http://a.example/start", false),
            ("http://a.example:81/end", "http://a.example/start", true),
            ("https://a.example:443/end", "https://a.example/start", false),
            ("https://a.example:444/end", "https://a.example/start", true),
        ]
    )
    func defaultPorts(location: String, start: String, isCrossOrigin: Bool) async throws {
        let start = try #require(URL(string: start))
        let transport = StubTransport { request in
            request.urlRequest.url == start
                ? .response(status: 302, headers: ["Location": location], data: Data())
                : .response(status: 200, data: Data())
        }
        let target = TestTarget(start).with {
            $0.path = ""
            $0.headers = ["Authorization": "Bearer t"]
        }
        let response = try await Provider<TestTarget>(transport: transport).request(target)
        #expect(response.redirects.map(\.isCrossOrigin) == [isCrossOrigin])
        #expect((response.request?.value(forHTTPHeaderField: "Authorization") == nil) == isCrossOrigin)
    }

    @Test(
        "A Location without a host, or with one in its path, is not followed",
        arguments: [
            "https:///evil.test/x", "http:/evil.test", "https:evil.test", "//", "///evil.test", "https://:80/",
            "https://@/x", "",
        ]
    )
    func nowhere(location: String) async throws {
        let sent = Recorder<URL?>()
        let transport = StubTransport { request in
            sent.append(request.urlRequest.url)
            return .response(status: 302, headers: ["Location": location], data: Data())
        }
        let error = await #expect(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: transport).request(TestTarget(.example))
        }
        #expect(error?.kind == .badRedirect)
        #expect(sent.count == 1)
    }
}

extension URL {
    fileprivate static let start = URL(string: "https://a.example/start") ?? .example
}
