// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

@Suite("The rules of RFC 6265", .throttled)
struct CookieRuleTests {
    @Test(
        "The name and value are separated by the first =, trimmed, with quotes kept",
        arguments: [
            CookieRow("foo=bar", sent: "foo=bar"),
            CookieRow("foo=bar; Path=/", sent: "foo=bar"),
            CookieRow("  foo = bar  ; baz", sent: "foo=bar"),
            CookieRow("\tfoo\t=\tbar\t", sent: "foo=bar"),
            CookieRow("foo=bar;;;", sent: "foo=bar"),
            CookieRow("foo=bar; ; ;=; =x", sent: "foo=bar"),
            CookieRow("foo=\"bar\"", sent: "foo=\"bar\""),
            CookieRow("foo=\"  bar  \"", sent: "foo=\"  bar  \""),
            CookieRow("foo=\"a;b\"", sent: "foo=\"a"),
            CookieRow("foo=a=b=c", sent: "foo=a=b=c"),
            CookieRow("foo==", sent: "foo=="),
            CookieRow("foo=", sent: "foo="),
            CookieRow("foo=;bar", sent: "foo="),
            CookieRow("foo=a b c", sent: "foo=a b c"),
            CookieRow("foo=a,b", sent: "foo=a,b"),
            CookieRow("foo=a\tb", sent: "foo=a\tb"),
            CookieRow("foo=bär", sent: "foo=bär"),
            CookieRow("foo=b;\u{301}", sent: "foo=b"),
            CookieRow("FOO=1", "foo=2", sent: "FOO=1; foo=2"),
            CookieRow("foo=%20%3B", sent: "foo=%20%3B"),
            CookieRow("a b=c", sent: "a b=c"),
            CookieRow("!#$&'=(x)", sent: "!#$&'=(x)"),
            CookieRow("Expires=1; Domain=2nd.invalid", sent: nil),
            CookieRow("Secure=1", sent: "Secure=1"),
            CookieRow("$Version=1", sent: "$Version=1"),
            CookieRow("foo=bar; unknown=x; SameSite=Strict; Priority=High", sent: "foo=bar"),
            CookieRow("foo=1", "foo=2", sent: "foo=2"),
            CookieRow("a=1", "b=2", "a=3", sent: "a=3; b=2"),
        ]
    )
    func namesAndValues(row: CookieRow) throws { try row.check() }

    @Test(
        "Secure cookies belong to https, and to hosts of the device itself, as in browsers",
        arguments: [
            CookieRow("a=b; Secure", from: "https://x.example/", sent: "a=b"),
            CookieRow("a=b; Secure", from: "http://x.example/", sent: nil),
            CookieRow("a=b; Secure", from: "http://localhost:8080/", sent: "a=b"),
            CookieRow("a=b; Secure", from: "http://LOCALHOST/", sent: "a=b"),
            CookieRow("a=b; Secure", from: "http://app.localhost/", sent: "a=b"),
            CookieRow("a=b; Secure", from: "http://127.0.0.1:8080/", sent: "a=b"),
            CookieRow("a=b; Secure", from: "http://127.3.2.1/", sent: "a=b"),
            CookieRow("a=b; Secure", from: "http://[::1]:8080/", sent: "a=b"),
            CookieRow("__Host-a=b; Secure; Path=/", from: "http://localhost/", sent: "__Host-a=b"),
            CookieRow("a=b; Secure", from: "https://localhost/", to: "http://localhost/", sent: "a=b"),
            CookieRow("a=b; Secure", from: "http://localhost.example/", sent: nil),
            CookieRow("a=b; Secure", from: "http://notlocalhost/", sent: nil),
            CookieRow("a=b; Secure", from: "http://127.example/", sent: nil),
            CookieRow("a=b; Secure", from: "http://127.0.0.1.example/", sent: nil),
            CookieRow("a=b; Secure", from: "http://192.168.0.1/", sent: nil),
            CookieRow("a=b; Secure", from: "http://[::2]/", sent: nil),
        ]
    )
    func ownDevice(row: CookieRow) throws { try row.check() }

