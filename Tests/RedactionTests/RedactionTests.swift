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

@Suite("Redaction in a log", .throttled, .timeLimit(.minutes(2)))
struct RedactionTests {
    private func url(_ text: String, _ redaction: Redaction = Redaction()) async throws -> String {
        let url = try #require(URL(string: text))
        let target = PluginTarget(baseURL: url, path: "")
        let line = try #require(await LoggedLines(redaction: redaction)([.request], target).first)
        return String(line.dropFirst("[.0] → GET ".count).dropLast(" (PluginTarget)".count))
    }

    @Test(
        "A URL is shown without the secrets of its query, its user, and its fragment",
        arguments: [
            ("https://a.example/p?q=tea&token=x", "https://a.example/p?q=tea&token=<redacted>"),
            ("https://a.example/p?Access-Token=x&q", "https://a.example/p?Access-Token=<redacted>&q"),
            ("https://a.example/p?%74oken=x", "https://a.example/p?%74oken=<redacted>"),
            ("https://anna:pw@a.example/p@q?a=b", "https://<redacted>@a.example/p@q?a=b"),
            ("https://a.example/p?", "https://a.example/p?"), ("https://a.example", "https://a.example"),
            (
                "https://a.example/p?X-Amz-Signature=x&X-Amz-Date=y",
                "https://a.example/p?X-Amz-Signature=<redacted>&X-Amz-Date=y"
            ),
        ]
    )
    func urls(_ sent: String, _ shown: String) async throws {
        #expect(try await url(sent) == shown)
    }

    private static let identity = "11010519491231002X"
    private static let card = "6222021234567890128"

