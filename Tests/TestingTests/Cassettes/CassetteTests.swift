// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("CassetteTransport", .throttled, .timeLimit(.minutes(2)))
struct CassetteTests {
    let folder: TemporaryFolder
    let base = URL(string: "https://shop.example") ?? URL(fileURLWithPath: "/")

    init() throws {
        folder = try TemporaryFolder()
    }

    func cassette(
        _ mode: CassetteTransport.Mode,
        _ recording: any Transport = StubTransport { _ in throw URLError(.badServerResponse) },
        matching parts: [RequestPart] = [.method, .url, .query, .body],
        repeats: Bool = false
    ) -> CassetteTransport {
        CassetteTransport(mode, folder: folder.url, recording: recording, matching: parts, repeats: repeats)
    }

    func send(_ call: TestCall, _ transport: some Transport) async throws -> TransportResponse {
        try await transport.send(call.request(to: base))
    }

    /// Answers with the number of the request.
    func counting() -> StubTransport {
        let count = Tally()
        return StubTransport { _ in
            count.add()
            return .response(
                status: 200,
                headers: ["Content-Type": "application/json"],
                data: Data("\(count.value)".utf8)
            )
        }
    }

    /// The names of the files, sorted, without the digests of bodies.
    var names: [String] {
        folder.names.map { name in
            let parts = name.split(separator: ".", maxSplits: 1)
            guard parts.count == 2, let hyphen = parts[1].firstIndex(of: "-"),
                let dot = parts[1].lastIndex(of: ".")
            else { return name }
            return "\(parts[0]).\(parts[1][..<hyphen])\(parts[1][dot...])"
        }
        .sorted()
    }