    @Test(
        "A field without =, without a name or with control characters is ignored",
        arguments: [
            "", ";", "foo", "=", "=bar", " =bar", ";foo=bar", "foo; bar=baz", "foo=a\u{0}b", "foo=a\r\nb", "foo=\u{7F}",
        ]
    )
    func refusesFields(field: String) throws { try CookieRow(field, sent: nil).check() }

    @Test(
        "A Domain includes its subdomains, and without one the cookie is for the host only",
        arguments: [
            CookieRow("a=b", sent: "a=b"),
            CookieRow("a=b", to: "http://www.home.example.org/cookies/x", sent: nil),
            CookieRow("a=b; Path=/; Domain=home.example.org", to: "http://www.home.example.org/", sent: "a=b"),
            CookieRow("a=b; Path=/; Domain=home.example.org", to: "http://example.org/", sent: nil),
            CookieRow("a=b; Path=/; Domain=example.org", to: "http://example.org/", sent: "a=b"),
            CookieRow("a=b; Path=/; Domain=example.org", to: "http://sibling.example.org/", sent: "a=b"),
            CookieRow("a=b; Path=/; Domain=example.org", to: "http://a.b.c.example.org:8080/", sent: "a=b"),
            CookieRow("a=b; Path=/; Domain=.example.org", to: "http://sibling.example.org/", sent: "a=b"),
            CookieRow("a=b; Path=/; Domain=EXAMPLE.Org", to: "http://Sibling.Example.ORG/", sent: "a=b"),
            CookieRow("a=b; Path=/; domain = example.org ", to: "http://www.example.org/", sent: "a=b"),
            CookieRow("a=b; Path=/; Domain=example.org", to: "http://badexample.org/", sent: nil),
            CookieRow("a=b; Path=/; Domain=example.org", to: "http://example.org.evil.net/", sent: nil),
            CookieRow("a=b; Domain=ome.example.org", sent: nil),
            CookieRow("a=b; Domain=..example.org", sent: nil),
            CookieRow("a=b; Domain=www.home.example.org", sent: nil),
            CookieRow("a=b; Domain=sibling.example.org", to: "http://sibling.example.org/cookies/", sent: nil),
            CookieRow("a=b; Domain=example.com", sent: nil),
            CookieRow("a=b; Domain=example.org.", sent: nil),
            CookieRow("a=b; Domain=home.example.org:80", sent: nil),
            CookieRow("a=b; Domain=bücher.example.org", sent: nil),
            CookieRow("a=b; Domain=\"example.org\"", sent: nil),
            CookieRow("a=b; Domain=", sent: "a=b"),
            CookieRow("a=b; Domain=.", sent: "a=b"),
            CookieRow("a=b; Domain", sent: "a=b"),
            CookieRow("a=b; Domain=example.com; Domain=home.example.org", sent: "a=b"),
            CookieRow("a=b; Domain=home.example.org; Domain=example.com", sent: nil),
            // A single label is all hosts of a top-level domain; an address has no hosts below it.
            CookieRow("a=b; Domain=org", sent: nil),
            CookieRow("a=b; Domain=.org", sent: nil),
            CookieRow("a=b; Domain=com.", from: "http://example.com./", sent: nil),
            CookieRow("a=b; Domain=localhost", from: "http://localhost/", sent: "a=b"),
            CookieRow("a=b; Domain=localhost", from: "http://localhost/", to: "http://x.localhost/", sent: nil),
            CookieRow("a=b", from: "http://127.0.0.1:8080/", to: "http://127.0.0.1:9090/", sent: "a=b"),
            CookieRow("a=b; Domain=127.0.0.1", from: "http://127.0.0.1/", sent: "a=b"),
            CookieRow("a=b; Domain=127.0.0.1", from: "http://127.0.0.1/", to: "http://x.127.0.0.1/", sent: nil),
            CookieRow("a=b; Domain=0.0.1", from: "http://127.0.0.1/", sent: nil),
            CookieRow("a=b; Domain=0.1", from: "http://127.0.0.0x1/", sent: nil),
            CookieRow("a=b; Domain=0.0.0x1", from: "http://127.0.0.0x1/", sent: nil),
            CookieRow("a=b; Domain=example.0xg", from: "http://www.example.0xg/", sent: "a=b"),
            CookieRow("a=b", from: "http://[::1]:81/", to: "http://[::1]/", sent: "a=b"),
            CookieRow("a=b; Domain=[::1]", from: "http://[::1]/", sent: "a=b"),
            CookieRow("a=b", from: "http://user:secret@example.org/", to: "http://example.org/", sent: "a=b"),
            CookieRow("a=b", from: "ftp://example.org/", to: "http://example.org/", sent: nil),
            CookieRow("a=b", from: "http://example.org/", to: "ws://example.org/", sent: nil),
            CookieRow("a=b", from: "file:///etc/hosts", sent: nil),
        ]
    )
    func domains(row: CookieRow) throws { try row.check() }

