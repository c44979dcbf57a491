// SPDX-License-Identifier: MIT
import Fixtures
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

@Suite("CassetteTransport: HTTP Archives", .throttled, .timeLimit(.minutes(2)))
struct HARTests {
    private let folder: TemporaryFolder
    private let base = URL(string: "https://shop.example/v1") ?? URL(fileURLWithPath: "/")
    private let page = TestCall(path: "/products?page=1")
    private let order = TestCall(
        path: "/orders",
        method: "POST",
        body: .data(Data(#"{"product": 1, "count": 2}"#.utf8))
    )
    private static let tools = ["chrome", "firefox", "safari", "charles", "proxyman", "mitmproxy", "fiddler"]

    init() throws {
        folder = try TemporaryFolder()
    }

    private func send(_ call: TestCall, _ transport: some Transport) async throws -> TransportResponse {
        try await transport.send(call.request(to: base))
    }

    private func file(of tool: String) throws -> URL {
        try Fixture(shared: "traffic-\(tool).har").url()
    }

    /// A transport for an archive with entries.
    private func archive(_ entries: String..., creator: String = "Tool") throws -> CassetteTransport {
        let text =
            #"{"log":{"version":"1.2","creator":{"name":"\#(creator)"},"entries":[\#(entries.joined(separator: ","))]}}"#
        return CassetteTransport(har: try folder.file("traffic.har", Data(text.utf8)))
    }

    private func entry(
        _ url: String = "https://shop.example/v1/",
        request: String = "",
        status: String = "200",
        headers: String = "[]",
        content: String = #"{"size":2,"text":"{}"}"#
    ) -> String {
        #"{"request":{"method":"GET","url":"\#(url)"\#(request)},"#
            + #""response":{"status":\#(status),"headers":\#(headers),"content":\#(content)}}"#
    }

    private func failure(_ call: TestCall, _ transport: CassetteTransport) async -> String {
        let error = await #expect(throws: CassetteError.self) { try await send(call, transport) }
        return error?.description ?? ""
    }

    @Test("The archives of browsers and proxies are replayed", arguments: tools)
    func archives(of tool: String) async throws {
        let transport = CassetteTransport(har: try file(of: tool))
        let first = try await send(page, transport)
        #expect(first.text == #"[{"id":1,"name":"Sencha"}]"#)
        #expect(first.head.headers.dictionary["Content-Encoding"] == nil)
        #expect(first.head.headers[.contentLength].map { $0 == "26" } ?? true)
        #expect(["HTTP/2", "HTTP/1.1"].contains(first.head.httpVersion))
        let image = try await send(TestCall(path: "/logo.png"), transport)
        #expect(image.text.utf8.count > 0)
        guard case .data(let bytes) = image.body else { return }
        #expect(bytes.prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
        #expect(try await send(order, transport).head.statusCode == 201)
        #expect(try await send(page, transport).text.contains("Gyokuro"))
        let used = try transport.unusedEntries.map(\.url)
        #expect(used == ["https://shop.example/v1/terms"])
        let missing = await failure(TestCall(path: "/terms"), transport)
        #expect(missing.contains("(GET https://shop.example/v1/terms): "), "\(missing)")
        #expect(missing.hasSuffix("save the archive with complete bodies, or delete the entry"), "\(missing)")
    }

    @Test("A request body that differs has no entry, and one that the archive lacks isn't compared")
    func bodies() async throws {
        let transport = CassetteTransport(har: try file(of: "chrome"))
        let other = TestCall(path: "/orders", method: "POST", body: .data(Data(#"{"product":1,"count":3}"#.utf8)))
        #expect(await failure(other, transport).contains("count: expected 2, found 3"))
        let unknown = try archive(entry(request: #","bodySize":17"#))
        #expect(try await send(TestCall(body: .data(Data("text".utf8))), unknown).text == "{}")
    }

    @Test("A form without text is compared by its parameters")
    func forms() async throws {
        let parameters = #"[{"name":"q","value":"green tea"},{"name":"a%5B%5D","value":"%C3%A9"}]"#
        let type = #""mimeType":"application/x-www-form-urlencoded; charset=utf-8""#
        let transport = try archive(entry(request: #","postData":{\#(type),"params":\#(parameters)}"#))
        let headers = ["Content-Type": "application/x-www-form-urlencoded"]
        let call = TestCall(headers: headers, body: .data(Data("q=green+tea&a%5B%5D=%C3%A9".utf8)))
        #expect(try await send(call, transport).text == "{}")
    }

    @Test("Cookies that are joined by a line break are two fields, and pseudo-header fields are none")
    func fields() async throws {
        let response = try await send(page, CassetteTransport(har: try file(of: "chrome")))
        #expect(response.head.headers.values(for: .setCookie) == ["a=1; Path=/", "b=2; Path=/"])
        let transport = try archive(
            entry(headers: #"[{"name":":status","value":"200"},{"name":"ETag","value":""}]"#)
        )
        #expect(try await send(TestCall(), transport).head.headers.map(\.name.rawValue) == ["ETag"])
    }

    @Test("Text is in UTF-8, and its type says so")
    func charset() async throws {
        let headers = #"[{"name":"Content-Type","value":"text/plain; charset=\"GBK\"; x=1"}]"#
        let response = try await send(
            TestCall(),
            archive(entry(headers: headers, content: #"{"size":4,"text":"绿茶"}"#))
        )
        #expect(response.text == "绿茶")
        #expect(response.head.headers[.contentType]?.contains("GBK") == false)
        #expect(response.head.headers[.contentType]?.hasSuffix("x=1") == true)
    }

    @Test(
        "A redirect needs no body, and its location can be the entry's redirectURL",
        arguments: [
            (#"[{"name":"Location","value":"/v1/products"}]"#, #""redirectURL":"""#),
            ("[]", #""redirectURL":"https://shop.example/v1/products""#),
        ]
    )
    func redirect(headers: String, url: String) async throws {
        let content = #"{"size":154,"mimeType":"text/html"},\#(url)"#
        let transport = try archive(entry(status: "302", headers: headers, content: content))
        let response = try await send(TestCall(), transport)
        #expect(response.head.statusCode == 302 && response.text.isEmpty)
        #expect(response.head.headers[.location]?.hasSuffix("/v1/products") == true)
    }

    @Test("What a browser's cache answered after a 304 is a 200, because the app's request has no condition")
    func notModified() async throws {
        let transport = try archive(
            entry(status: "304"),
            entry("https://shop.example/v1/a", status: "304", content: #"{"size":0,"text":""}"#)
        )
        let response = try await send(TestCall(), transport)
        #expect(response.head.statusCode == 200 && response.text == "{}")
        #expect(try await send(TestCall(path: "/a"), transport).head.statusCode == 304)
    }

    @Test(
        "A body that is still compressed is decoded",
        arguments: [
            ("gzip", "H4sIAAAAAAACA6tWSlSyUipJTVSqBQDTsqmLCwAAAA=="), ("deflate", "eJyrVkpUslIqSU1UqgUAEz8DVg=="),
            ("deflate", "q1ZKVLJSKklNVKoFAA=="),
        ]
    )
    func compressed(coding: String, text: String) async throws {
        let headers = #"[{"name":"Content-Encoding","value":"\#(coding)"}]"#
        let content = #"{"size":9,"encoding":"base64","text":"\#(text)"}"#
        let response = try await send(TestCall(), try archive(entry(headers: headers, content: content)))
        #expect(response.text == #"{"a":"tea"}"#)
        #expect(response.head.headers["Content-Encoding"] == nil)
    }

    #if os(Linux)
    @Test("A body of several gzip members is decoded")
    func members() async throws {
        let headers = #"[{"name":"Content-Encoding","value":"gzip"}]"#
        let text = "H4sIAAAAAAACA6tWSlSyAgDzf7BqBQAAAB+LCAAAAAAAAgNTKklNVKoFABauHzsGAAAA"
        let content = #"{"size":9,"encoding":"base64","text":"\#(text)"}"#
        #expect(try await send(TestCall(), archive(entry(headers: headers, content: content))).text == #"{"a":"tea"}"#)
    }
    #endif

    @Test("Half a character of JavaScript is replaced, and a whole one is kept")
    func surrogates() async throws {
        let response = try await send(TestCall(), archive(entry(content: #"{"text":"\\ud83c a\ud83c \ud83c\udf75"}"#)))
        #expect(response.text == "\\ud83c a\u{FFFD} 🍵")
    }

    @Test("The error of a request whose only entry was cancelled names the entry")
    func withoutResponse() async throws {
        let transport = try archive(entry(status: "0"), entry("https://shop.example/v1/a"))
        let message = await failure(TestCall(), transport)
        #expect(message.hasSuffix("with a response; 001-GET-v1 was blocked, cancelled, or failed"), "\(message)")
        #expect(try transport.entries.map(\.name) == ["002-GET-v1-a"])
    }

    @Test(
        "A malformed entry fails its call only, which names its number, its field and a remedy",
        arguments: [
            (
                #""method":"GET","url":"https://shop.example/v1/a"},"response":{"status":"x"}"#,
                "entry 2 (GET https://shop.example/v1/a): response.status isn't a status code; correct it, or delete"
            ),
            (#""method":"GET","url":"https://shop.example/v1/a"},"response":{"status":null}"#, "response.status isn't"),
            (
                #""method":"GET","url":"https://shop.example/v1/a","headers":{}},"response":{"status":200}"#,
                "request.headers isn't an array"
            ),
            (
                #""method":"GET","url":"https://shop.example/v1/a"},"response":{"status":200,"headers":[1]}"#,
                "response.headers.0 has no name and value"
            ),
            (#""method":"GET","url":"https://shop.example/v1/a?token=s3cr3t"},"response":{"status":"x"}"#, "token="),
        ]
    )
    func malformedEntries(_ text: String, _ problem: String) async throws {
        let transport = try archive(entry(), #"{"request":{\#(text)}"#)
        #expect(try await send(TestCall(), transport).text == "{}")
        let message = await failure(TestCall(path: problem == "token=" ? "/a?token=b" : "/a"), transport)
        #expect(message.hasPrefix(folder.url.appendingPathComponent("traffic.har").path + ": entry 2"), "\(message)")
        #expect(message.contains(problem), "\(message)")
        #expect(!message.contains("s3cr3t"))
        #expect(try transport.unusedEntries.map(\.name).first?.hasPrefix("002-GET-v1-a") == true)
    }

    @Test(
        "Entries without a method or a URL are named by the error of a call without an entry",
        arguments: [
            (
                #"{"request":{"url":"https://a.example/"}}"#,
                "entry 2 (https://a.example/): request.method isn't a string"
            ),
            (#"{"request":{"method":"GET"}}"#, "entry 2 (GET): request.url isn't a string; correct it, or delete"),
            ("null", "entry 2: request.method isn't a string"),
        ]
    )
    func unreadableEntries(_ text: String, _ problem: String) async throws {
        let transport = try archive(entry(), text, text, text, text)
        #expect(try transport.entries.map(\.name) == ["001-GET-v1"])
        #expect(try await send(TestCall(), transport).text == "{}")
        let message = await failure(TestCall(path: "/a"), transport)
        #expect(message.contains("has no entry for GET https://shop.example/v1/a"), "\(message)")
        #expect(message.contains(problem) && message.contains(": entry 4") && !message.contains(": entry 5"))
        #expect(message.hasSuffix("  and 1 more"), "\(message)")
        let target = folder.url.appendingPathComponent("shop")
        let result = try CassetteTransport.convert(har: folder.url.appendingPathComponent("traffic.har"), to: target)
        #expect(result.entries.map(\.url) == ["https://shop.example/v1/"])
        #expect(result.remarks.count == 4 && result.remarks[0].contains(problem))
    }

    @Test(
        "A body that cannot be decoded fails its call only",
        arguments: [
            (#"{"size":3,"text":"a b!","encoding":"base64"}"#, "response.content.text isn't valid Base64"),
            (#"{"size":3,"text":"a","encoding":"gzip"}"#, "response.content.encoding is \"gzip\", but only base64"),
            (#"{"size":9}"#, "response.content.text is missing, although 9 bytes were received"),
            (
                #"{"size":-1,"comment":"The body is a stream."}"#,
                "isn't complete in the archive (The body is a stream.)"
            ),
            (#"{"text":"H4sIAA==","encoding":"base64"}"#, "is still compressed; save the archive with decoded bodies"),
        ]
    )
    func undecodableBodies(_ content: String, _ problem: String) async throws {
        let headers = #"[{"name":"content-encoding","value":"gzip"}]"#
        let transport = try archive(
            entry(headers: headers, content: content),
            entry("https://shop.example/v1/a", status: "204", content: #"{"size":9}"#)
        )
        let message = await failure(TestCall(), transport)
        #expect(message.contains("entry 1 (GET https://shop.example/v1/): "), "\(message)")
        #expect(message.contains(problem), "\(message)")
        #expect(try await send(TestCall(path: "/a"), transport).text.isEmpty)
    }

    @Test(
        "A file that is no archive is named",
        arguments: [
            ("{", "isn't valid JSON: "), ("[]", "it has no array log.entries"), (#"{"log":{}}"#, "log.entries"),
        ]
    )
    func otherFiles(_ text: String, _ problem: String) async throws {
        let file = try folder.file("traffic.har", Data(text.utf8))
        let message = await failure(TestCall(), CassetteTransport(har: file))
        #expect(message.hasPrefix(file.path) && message.contains(problem), "\(message)")
    }

    @Test("A missing file is named, and an archive stays as it is when an entry is to be recorded again")
    func unchanged() async throws {
        let none = folder.url.appendingPathComponent("none.har")
        #expect(await failure(TestCall(), CassetteTransport(har: none)) == "\(none.path) doesn't exist")
        let transport = try archive(entry())
        transport.rerecord(try #require(try transport.entries.first))
        #expect(try await send(TestCall(), transport).text == "{}")
        #expect(folder.names == ["traffic.har"])
    }

    @Test("Secrets in an archive compare as equal")
    func secrets() async throws {
        let transport = try archive(entry("https://user:pw@shop.example/v1/?token=a#top"))
        #expect(try await send(TestCall(path: "/?token=b"), transport).text == "{}")
    }

    // MARK: - Conversion

    @Test("A cassette of an archive replays it without its secrets", arguments: tools)
    func conversion(of tool: String) async throws {
        let target = folder.url.appendingPathComponent("shop")
        let result = try CassetteTransport.convert(har: try file(of: tool), to: target) { $0.url.contains("/v1/") }
        #expect(result.entries.count == 4)
        #expect(
            result.remarks.contains {
                $0.contains("/terms) was omitted: response.content.text is missing") || $0.contains("not included")
            }
        )
        for name in try FileManager.default.contentsOfDirectory(atPath: target.path) {
            let data = try Data(contentsOf: target.appendingPathComponent(name))
            #expect(data.range(of: Data("s3cr3t".utf8)) == nil, "\(name)")
        }
        let cassette = CassetteTransport(.replay, folder: target)
        #expect(try await send(page, cassette).text == #"[{"id":1,"name":"Sencha"}]"#)
        #expect(try await send(order, cassette).text == #"{"number":1001}"#)
        #expect(try await send(page, cassette).text.contains("Gyokuro"))
        #expect(try cassette.unusedEntries.map(\.url) == ["https://shop.example/v1/logo.png"])
    }

    @Test("A folder with a cassette isn't converted into, and an omitted entry is a remark")
    func conversionProblems() throws {
        let target = folder.url.appendingPathComponent("shop")
        let file = try file(of: "mitmproxy")
        let result = try CassetteTransport.convert(har: file, to: target) { $0.url.hasSuffix("/blocked") }
        #expect(result.entries.isEmpty)
        #expect(
            result.remarks == [
                "005-GET-v1-blocked (GET https://shop.example/v1/blocked) was omitted: it was blocked, cancelled, or failed"
            ]
        )
        _ = try CassetteTransport.convert(har: file, to: target) { $0.url.hasSuffix("/orders") }
        let error = #expect(throws: CassetteError.self) { try CassetteTransport.convert(har: file, to: target) }
        #expect(
            error?.description.hasSuffix(
                "shop has a cassette, for example 001-POST-v1-orders.json; use an empty folder"
            ) == true
        )
    }
}
