// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Bodies in a log", .throttled)
struct LogBodyTests {
    @Test("A time beyond a clock's range is logged", arguments: [Int64.max, .min])
    func endlessTime(seconds: Int64) async {
        let lines = await LoggedLines(duration: .seconds(seconds))([.response], PluginTarget())
        #expect(lines.count == 1)
        let open = CircuitOpenError(key: "k", remaining: .seconds(seconds) * 10)
        #expect(open.description.contains("k"))
    }

    @Test("A limit larger than the body shows all of the body", arguments: [Int.max, .max - 1])
    func endlessLimit(limit: Int) async {
        let lines = LoggedLines(bodyLimit: limit)
        #expect(await lines.responseBody(Data(#"{"a":1}"#.utf8), type: "application/json") == [#"{"a":1}"#])
        #expect(await lines.responseBody(Data("a=1".utf8), type: nil) == ["a=1"])
        #expect(await lines.responseBody(Data("true".utf8), type: "application/json") == ["true"])
        #expect(await lines.responseBody(Data("\"a\"".utf8), type: "application/json") == ["\"a\""])
    }

    @Test(
        "Secret fields of JSON are left out at any depth, all else stays as it is",
        arguments: [
            (#"{"a":1}"#, #"{"a":1}"#),
            (#"{"password":"x","a":1}"#, #"{"password":"<redacted>","a":1}"#),
            (
                #"{"a":{"b":[{"Token":"x"},{"token":"y"}]}}"#,
                #"{"a":{"b":[{"Token":"<redacted>"},{"token":"<redacted>"}]}}"#
            ),
            (#"{ "accessToken" : "x" , "a" : 1 }"#, #"{ "accessToken" : "<redacted>" , "a" : 1 }"#),
            (#"{"API-KEY":12.5e3}"#, #"{"API-KEY":"<redacted>"}"#), (#"{"pin":1234}"#, #"{"pin":"<redacted>"}"#),
            (#"{"secret":null,"a":2}"#, #"{"secret":null,"a":2}"#), (#"{"token":true}"#, #"{"token":true}"#),
            (#"{"token":{"a":"}","b":["]"]},"c":1}"#, #"{"token":"<redacted>","c":1}"#),
            (#"{"token":["x",{"y":"z"}],"c":1}"#, #"{"token":"<redacted>","c":1}"#),
            (#"{"token":"a\"b\\","c":1}"#, #"{"token":"<redacted>","c":1}"#),
            (#"{"p\u0061ssword":"x"}"#, #"{"p\u0061ssword":"<redacted>"}"#),
            (#"{"a":"password","b":"\"token\":1"}"#, #"{"a":"password","b":"\"token\":\"<redacted>\""}"#),
            (#"{"tokens":1,"my_token_count":2}"#, #"{"tokens":1,"my_token_count":2}"#),
            (#"["password","x"]"#, #"["password","x"]"#),
            ("data: {\"token\":\"x\"}", "data: {\"token\":\"<redacted>\"}"),
            (#"{"token":"x"#, #"{"token":"<redacted>""#), (#"{"token":"#, #"{"token":"<redacted>""#),
            (#"{"token""#, #"{"token""#), (#"{"a":"#, #"{"a":"#), (#"}]{"token":1}"#, #"}]{"token":"<redacted>"}"#),
            (#""token":"x""#, #""token":"<redacted>""#), ("plain text", "plain text"),
        ]
    )
    func json(_ body: String, _ shown: String) async {
        #expect(await LoggedLines().responseBody(Data(body.utf8), type: "application/json") == [shown])
        #expect(await LoggedLines().responseBody(Data(body.utf8), type: nil) == [shown])
    }

    @Test(
        "Escapes of characters that can be read are logged as these characters",
        arguments: [
            (#"{"name":"\u7b7e\u540d"}"#, #"{"name":"签名"}"#), (#"{"\u7b7e":"a\ud83d\ude00\n"}"#, #"{"签":"a😀\n"}"#),
            (#"{"a":"\ud83d","b":"\u00e9\u0041"}"#, #"{"a":"\ud83d","b":"é\u0041"}"#),
            (#"["\u0000\u001b\u0022\u005c\u202e\u0085\u2028"]"#, #"["\u0000\u001b\u0022\u005c\u202e\u0085\u2028"]"#),
            (#"["\\u7b7e","\\\u7b7e","\u7b7"]"#, #"["\\u7b7e","\\签","\u7b7"]"#),
            (#"{"password":"\u7b7e","\u7b7e":"\u540d"}"#, #"{"password":"<redacted>","签":"名"}"#),
            (#"{"a":"{\"token\":\"\u7b7e\",\"b\":\"\u540d\"}"}"#, #"{"a":"{\"token\":\"<redacted>\",\"b\":\"名\"}"}"#),
        ]
    )
    func escapes(_ body: String, _ shown: String) async {
        #expect(await LoggedLines().responseBody(Data(body.utf8), type: "application/json") == [shown])
    }

    @Test("Every byte position at which a JSON is cut off keeps the secret")
    func cutOff() async {
        let body = Data(#"{"a":[{"x":"\\"}],"token":{"k":"hunter2"},"password":"hunter2","b":"ok"}"#.utf8)
        for end in 0...body.count {
            let lines = await LoggedLines().responseBody(body.prefix(end), type: "application/json")
            #expect(!lines.joined().contains("hun"), "cut at \(end)")
            let limited = await LoggedLines(bodyLimit: end).responseBody(body, type: "application/json")
            #expect(!limited.joined().contains("hun"), "limit \(end)")
        }
    }

    @Test(
        "A body of 100,000 levels is shown up to the limit, its secrets left out, however high the limit is",
        .timeLimit(.minutes(3)),
        arguments: [#"{"a":"#, "[", #"{"a":["#, "{", #"[{"token":"#]
    )
    func deep(level: String) async {
        let body = String(repeating: level, count: 100_000) + #"{"b":1,"password":"hunter2"}"#
        for limit in [4096, 2_000_000] {
            let lines = await LoggedLines(bodyLimit: limit).responseBody(Data(body.utf8), type: "application/json")
            let shown = lines.joined()
            #expect(!shown.contains("hunter2"))
            #expect(shown.hasPrefix(level == #"[{"token":"# ? #"[{"token":"<redacted>""# : level + level))
        }
    }

    @Test("Key paths name a field at one place, and go through arrays")
    func keyPaths() async {
        var redaction = Redaction()
        redaction.secretFields.formUnion(["user.name", "cards.number", "items.0.code", "deep[0][key]"])
        let body =
            #"{"name":1,"user":{"name":"x","a":{"name":2}},"cards":[{"number":"y"},{"number":"z"}],"number":3,"#
            + #""items":[{"code":4}],"deep":[[{"key":5}]]}"#
        let shown =
            #"{"name":1,"user":{"name":"<redacted>","a":{"name":2}},"#
            + #""cards":[{"number":"<redacted>"},{"number":"<redacted>"}],"number":3,"#
            + #""items":[{"code":"<redacted>"}],"deep":[[{"key":"<redacted>"}]]}"#
        #expect(await LoggedLines(redaction: redaction).responseBody(Data(body.utf8), type: nil) == [shown])
    }

    @Test(
        "Secret fields of a form are left out",
        arguments: [
            ("a=1&password=x&b=2", "a=1&password=<redacted>&b=2"), ("refresh%5Ftoken=x", "refresh%5Ftoken=<redacted>"),
            ("user%5Bpassword%5D=x", "user%5Bpassword%5D=<redacted>"),
            ("user[password][0]=x", "user[password][0]=<redacted>"),
            ("user.pin=x&pin", "user.pin=<redacted>&pin"), ("token=a=b", "token=<redacted>"),
            ("token=", "token=<redacted>"),
            ("&&a=1&", "&&a=1&"), ("tokens=1", "tokens=1"), ("grant_type=password", "grant_type=password"),
        ]
    )
    func form(_ body: String, _ shown: String) async {
        let type = "application/x-www-form-urlencoded; charset=utf-8"
        #expect(await LoggedLines().responseBody(Data(body.utf8), type: type) == [shown])
        #expect(await LoggedLines().responseBody(Data(body.utf8), type: nil) == [shown])
    }

    @Test("JSON that is sent as a form is redacted as JSON")
    func mislabelled() async {
        let lines = await LoggedLines().responseBody(
            Data(#" {"token":"x"}"#.utf8),
            type: "application/x-www-form-urlencoded"
        )
        #expect(lines == [#" {"token":"<redacted>"}"#])
    }

    @Test("With redaction off, everything is shown")
    func unredacted() async {
        let lines = LoggedLines(redaction: .none)
        #expect(await lines.responseBody(Data(#"{"token":"x"}"#.utf8), type: nil) == [#"{"token":"x"}"#])
        #expect(await lines.responseBody(Data("token=x".utf8), type: nil) == ["token=x"])
    }

    @Test(
        "What is no text is summed up",
        arguments: [
            (Data([0x89, 0x50, 0x4E, 0x47]), "image/png", "<4 bytes, image/png>"),
            (Data([0xFF, 0xFE]), "Text/Plain; charset=utf-16", "<2 bytes, text/plain>"),
            (Data("a\u{1B}[2J".utf8), nil, "<5 bytes>"), (Data("a\u{0}b".utf8), "text/plain", "<3 bytes, text/plain>"),
            (Data("--b\r\n".utf8), "multipart/form-data; boundary=b", "<5 bytes, multipart/form-data>"),
            (
                Data([0x61, 0x3D, 0xFF]), "application/x-www-form-urlencoded",
                "<3 bytes, application/x-www-form-urlencoded>"
            ),
        ] as [(Data, String?, String)]
    )
    func binary(_ body: Data, _ type: String?, _ shown: String) async {
        #expect(await LoggedLines().responseBody(body, type: type) == [shown])
    }

    @Test("An empty body is no line")
    func empty() async {
        #expect(await LoggedLines().responseBody(Data(), type: "application/json") == [])
    }

    @Test("A body of several lines is several lines, each with the call's number")
    func lines() async {
        let answer = SampleResponse.response(status: 200, data: Data("{\n  \"token\": 1\r\n}\n".utf8))
        let lines = await LoggedLines()([.responseBody], PluginTarget(), answer: answer)
        #expect(lines == ["[.0]   {", #"[.0]     "token": "<redacted>""#, "[.0]   }", "[.0]   "])
    }

    @Test(
        "A body over the limit is cut between characters, and its size is said",
        arguments: [
            (0, "… <8 bytes>"), (1, "a… <8 bytes>"), (2, "a… <8 bytes>"), (3, "aé… <8 bytes>"), (4, "aé… <8 bytes>"),
            (6, "aé… <8 bytes>"), (7, "aé😀… <8 bytes>"), (8, "aé😀z"), (9, "aé😀z"),
        ]
    )
    func limit(_ limit: Int, _ shown: String) async {
        for redaction in [Redaction(), .none] {
            let lines = LoggedLines(redaction: redaction, bodyLimit: limit)
            #expect(await lines.responseBody(Data("aé😀z".utf8), type: "text/html") == [shown])
            #expect(
                await lines.responseBody(Data("aé😀z".utf8), type: "application/x-www-form-urlencoded") == [shown]
            )
        }
    }
}