    @Test(
        "A Path matches itself and the paths below it; the default is the request's folder",
        arguments: [
            CookieRow("a=b", to: "http://home.example.org/cookies", sent: "a=b"),
            CookieRow("a=b", to: "http://home.example.org/cookies/", sent: "a=b"),
            CookieRow("a=b", to: "http://home.example.org/cookies/deep/er", sent: "a=b"),
            CookieRow("a=b", to: "http://home.example.org/cookiesandmore", sent: nil),
            CookieRow("a=b", to: "http://home.example.org/Cookies/", sent: nil),
            CookieRow("a=b", to: "http://home.example.org/", sent: nil),
            CookieRow("a=b", from: "http://e.org/x/y/", to: "http://e.org/x/y", sent: "a=b"),
            CookieRow("a=b", from: "http://e.org/x", to: "http://e.org/z", sent: "a=b"),
            CookieRow("a=b", from: "http://e.org", to: "http://e.org/z", sent: "a=b"),
            CookieRow("a=b", from: "http://e.org?q=/a/b", to: "http://e.org#f", sent: "a=b"),
            CookieRow("a=b", from: "http://e.org/x/y?q=/a/b", to: "http://e.org/x", sent: "a=b"),
            CookieRow("a=b; Path=/", to: "http://home.example.org", sent: "a=b"),
            CookieRow("a=b; Path=/foo", to: "http://home.example.org/foo", sent: "a=b"),
            CookieRow("a=b; Path=/foo", to: "http://home.example.org/foo/", sent: "a=b"),
            CookieRow("a=b; Path=/foo", to: "http://home.example.org/foo?x", sent: "a=b"),
            CookieRow("a=b; Path=/foo", to: "http://home.example.org/foobar", sent: nil),
            CookieRow("a=b; Path=/foo/", to: "http://home.example.org/foo/bar", sent: "a=b"),
            CookieRow("a=b; Path=/foo/", to: "http://home.example.org/foo", sent: nil),
            CookieRow("a=b; Path = /foo ", to: "http://home.example.org/foo", sent: "a=b"),
            CookieRow("a=b; Path=/foo%20x", to: "http://home.example.org/foo%20x/y", sent: "a=b"),
            CookieRow("a=b; Path=/foo%2Fx", to: "http://home.example.org/foo/x", sent: nil),
            CookieRow("a=b; Path=foo", sent: "a=b"),
            CookieRow("a=b; Path=", sent: "a=b"),
            CookieRow("a=b; Path=\"/\"", to: "http://home.example.org/", sent: nil),
            CookieRow("a=b; Path=/x; Path=/y", to: "http://home.example.org/y", sent: "a=b"),
            CookieRow("a=b; Path=/x; Path=/y", to: "http://home.example.org/x", sent: nil),
            CookieRow("a=b; Path=/; Path=y", to: "http://home.example.org/", sent: nil),
            CookieRow("a=1; Path=/", "a=2; Path=/cookies", sent: "a=2; a=1"),
            CookieRow("a=1; Path=/", "b=2; Path=/cookies/parser", "c=3; Path=/cookies", sent: "b=2; c=3; a=1"),
        ]
    )
    func paths(row: CookieRow) throws { try row.check() }

