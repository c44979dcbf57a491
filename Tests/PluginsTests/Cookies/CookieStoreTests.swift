// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

/// The time of a store under test: it stands until the test moves it.
final class ManualDate: Sendable {
    private let date = Locked(Date(timeIntervalSince1970: 1_800_000_000))

    var now: Date { date.withLock { $0 } }
    func advance(by seconds: Double) { date.withLock { $0 += seconds } }
}

@Suite("A cookie store", .throttled)
struct CookieStoreTests {
    private let time = ManualDate()
    private let http: URL
    private let https: URL

    init() throws {
        http = try #require(URL(string: "http://example.org/"))
        https = try #require(URL(string: "https://example.org/"))
    }

    private func makeStore() -> CookieStore {
        CookieStore(now: { [time] in time.now })
    }

    @Test("Every attribute can be read from the cookie")
    func facts() throws {
        let store = makeStore()
        store.store(["sid=31d4; Domain=.Example.org; Path=/x; Max-Age=60; Secure; HttpOnly"], from: https)
        let cookie = Cookie(
            name: "sid",
            value: "31d4",
            domain: "example.org",
            isHostOnly: false,
            path: "/x",
            expires: time.now + 60,
            isSecure: true,
            isHTTPOnly: true,
            created: time.now
        )
        #expect(store.cookies == [cookie])
        #expect(store.cookies(for: https.appendingPathComponent("x")) == [cookie])
    }

    @Test("A description contains everything but the value", arguments: [true, false])
    func description(dumped: Bool) {
        let cookie = Cookie(name: "sid", value: "31d4", domain: "example.org", isSecure: true)
        var text = String(reflecting: cookie)
        if dumped {
            text = ""
            dump([cookie], to: &text)
        }
        #expect(text.contains("sid=<redacted>; domain=example.org only; path=/; secure"))
        #expect(!text.contains("31d4"))
    }

    @Test("A cookie expires at its second, and is removed")
    func ends() {
        let store = makeStore()
        store.store(["a=b; Max-Age=10"], from: http)
        time.advance(by: 9.5)
        #expect(store.header(for: http) == "a=b")
        time.advance(by: 0.5)
        #expect(store.header(for: http) == nil)
        #expect(store.cookies.isEmpty)
    }

    @Test("Max-Age is limited to the year 9999")
    func latestDate() {
        let store = makeStore()
        store.store(["a=b; Max-Age=99999999999999999999"], from: http)
        #expect(store.cookies.first?.expires == Date(timeIntervalSince1970: 253_402_300_799))
    }

    @Test("Older cookies are sent first, and a replaced one keeps its creation date")
    func order() {
        let store = makeStore()
        for field in ["a=1", "b=2", "c=3", "a=4"] {
            store.store([field], from: http)
            time.advance(by: 1)
        }
        #expect(store.header(for: http) == "a=4; b=2; c=3")
        store.store(["a=x; Max-Age=0"], from: http)
        store.store(["a=5"], from: http)
        #expect(store.header(for: http) == "b=2; c=3; a=5")
    }

    @Test("Longer paths are sent first, then older cookies, then the one stored first (RFC 6265 §5.4)")
    func sendingOrder() throws {
        let store = makeStore()
        let url = try #require(URL(string: "http://www.example.org/a/b"))
        store.store(["parent=1; Domain=example.org; Path=/a"], from: url)
        time.advance(by: 1)
        store.store(["host=1; Path=/a"], from: url)
        time.advance(by: 1)
        store.store(["above=1; Domain=example.org; Path=/", "below=1; Path=/"], from: url)
        time.advance(by: 1)
        store.store(["deep=1; Path=/a/b"], from: url)
        store.set(Cookie(name: "old", value: "1", domain: "www.example.org", created: time.now - 60))
        #expect(store.header(for: url) == "deep=1; parent=1; host=1; old=1; above=1; below=1")
    }

    @Test(
        "An http response cannot hide a Secure cookie",
        arguments: [
            ("a=evil", nil), ("a=evil; Path=/x/y", nil), ("a=evil; Domain=example.org; Path=/x", nil),
            ("a=evil; Max-Age=0", nil), ("a=other; Path=/", "a=other"), ("b=other; Path=/x", "b=other"),
        ] as [(String, String?)]
    )
    func leavesSecureAlone(field: String, sent: String?) throws {
        let store = makeStore()
        let deep = try #require(URL(string: "https://www.example.org/x/y/z"))
        let plain = try #require(URL(string: "http://www.example.org/x/y/z"))
        store.store(["a=safe; Domain=example.org; Path=/x; Secure"], from: deep)
        store.store([field], from: plain)
        #expect(store.header(for: plain) == sent)
        #expect(store.header(for: deep)?.contains("a=safe") == true)
    }

    @Test("The name and value of a cookie have up to 4,096 bytes", arguments: [(4095, true), (4096, false)])
    func size(length: Int, isKept: Bool) {
        let store = makeStore()
        store.store(["a=\(String(repeating: "x", count: length)); Path=/"], from: http)
        #expect(store.cookies.isEmpty == !isKept)
    }

