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

/// Every name of a secret at every place: none of the values reaches a log.
@Suite("Secrets at every place of a call", .throttled, .timeLimit(.minutes(5)))
struct SecretTableTests {
    @Test("There are at least 200 names and 25 places")
    func size() {
        #expect(SecretName.all.count >= 200)
        #expect(SecretPlace.all.count >= 25)
    }

    @Test("No secret reaches a line of the log, or a cURL command", arguments: SecretPlace.all)
    func log(_ place: SecretPlace) async {
        for (number, name) in SecretName.all(at: place) {
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
