// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Every name of a secret at every place: none of the values reaches a log or an error.
@Suite("Secrets at every place of a call", .throttled, .timeLimit(.minutes(5)))
struct SecretTableTests {
    private static let words = [
        "access token", "refresh token", "id token", "auth token", "device token", "csrf token", "reset token",
        "session token", "bearer", "jwt", "client secret", "app secret", "shared secret", "webhook secret", "api key",
        "access key", "private key", "signing key", "session key", "encryption key", "subscription key", "license key",
        "password", "user password", "new password", "current password", "password hash", "passphrase", "pwd", "passwd",
        "session", "session id", "php sess id", "credential", "aws credentials", "user credential id", "auth",
        "auth user", "authorization", "proxy authorization", "signature", "request signature", "sig", "otp",
        "code verifier", "client assertion", "card number", "recovery codes",
    ]

    /// Further words, in two notations.
    private static let otherWords = [
        "sign", "x sign", "pay sign", "ticket",
        "jsapi ticket", "js code", "verify code", "vcode", "captcha", "yzm", "mima", "pay pwd", "skey", "sessdata",
        "bili jct", "ak", "sk", "tk", "encrypted data", "cb access sign", "mfa code", "one time code", "saml response",
        "signed request", "magic link", "mnemonic", "connection string", "dsn", "psk", "pan", "pat", "mac",
    ]

    /// The words as a name in each notation.
    private static func notations(_ words: String) -> [String] {
        let words = words.split(separator: " ").map(String.init)
        let capitalized = words.map(\.capitalized)
        return [
            words.joined(separator: "_"), words.joined(separator: "-"), words.joined(separator: "_").uppercased(),
            capitalized.joined(separator: "-"), capitalized.joined(),
            words[0] + capitalized.dropFirst().joined(),
        ]
    }

    static let names = Array(
        Set(words.flatMap(notations) + otherWords.flatMap { [notations($0)[0], notations($0)[5]] })
    )
    .sorted()

    /// Whether each name is tested at each place. Otherwise each place has every sixth name, and each name several
    /// places.
    private static let isComplete = ProcessInfo.processInfo.environment["TARGETKIT_SECRETS"] == "1"

    private static func names(at place: SecretPlace) -> [(Int, String)] {
        let offset = isComplete ? 0 : SecretPlace.all.firstIndex { $0.testDescription == place.testDescription } ?? 0
        return names.enumerated().filter { isComplete || ($0.offset + offset).isMultiple(of: 6) }
    }

    @Test("There are at least 200 names and 25 places")
    func size() {
        #expect(Self.names.count >= 200)
        #expect(SecretPlace.all.count >= 25)
    }

    @Test("No secret reaches a line of the log, or a cURL command", arguments: SecretPlace.all)
    func log(_ place: SecretPlace) async {
        for (number, name) in Self.names(at: place) {
            let target = place.make(name, "s3cr\(number)et")
            // A command shows the request only, by the same rule.
            let levels: [NetworkLoggerPlugin.Level] = number.isMultiple(of: 3) ? [.body, .curl] : [.body]
            for level in levels {
                let shown = await LoggedLines()(level, target).filter {
                    $0.contains("s3cr") || $0.contains("115.51.99")
                }
                #expect(shown == [], "\(name)")
            }
        }
    }