    /// The contents of a body, by its name without the digest.
    func body(_ name: String) throws -> Data? {
        let start = name.prefix { $0 != "." } + ".response"
        return try contents().first { $0.key.hasPrefix(start) }?.value
    }

    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in folder.names { contents[name] = try Data(contentsOf: folder.url.appendingPathComponent(name)) }
        return contents
    }

    /// A request that differs from others in its signature alone.
    private func signed(_ number: Int, body: String, type: String) -> TestCall {
        TestCall(
            path: "/orders?q=tea&timestamp=\(number)&sign=s\(number)",
            method: "POST",
            headers: ["X-Request-Id": "\(number)", "Content-Type": type],
            body: .data(Data(body.replacing("#", with: "\(number)").utf8))
        )
    }

    @Test(
        "Named query items, header fields, and fields of forms and JSON bodies aren't compared",
        arguments: [
            (##"{"a":1,"sign_v":"#","list":[{"timeStamp":#}]}"##, "application/json"),
            ("a=1&timestamp=#&sign_v=#", "application/x-www-form-urlencoded"), ("", "text/plain"),
        ]
    )
    func ignored(body: String, type: String) async throws {
        func cassette(_ mode: CassetteTransport.Mode, _ ignored: Set<String>) -> CassetteTransport {
            CassetteTransport(
                mode,
                folder: folder.url,
                recording: counting(),
                matching: [.method, .url, .query, .body, .headers],
                ignoring: ignored
            )
        }
        let names: Set<String> = ["timestamp", "X-Request-ID", "signV"]
        _ = try await send(signed(1, body: body, type: type), cassette(.record, names))
        let replayed = try await send(signed(2, body: body, type: type), cassette(.replay, names))
        #expect(replayed.text == "1")
        await #expect(throws: (any Error).self) {
            try await send(signed(3, body: body, type: type), cassette(.replay, []))
        }
        let other = signed(4, body: body, type: type + "; charset=utf-8")
        await #expect(throws: (any Error).self) { try await send(other, cassette(.replay, names)) }
    }

    @Test("Names that are added are found in each part of a form, within brackets too", arguments: [true, false])
    func addedNames(isMultipart: Bool) async throws {
        var redaction = Redaction()
        redaction.secretFields = ["iban", "user.address"]
        let fields = [("account[iban]", "DE89"), ("user[address][0]", "Mill"), ("user[name]", "Anna")]
        let data =
            isMultipart
            ? try MultipartForm(parts: fields.map { .text($0.1, name: $0.0) }, boundary: "x").data()
            : Data(fields.map { "\($0.0)=\($0.1)" }.joined(separator: "&").utf8)
        let type = isMultipart ? "multipart/form-data; boundary=x" : "application/x-www-form-urlencoded"
        let call = TestCall(method: "POST", headers: ["Content-Type": type], body: .data(data))
        _ = try await send(
            call,
            CassetteTransport(.record, folder: folder.url, recording: counting(), redaction: redaction)
        )
        let text = try contents().values.map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(text.contains("Anna"))
        #expect(!text.contains("DE89") && !text.contains("Mill"))
    }

    @Test("What a server answered is replayed byte for byte when the server has stopped")
    func replay() async throws {
        let binary = Data((0..<2_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let server = try TestServer { request in
            switch request.path {
            case "/json": .json(#"{ "a" : [1,2.50,"é"] }"#, headers: ["X-Two": "1", "X-Three": "a, b"])
            case "/binary": TestServer.Response(headers: ["Content-Type": "image/png"], body: binary)
            case "/empty": .status(204)
            case "/missing": .text("not here", status: 404)
            default: .text("echo " + request.text)
            }
        }
        let recording = CassetteTransport(.record, folder: folder.url, recording: SystemTransport.another())
        let calls = [
            TestCall(path: "/json?q=tea"), TestCall(path: "/binary"), TestCall(path: "/empty"),
            TestCall(path: "/missing"),
            TestCall(path: "/echo", method: "POST", body: .data(Data("hello".utf8))),
        ]
        var originals: [TransportResponse] = []
        for call in calls { originals.append(try await recording.send(call.request(to: server.baseURL))) }
        server.stop()
        #expect(
            names == [
                "001-GET-json.json", "001-GET-json.response.json", "002-GET-binary.json", "002-GET-binary.response.png",
                "003-GET-empty.json", "004-GET-missing.json", "004-GET-missing.response.txt", "005-POST-echo.json",
                "005-POST-echo.request.txt", "005-POST-echo.response.txt",
            ]
        )
        let before = try contents()
        #expect(try body("001-GET-json") == Data(#"{ "a" : [1,2.50,"é"] }"#.utf8))
        let replaying = cassette(.replay)
        for (call, original) in zip(calls, originals) {
            let replayed = try await replaying.send(call.request(to: server.baseURL))
            #expect(replayed.head.statusCode == original.head.statusCode)
            #expect(replayed.head.httpVersion == original.head.httpVersion)
            #expect(replayed.head.headers.fields == original.head.headers.fields)
            #expect(replayed.bytes == original.bytes)
            #expect(replayed.metrics == nil)
        }
        #expect(try replaying.unusedEntries.isEmpty)
        #expect(try contents() == before)
    }

    @Test("A changed request fails with a difference that names the key")
    func changedRequest() async throws {
        let recording = cassette(.record, counting())
        func call(_ count: Int, _ query: String = "q=tea") -> TestCall {
            let body = Data(#"{"items":[{"id":1,"count":\#(count)}],"token":"pw-1"}"#.utf8)
            return TestCall(path: "/orders?\(query)", method: "POST", body: .data(body))
        }
        _ = try await send(TestCall(path: "/other"), recording)
        _ = try await send(call(2), recording)
        let replaying = cassette(.replay)
        let error = await #expect(throws: CassetteError.self) { try await send(call(3, "q=coffee"), replaying) }
        #expect(
            error?.description == """
                the cassette \(folder.url.path) has no entry for POST https://shop.example/orders?q=coffee; \
                the closest is 002-POST-orders:
                  query q: expected "tea", found "coffee"
                  body items.0.count: expected 2, found 3
                """
        )
        #expect(replaying.missingRequests == ["POST https://shop.example/orders?q=coffee"])
        #expect(try replaying.unusedEntries.map(\.name) == ["001-GET-other", "002-POST-orders"])
        let forms = try #require(error)
        #expect(TextualForms(of: forms).forms(holding: "pw-1").isEmpty)
        // Through a provider, the text is in the error of the call.
        let provider = Provider<TeaShop>(transport: replaying)
        let failure = await #expect(throws: TargetKitError.self) { try await provider.request(.order(count: 1)) }
        #expect(failure?.description.contains("the closest is") == true)
    }

    @Test("Identical requests are replayed in the order in which they were recorded, each entry once")
    func order() async throws {
        let recording = cassette(.record, counting())
        for _ in 0..<3 { _ = try await send(TestCall(), recording) }
        let replaying = cassette(.replay)
        for number in 1...3 { #expect(try await send(TestCall(), replaying).text == "\(number)") }
        let error = await #expect(throws: CassetteError.self) { try await send(TestCall(), replaying) }
        #expect(error?.description.hasSuffix("all matching entries have been used; the last is 001-GET") == true)
        let repeating = cassette(.replay, repeats: true)
        for number in [1, 2, 3, 3, 3] { #expect(try await send(TestCall(), repeating).text == "\(number)") }
    }

    @Test("Parallel calls are numbered in the order of their requests, not of their responses")
    func parallel() async throws {
        let gates = ["/a": Gate(), "/b": Gate(), "/c": Gate(), "/d": Gate()]
        let begun = Recorder<String>()
        let recording = cassette(
            .record,
            StubTransport { request in
                let path = request.urlRequest.url?.path() ?? ""
                begun.append(path)
                await gates[path]?.wait()
                if path == "/c" { throw CancellationError() }
                return .response(status: 200, data: Data())
            }
        )
        var calls: [String: Task<TransportResponse, any Error>] = [:]
        for (number, path) in ["/a", "/b", "/c", "/d"].enumerated() {
            calls[path] = Task { try await send(TestCall(path: path), recording) }
            await begun.waitForCount(number + 1)
        }
        for path in ["/d", "/c", "/b", "/a"] {
            gates[path]?.open()
            _ = try? await calls[path]?.value
        }
        #expect(names == ["001-GET-a.json", "002-GET-b.json", "004-GET-d.json"])
        #expect(try recording.entries.map(\.name) == ["001-GET-a", "002-GET-b", "004-GET-d"])
        _ = try? await send(TestCall(path: "/e"), recording)
        #expect(names.contains("003-GET-e.json"))
    }

    @Test("The declared parts of a request are compared, values instead of spellings")
    func matching() async throws {
        let json = Data(#"{"a":1,"b":[true]}"#.utf8)
        let same = Data(#"{ "b" : [ true ], "a" : 1.0 }"#.utf8)
        let recorded = TestCall(path: "/a?x=1&y=%32", method: "PUT", headers: ["X-A": "1"], body: .data(json))
        _ = try await send(recorded, cassette(.record, counting()))
        let equal = TestCall(path: "/a?y=2&x=1", method: "PUT", body: .data(same))
        _ = try await send(equal, cassette(.replay))
        let other = TestCall(path: "/a?x=2", method: "PUT", headers: ["X-A": "1"])
        _ = try await send(other, cassette(.replay, matching: [.method, .url, .header("x-a")]))
        await #expect(throws: CassetteError.self) {
            try await send(equal, cassette(.replay, matching: [.header("X-A")]))
        }
        let elsewhere = try other.request(to: try #require(URL(string: "http://localhost:1")))
        _ = try await cassette(.replay, matching: [.path]).send(elsewhere)
        let error = await #expect(throws: CassetteError.self) {
            try await send(TestCall(path: "/b"), cassette(.replay, matching: [.path]))
        }
        #expect(error?.description.hasSuffix("\n  path: expected /a, found /b") == true)
    }

    @Test("Auto records what is missing; a deleted document and an entry that is named are recorded again")
    func auto() async throws {
        let transport = counting()
        for (path, text) in [("/a", "1"), ("/b", "2"), ("/a", "1"), ("/b", "2")] {
            #expect(try await send(TestCall(path: path), cassette(.auto, transport)).text == text)
        }
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("001-GET-a.json"))
        #expect(try await send(TestCall(path: "/a"), cassette(.auto, transport)).text == "3")
        #expect(try await send(TestCall(path: "/a"), cassette(.replay)).text == "3")
        let again = cassette(.replay, transport)
        again.rerecord(try #require(try again.entries.last))
        #expect(try await send(TestCall(path: "/b"), again).text == "4")
        await #expect(throws: CassetteError.self) { try await send(TestCall(path: "/b"), again) }
        #expect(try await send(TestCall(path: "/b"), cassette(.replay)).text == "4")
        #expect(try cassette(.replay).entries.map(\.name) == ["001-GET-a", "002-GET-b"])
        #expect("\(try cassette(.replay).entries[0])" == "001-GET-a: GET https://shop.example/a → 200")
    }

    @Test("Recording again replaces the entries that match, in order")
    func recordAgain() async throws {
        let first = cassette(.record, counting())
        for path in ["/a", "/a", "/b"] { _ = try await send(TestCall(path: path), first) }
        let text = StubTransport(.response(status: 201, headers: ["Content-Type": "text/plain"], data: Data("x".utf8)))
        let second = cassette(.record, text)
        for path in ["/a", "/a", "/c"] { _ = try await send(TestCall(path: path), second) }
        #expect(try second.unusedEntries.map(\.name) == ["003-GET-b"])
        #expect(
            names == [
                "001-GET-a.json", "001-GET-a.response.txt", "002-GET-a.json", "002-GET-a.response.txt",
                "003-GET-b.json", "003-GET-b.response.json", "004-GET-c.json", "004-GET-c.response.txt",
            ]
        )
    }

    @Test("Failures of the network are recorded; cancelled calls and errors of this device leave nothing")
    func failures() async throws {
        let failing = cassette(.record, StubTransport(.failure(URLError(.timedOut))))
        await #expect(throws: URLError(.timedOut)) { try await send(TestCall(), failing) }
        await #expect(throws: URLError(.timedOut)) { try await send(TestCall(), cassette(.replay)) }
        #expect(try cassette(.replay).entries.map(\.statusCode) == [nil])
        struct Failure: Error {}
        for error in [URLError(.cancelled), URLError(.fileDoesNotExist), CancellationError(), Failure()] as [any Error]
        {
            let transport = cassette(.record, StubTransport { _ in throw error })
            await #expect(throws: (any Error).self) { try await send(TestCall(path: "/b"), transport) }
        }
        #expect(folder.names == ["001-GET.json"])
        let gate = Gate()
        let waiting = cassette(
            .record,
            StubTransport { _ in
                try await gate.waitUnlessCancelled()
                return .response(status: 200, data: Data())
            }
        )
        let request = try TestCall(path: "/b").request(to: base)
        let task = Task { try await waiting.send(request) }
        await gate.waitForArrivals()
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(folder.names == ["001-GET.json"])
    }
}