    @Test(
        "The preset for personal data redacts numbers and fields of people in JSON",
        arguments: [
            (#"{"mobile":13800138000,"a":1}"#, #"{"mobile":"<redacted>","a":1}"#),
            (#"{"x":13800138000,"y":[13800138000]}"#, #"{"x":"<redacted>","y":["<redacted>"]}"#),
            (
                #"{"userPhone":"1","id_card":"1","openid":"o","union-id":"u"}"#,
                #"{"userPhone":"<redacted>","id_card":"<redacted>","openid":"<redacted>","union-id":"<redacted>"}"#
            ),
            (#"{"身份证":"1","收货人姓名":"李","手机号":1}"#, #"{"身份证":"<redacted>","收货人姓名":"<redacted>","手机号":"<redacted>"}"#),
            (
                #"{"note":"call 13800138000 or +8613800138000, 138-0013-8000"}"#,
                #"{"note":"call <redacted> or +<redacted>, <redacted>"}"#
            ),
            (#"{"note":"电话13800138000。\#(identity)、\#(card)"}"#, #"{"note":"电话<redacted>。<redacted>、<redacted>"}"#),
            (#"{"json":"{\"a\":13800138000}"}"#, #"{"json":"{\"a\":\"<redacted>\"}"}"#),
            (
                #"{"order":202405060708091011,"time":1714979289123,"n":12800138000,"id":"a13800138000","f":0.13800138000}"#,
                #"{"order":202405060708091011,"time":1714979289123,"n":12800138000,"id":"a13800138000","f":0.13800138000}"#
            ),
            (
                #"{"wrong":"110105194912310021","card":"6222021234567890123"}"#,
                #"{"wrong":"110105194912310021","card":"6222021234567890123"}"#
            ),
        ]
    )
    func personalData(_ body: String, _ shown: String) async {
        let lines = LoggedLines(redaction: .personalData)
        #expect(await lines.responseBody(Data(body.utf8), type: "application/json") == [shown])
        #expect(await LoggedLines().responseBody(Data(body.utf8), type: "application/json") == [body])
    }

    @Test("The preset covers URLs, forms and header fields, and secrets, too")
    func personalDataElsewhere() async throws {
        let sent = "https://u:p@a.example/users/13800138000?q=13800138000&tel=1&token=x&to=%2B8613800138000"
        #expect(
            try await url(sent, .personalData)
                == "https://<redacted>@a.example/users/<redacted>?q=<redacted>&tel=<redacted>&token=<redacted>&to=%2B<redacted>"
        )
        let target = PluginTarget(headers: ["X-Caller": "13800138000", "X-Id": "7"])
        let text = await LoggedLines(redaction: .personalData)([.requestHeaders], target).joined()
        #expect(text.contains("X-Id: 7") && !text.contains("13800138000"))
        var visible = Redaction.personalData
        visible.visibleFields = ["openid"]
        let shown = try await url("https://a.example/?openid=o&phone=1", visible)
        #expect(shown == "https://a.example/?openid=o&phone=<redacted>")
    }

    @Test("Passwords and codes with Chinese names are secret", arguments: ["密码", "登录密码", "验证码", "密碼", "短信驗證碼", "口令"])
    func chineseNames(name: String) async {
        let body = Data(#"{"\#(name)":"x","网站":"y"}"#.utf8)
        let lines = await LoggedLines().responseBody(body, type: "application/json")
        #expect(lines == [#"{"\#(name)":"<redacted>","网站":"y"}"#])
    }

    @Test("With redaction off, a URL is shown whole")
    func unredactedURL() async throws {
        let text = "https://anna:pw@a.example/p?token=x"
        #expect(try await url(text, .none) == text)
    }

    @Test("Names can be added and exempted, and a list can replace the rule")
    func names() async throws {
        var redaction = Redaction()
        redaction.secretFields = ["Home_Town"]
        redaction.visibleFields = ["Sort-Token"]
        #expect(
            try await url("https://a.example/?hometown=x&token=y&sortToken=z", redaction)
                == "https://a.example/?hometown=<redacted>&token=<redacted>&sortToken=z"
        )
        var own = Redaction.none
        own.secretFields = ["q"]
        #expect(try await url("https://a.example/?q=x&token=y", own) == "https://a.example/?q=<redacted>&token=y")
    }

    @Test("Names that are added are found within brackets")
    func namesInBrackets() async {
        var redaction = Redaction()
        redaction.secretFields = ["iban", "user.address"]
        let body = "account[iban]=DE89\nuser[address][0]=Mill\nuser[name]=Anna\n"
        let target = PluginTarget(method: .post, task: .data(Data(body.utf8), contentType: "text/plain"))
        let text = await LoggedLines(redaction: redaction)([.requestBody, .curl], target).joined()
        #expect(text.contains("Anna"))
        #expect(!text.contains("DE89") && !text.contains("Mill"))
    }

    @Test(
        "Secret header fields are left out, in any letter case, on the way out and in",
        arguments: [
            "Authorization", "authorization", "COOKIE", "X-Api-Key", "Api-Key", "Access-Token", "Proxy-Authorization",
        ]
    )
    func headers(_ name: String) async {
        let target = PluginTarget(
            headers: HTTPHeaders([name: "hunter2"]),
            sampleResponse: .response(
                status: 200,
                headers: [name: "hunter2", "Set-Cookie": "id=hunter2"],
                data: Data()
            )
        )
        let lines = await LoggedLines()([.requestHeaders, .responseHeaders, .curl], target)
        #expect(!lines.joined().contains("hunter2"))
        #expect(lines.count { $0.contains("<redacted>") } == 3)
        let all = await LoggedLines(redaction: .none)([.requestHeaders, .responseHeaders], target)
        #expect(all.count { $0.contains("hunter2") } == 3)
        #expect(!all.joined().contains("<redacted>"))
    }

    @Test("The names in the metadata of an upload are shown, and values that aren't secret")
    func metadata() async {
        let metadata = "filename YS50eHQ=,token czNjcmV0,is_public,note dG9rZW49czNjcmV0"
        let target = PluginTarget(headers: ["Upload-Metadata": metadata])
        let lines = await LoggedLines()([.requestHeaders], target)
        #expect(lines == ["[.0]   Upload-Metadata: filename YS50eHQ=,token <redacted>,is_public,note <redacted>"])
    }

    @Test("Secret header names can be set")
    func ownHeaders() async {
        var redaction = Redaction.none
        redaction.headers.secretNames = ["X-Own"]
        let target = PluginTarget(headers: ["x-own": "hunter2", "Authorization": "shown"])
        let lines = await LoggedLines(redaction: redaction)([.requestHeaders], target)
        #expect(lines == ["[.0]   Authorization: shown", "[.0]   x-own: <redacted>"])
    }

    @Test("Where a response points to is shown without the secrets of its query")
    func location() async {
        let answer = SampleResponse.response(
            status: 201,
            headers: ["Location": "https://a.example/cb?page=1&code=1&access_token=x#y"],
            data: Data()
        )
        let lines = await LoggedLines()([.responseHeaders], PluginTarget(), answer: answer)
        #expect(lines == ["[.0]   Location: https://a.example/cb?page=1&code=<redacted>&access_token=<redacted>"])
    }

    @Test(
        "Control characters and controls of the text's direction are escaped, in header fields and bodies",
        arguments: ["\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\u{200F}", "\u{202E}", "\u{2066}", "\u{061C}", "\u{2028}"]
    )
    func controls(_ control: Unicode.Scalar) async {
        let text = "a\(control)b"
        let answer = SampleResponse.response(status: 200, headers: ["Server": text], data: Data(text.utf8))
        let lines = await LoggedLines()([.responseHeaders, .responseBody], PluginTarget(), answer: answer)
        let escape = "\\u{" + String(control.value, radix: 16, uppercase: true) + "}"
        #expect(lines.first == "[.0]   Server: a\(escape)b")
        #expect(lines.count > 1)
        #expect(!lines.joined().unicodeScalars.contains(control))
        let target = PluginTarget(method: .post, task: .data(Data(text.utf8), contentType: "text/plain"))
        let command = await LoggedLines()([.curl], target).joined()
        #expect(!command.isEmpty && !command.unicodeScalars.contains(control))
    }
}