    @Test("No secret reaches the text of an error", arguments: SecretPlace.all)
    func error(_ place: SecretPlace) async throws {
        for (number, name) in Self.names.enumerated() where number.isMultiple(of: 6) {
            var target = place.make(name, "s3cr\(number)et")
            target.validation = .codes([299])
            let error = try #require(await Provider<PluginTarget>.stubbed().result(target).failure)
            var dumped = ""
            dump(error, to: &dumped)
            let bridged = error as NSError
            for text in [
                error.description, String(reflecting: error), error.localizedDescription, dumped, "\(bridged)",
                "\(bridged.userInfo)",
            ] { #expect(!text.contains("s3cr"), "\(name)") }
        }
    }

    @Test("The fields that a plugin names are secret at every level")
    func pluginSecrets() async {
        struct Signing: Plugin {
            var secretHeaders: Set<HTTPHeaderName> { ["X-Plain"] }
        }
        let target = PluginTarget(
            headers: ["x-plain": "s3cret"],
            sampleResponse: .response(status: 200, headers: ["X-Plain": "s3cret"], data: Data())
        )
        for level in [.headers, .body, .curl] as [NetworkLoggerPlugin.Level] {
            let lines = await LoggedLines(plugins: [Signing()])(level, target)
            #expect(lines.contains { $0.contains("<redacted>") })
            #expect(!lines.joined().contains("s3cret"))
        }
    }

    @Test(
        "An OAuth code is secret in a query, a form, a redirect, and the JSON of a token request",
        arguments: [
            PluginTarget(baseURL: URL(string: "https://h.example/cb?state=1&code=s3cret") ?? .shop, path: ""),
            PluginTarget(method: .post, task: .form(["grant_type": "authorization_code", "code": "s3cret"])),
            PluginTarget(method: .post, task: .json(["code": "s3cret", "grant_type": "authorization_code"])),
            PluginTarget(headers: ["Referer": "https://h.example/cb?code=s3cret"]),
        ]
    )
    func code(_ target: PluginTarget) async {
        for level in [.body, .curl] as [NetworkLoggerPlugin.Level] {
            let lines = await LoggedLines()(level, target)
            #expect(lines.joined().contains("<redacted>"))
            #expect(!lines.joined().contains("s3cret"))
        }
    }

    @Test(
        "What is not secret is shown as it is",
        arguments: [
            #"{"code":0,"message":"ok","data":{"monkey":"a=b","author":"Anna: B","token_type":"bearer","id":7}}"#,
            #"{"tokenizer":"bpe","max_tokens":12,"tokens":7,"usage":{"total_tokens":12},"keyboard":"de"}"#,
            #"[{"key":"color","value":"red"},{"name":"size","value":"L"}]"#,
            #"{"required":["password","email"],"pairs":[["color","red"],["token","session","id"]],"escaped":"a%20b%3Dc"}"#,
            "<member><name>color</name><value><string>red</string></value></member>",
            #"{"at":"2026-01-02T10:00:00Z","url":"https://h.example/a/b?page=2#top","text":"3 < 4 & \"5\" > 1"}"#,
            #"{"json":"{\"a\":[1,2]}","path":"C:\\Users","emoji":"é😀"}"#,
            "<a href=\"https://h.example/?page=2\">Authors</a><key>color</key><string>red</string>",
            "<Contents name='a b c d'><Author>Anna</Author></Contents>",
            "Basic authentication is required by Bearer of h.example: see RFC 9110", "a: b\nc = d; 12:30 x://y",
        ]
    )
    func readable(_ text: String) async {
        #expect(await LoggedLines().responseBody(Data(text.utf8), type: "text/html").joined(separator: "\n") == text)
    }

    @Test(
        "Text of any shape is read in time that grows with its length",
        .timeLimit(.minutes(4)),
        arguments: [
            #"{"value":"#, #"{"key":"#, #"{"name":"token","value":"#, "<token>", "<a x='", "<a b=\"", "<!-- ", "a[",
            "a=",
            "a: ", "token=", "://", "Bearer ", "\"", "\\\"", "'", "eyJ", "{\"a\":\"\\", "%7B%22", "token: ",
            "grant_type",
            "<div id=session>", "</token", "&code=", "    a", "[[[[", "]}]}", "a://b@",
            "<a/x=", "<a x=y ", "<a x=\"'", "<key>", "a=b&c=d;e:", "%3C", "\"a\"", "{\"key\":1,",
            "\"a\":{\"key\":\"a\",\"value\":",
        ]
    )
    func hostile(_ piece: String) async {
        let text = String(repeating: piece, count: 100_000 / piece.utf8.count)
        let lines = await LoggedLines(bodyLimit: 1 << 20).responseBody(Data(text.utf8), type: "text/html")
        #expect(!lines.isEmpty)
        _ = await LoggedLines()(
            .basic,
            PluginTarget(headers: ["X-A": text], sampleResponse: .response(status: 200, data: Data()))
        )
    }
}