    @Test("An attribute of more than 1,024 bytes is ignored")
    func longAttribute() {
        let store = makeStore()
        store.store(["a=b; Path=/\(String(repeating: "x", count: 1024))"], from: http)
        #expect(store.cookies.map(\.path) == ["/"])
    }

    @Test("Beyond 50 cookies for a domain, the least recently used one is removed")
    func domainLimit() throws {
        let store = makeStore()
        let other = try #require(URL(string: "http://www.example.org/"))
        store.store(["other=1"], from: other)
        store.store(["first=1; Path=/used"], from: http)
        store.store((1..<50).map { "n\($0)=1" }, from: http)
        #expect(store.cookies.count == 51)
        _ = store.header(for: http)
        store.store(["last=1"], from: http)
        let names = Set(store.cookies.map(\.name))
        #expect(names.count == 51)
        #expect(!names.contains("first"))
        #expect(names.isSuperset(of: ["n1", "n49", "last", "other"]))
    }

    @Test("Expired cookies of a domain are removed first, and Secure ones last")
    func evictionOrder() {
        let store = makeStore()
        store.store(["safe=1; Secure"], from: https)
        store.store(["plain=1"], from: https)
        store.store((2..<50).map { "n\($0)=1; Max-Age=\($0 == 30 ? 1 : 100)" }, from: https)
        time.advance(by: 1)
        store.store(["x=1"], from: https)
        #expect(Set(store.cookies.map(\.name)).isSuperset(of: ["safe", "plain", "n2", "x"]))
        store.store(["y=1"], from: https)
        let names = Set(store.cookies.map(\.name))
        #expect(names.isSuperset(of: ["safe", "n2", "x", "y"]))
        #expect(!names.contains("plain"))
        #expect(names.count == 50)
    }

    @Test("Beyond 3,000 cookies in total, the least recently used one is removed")
    func totalLimit() throws {
        let store = makeStore()
        for host in 0..<60 {
            let url = try #require(URL(string: "http://h\(host).example.org/"))
            store.store((0..<50).map { "n\($0)=1" }, from: url)
        }
        #expect(store.cookies.count == 3000)
        let first = try #require(URL(string: "http://h0.example.org/"))
        #expect(store.cookies(for: first).count == 50)
        store.store(["new=1"], from: http)
        #expect(store.cookies.count == 3000)
        #expect(store.cookies(for: first).count == 50)
        #expect(store.header(for: http) == "new=1")
        #expect(store.cookies(for: try #require(URL(string: "http://h1.example.org/"))).map(\.name).first == "n1")
    }

    @Test("The app's own cookie replaces one with the same name, domain and path")
    func set() {
        let store = makeStore()
        store.store(["a=1"], from: http)
        #expect(store.set(Cookie(name: "a", value: "2", domain: ".Example.ORG", created: time.now)))
        #expect(store.header(for: http) == "a=2")
        #expect(store.set(Cookie(name: "a", value: "", domain: "example.org", expires: time.now)))
        #expect(store.cookies.isEmpty)
    }

    @Test(
        "A cookie that no server could set is refused",
        arguments: [
            Cookie(name: "", value: "b", domain: "example.org"),
            Cookie(name: "a=", value: "b", domain: "example.org"),
            Cookie(name: " a", value: "b", domain: "example.org"),
            Cookie(name: "a", value: "b; c=d", domain: "example.org"),
            Cookie(name: "a", value: "b\r\nX: y", domain: "example.org"),
            Cookie(name: "a", value: "b ", domain: "example.org"),
            Cookie(name: "a", value: "b", domain: ""),
            Cookie(name: "a", value: "b", domain: "exa mple.org"),
            Cookie(name: "a", value: "b", domain: "com", isHostOnly: false),
            Cookie(name: "a", value: "b", domain: "127.0.0.1", isHostOnly: false),
            Cookie(name: "a", value: "b", domain: "example.org", path: ""),
            Cookie(name: "a", value: "b", domain: "example.org", path: "/;"),
            Cookie(name: "a", value: String(repeating: "x", count: 4096), domain: "example.org"),
            Cookie(name: "a", value: "b", domain: "example.org", expires: Date(timeIntervalSince1970: .infinity)),
            Cookie(name: "__Host-a", value: "b", domain: "example.org", path: "/x", isSecure: true),
        ]
    )
    func refusesToSet(cookie: Cookie) {
        let store = makeStore()
        #expect(!store.set(cookie))
        #expect(store.cookies.isEmpty)
    }

    @Test("Cookies are removed by a condition, or all of them")
    func removing() {
        let store = makeStore()
        store.store(["a=1", "b=2; Max-Age=9", "c=3"], from: http)
        store.remove { cookie in
            // The store can be used in there: no lock is held.
            cookie.name == "a" && store.cookies.count == 3
        }
        #expect(store.cookies.map(\.name) == ["b", "c"])
        store.removeAll()
        #expect(store.cookies.isEmpty)
        #expect(store.header(for: http) == nil)
    }

    @Test("An error of the condition is rethrown, and no cookie is removed")
    func removingThrows() {
        let store = makeStore()
        store.store(["a=1", "b=2"], from: http)
        #expect(throws: CancellationError.self) {
            try store.remove { if $0.name == "b" { throw CancellationError() } else { true } }
        }
        #expect(store.cookies.count == 2)
    }
}
