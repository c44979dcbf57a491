// SPDX-License-Identifier: MIT
#if os(Linux) || os(macOS)
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("curl form of a request", .throttled, .timeLimit(.minutes(2)))
struct CurlCommandTests {
    private func command(_ target: PluginTarget, _ lines: LoggedLines = LoggedLines()) async throws -> String {
        let all = await lines([.curl, .request, .requestHeaders, .requestBody], target)
        #expect(all.count == 1)
        return String(try #require(all.first).dropFirst("[.0] → ".count))
    }

    /// The arguments that a shell hands to curl.
    private func words(_ command: String) throws -> [String] {
        let script = "curl() { printf '%s\\0' \"$@\"; }\n" + command
        let (status, data, _) = try ChildProcess.run("/bin/sh", ["-c", script])
        #expect(status == 0)
        return data.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A GET is its URL")
    func get() async throws {
        #expect(try await command(PluginTarget()) == "curl 'https://shop.example/api/things'")
    }

    @Test("Method, header fields sorted by name, and body are named")
    func post() async throws {
        let target = PluginTarget(method: .post, task: .json(["a": 1]), headers: ["X-B": "2", "Accept": "text/plain"])
        #expect(
            try await command(target)
                == "curl -X 'POST' 'https://shop.example/api/things' -H 'Accept: text/plain' "
                + "-H 'Content-Type: application/json' -H 'X-B: 2' --data-raw '{\"a\":1}'"
        )
    }

    @Test("A HEAD does not wait for a body")
    func head() async throws {
        #expect(try await command(PluginTarget(method: .head)) == "curl --head 'https://shop.example/api/things'")
    }

    @Test(
        "A shell hands every body and field to curl as it is",
        arguments: [
            "it's", "''", "$HOME `id` \\ \"x\"", "a\nb", "! # ~ * ? [a] {b,c} | & ; < > ( )", "é😀", "-n", "@file",
            "%00",
        ]
    )
    func quoting(_ text: String) async throws {
        let field = text.replacing("\n", with: " ")
        let target = PluginTarget(
            method: "P'ST",
            task: .data(Data(text.utf8), contentType: "text/html"),
            headers: ["X-Text": field]
        )
        let words = try words(try await command(target))
        #expect(
            words == [
                "-X", "P'ST", "https://shop.example/api/things", "-H", "Content-Type: text/html", "-H",
                "X-Text: \(field)",
                "--data-raw", text,
            ]
        )
    }

    @Test("Brackets of a URL are no pattern, and an empty field is sent")
    func special() async throws {
        let url = try #require(URL(string: "https://[::1]:8080/a"))
        let target = PluginTarget(baseURL: url, path: "", headers: ["X-Empty": ""])
        let words = try words(try await command(target))
        #expect(words == ["--globoff", "https://[::1]:8080/a", "-H", "X-Empty;"])
    }

    @Test("curl does not name a type that the request does not name")
    func untyped() async throws {
        let words = try words(try await command(PluginTarget(method: .put, task: .data(Data("x".utf8)))))
        #expect(words == ["-X", "PUT", "https://shop.example/api/things", "-H", "Content-Type:", "--data-raw", "x"])
    }

    @Test(
        "A body that is binary or over the limit is a file to be put in by hand",
        arguments: [Data([0, 1]), Data("abcdef".utf8)]
    )
    func elsewhere(_ body: Data) async throws {
        let target = PluginTarget(method: .post, task: .data(body, contentType: "text/plain"))
        let words = try words(try await command(target, LoggedLines(bodyLimit: 5)))
        #expect(words.suffix(2) == ["--data-binary", "@body"])
    }

    @Test(
        "A request without a body has none in the command, even with a Content-Type",
        arguments: ["DELETE", "POST", "OPTIONS", "PURGE"]
    )
    func bodiless(_ method: String) async throws {
        let target = PluginTarget(
            method: HTTPMethod(rawValue: method),
            headers: ["Content-Type": "application/json"]
        )
        let words = try words(try await command(target))
        #expect(words == ["-X", method, "https://shop.example/api/things", "-H", "Content-Type: application/json"])
        #expect(await LoggedLines()([.requestBody], target) == [])
    }

    @Test("A streamed body is a placeholder for a file, for any method")
    func readAsItIsSent() async throws {
        let target = PluginTarget(method: .delete, task: .upload(file: URL(filePath: #filePath)))
        let words = try words(try await command(target))
        #expect(words.suffix(2) == ["--data-binary", "@body"])
        let lines = await LoggedLines()([.requestBody], target)
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix("read as it is sent>") == true)
    }

    @Test("The command has the store's cookies, redacted")
    func cookies() async throws {
        let store = CookieStore()
        store.store(["sid=hunter2; Path=/", "lang=en; Path=/"], from: .shop)
        for redaction in [Redaction(), .none] {
            let lines = Recorder<String>()
            let logger = NetworkLoggerPlugin(level: .curl, redaction: redaction) { lines.append($0) }
            let transport = StubTransport(.response(status: 200, data: Data()))
            let provider = Provider<PluginTarget>(transport: transport, plugins: [logger, CookiePlugin(store)])
            _ = try await provider.request(PluginTarget())
            let command = String(try #require(lines.elements.first).drop { $0 != "c" })
            let value = redaction == .none ? "sid=hunter2; lang=en" : "<redacted>"
            #expect(try words(command) == ["https://shop.example/api/things", "-H", "Cookie: \(value)"])
        }
    }

    @Test("Secrets are left out everywhere")
    func secrets() async throws {
        let url = try #require(URL(string: "https://a:hunter2@shop.example/?token=hunter2"))
        let target = PluginTarget(
            baseURL: url,
            path: "",
            method: .post,
            task: .json(["password": "hunter2"]),
            headers: ["Authorization": "Bearer hunter2"]
        )
        let command = try await command(target)
        #expect(!command.contains("hunter2"))
        #expect(command.count { $0 == "<" } == 4)
    }
}
#endif