    @Test(
        "A Secure cookie is set and sent over https only, and prefixes are enforced",
        arguments: [
            CookieRow("a=b; Secure", from: "https://e.org/", sent: "a=b"),
            CookieRow("a=b; secure=no", from: "HTTPS://e.org/", to: "http://e.org/", sent: nil),
            CookieRow("a=b; Secure", from: "http://e.org/", to: "https://e.org/", sent: nil),
            CookieRow("a=b", from: "https://e.org/", to: "http://e.org/", sent: "a=b"),
            CookieRow("a=b; HttpOnly", from: "http://e.org/", sent: "a=b"),
            CookieRow("__Secure-a=b; Secure", from: "https://e.org/", sent: "__Secure-a=b"),
            CookieRow("__Secure-a=b", from: "https://e.org/", sent: nil),
            CookieRow("__secure-a=b", from: "https://e.org/", sent: nil),
            CookieRow("__Secure-a=b; Secure", from: "http://e.org/", to: "https://e.org/", sent: nil),
            CookieRow("__Host-a=b; Secure; Path=/", from: "https://e.org/", sent: "__Host-a=b"),
            CookieRow("__Host-a=b; Secure", from: "https://e.org/", sent: nil),
            CookieRow("__Host-a=b; Path=/", from: "https://e.org/", sent: nil),
            CookieRow("__Host-a=b; Secure; Path=/x", from: "https://e.org/x", sent: nil),
            CookieRow("__HOST-a=b; Secure; Path=/; Domain=e.org", from: "https://e.org/", sent: nil),
            CookieRow("__Hosta=b", from: "http://e.org/", sent: "__Hosta=b"),
        ]
    )
    func secure(row: CookieRow) throws { try row.check() }

    @Test(
        "Max-Age takes precedence over Expires, and an invalid one is ignored",
        arguments: [
            CookieRow("a=b; Max-Age=1", sent: "a=b"),
            CookieRow("a=b; max-age = 1", sent: "a=b"),
            CookieRow("a=b; Max-Age=0", sent: nil),
            CookieRow("a=b; Max-Age=-1", sent: nil),
            CookieRow("a=b; Max-Age=-99999999999999999999", sent: nil),
            CookieRow("a=b; Max-Age=99999999999999999999", sent: "a=b"),
            CookieRow("a=b; Max-Age=0; Max-Age=1", sent: "a=b"),
            CookieRow("a=b; Max-Age=1; Max-Age=0", sent: nil),
            CookieRow("a=b; Max-Age=0; Max-Age=x", sent: nil),
            CookieRow("a=b; Max-Age=", sent: "a=b"),
            CookieRow("a=b; Max-Age=-", sent: "a=b"),
            CookieRow("a=b; Max-Age=0x", sent: "a=b"),
            CookieRow("a=b; Max-Age=+0", sent: "a=b"),
            CookieRow("a=b; Max-Age=\"0\"", sent: "a=b"),
            CookieRow("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", sent: nil),
            CookieRow("a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", sent: "a=b"),
            CookieRow("a=b; Expires=Thu, 01 Jan 2099 00:00:00 GMT; Max-Age=0", sent: nil),
            CookieRow("a=b; Expires=Thu, 01 Jan 2099 00:00:00 GMT", sent: "a=b"),
            CookieRow("a=1", "a=2; Max-Age=0", sent: nil),
            CookieRow("a=1; Path=/", "a=2; Path=/cookies; Max-Age=0", sent: "a=1"),
        ]
    )
    func ages(row: CookieRow) throws { try row.check() }
}
