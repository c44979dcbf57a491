// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension CassetteTests {
    /// Without the one of 192 MB, which a cassette writes to files.
    private static let requirements = TransportConformance.requirements.filter { requirement in
        !TransportConformance.backPressure.contains { $0.id == requirement.id }
    }
    private static let checked = Matrix.rows(requirements, oneOf: 3)

    @Test("Recording changes nothing for its caller", .timeLimit(.minutes(3)), arguments: checked)
    func conformance(requirement: TransportRequirement) async throws {
        // The bodies are noise that claims to be JSON, in which the search for secrets takes long without optimization.
        let transport = SystemTransport.another()
        try await requirement.check(
            CassetteTransport(.record, folder: folder.url, recording: transport, redaction: .none)
        )
    }

    @Test("Streams and downloads are recorded and replayed", arguments: [CassetteTransport.Mode.record, .auto])
    func destinations(mode: CassetteTransport.Mode) async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let stub = StubTransport(.response(status: 200, headers: ["Content-Type": "image/png"], data: body))
        let file = try TemporaryFolder()
        let download = TestCall(path: "/file", destination: .file(file.url.appendingPathComponent("a")))
        let stream = TestCall(path: "/stream", destination: .stream(buffer: 10_000))
        for transport in [cassette(mode, stub), cassette(.replay)] {
            #expect(try await send(download, transport).bytes.whole == body.whole)
            #expect(file.names == ["a"])
            guard case .stream(let pieces) = try await send(stream, transport).body else {
                Issue.record("no stream")
                return
            }
            var read = Data()
            for try await piece in pieces { read += piece }
            #expect(read.whole == body.whole)
        }
        // A body that was recorded as a stream can be replayed into memory.
        #expect(try await send(TestCall(path: "/stream"), cassette(.replay)).bytes.whole == body.whole)
    }

    @Test("A stream that is not read to its end leaves nothing; one that breaks is replayed up to there")
    func brokenStreams() async throws {
        let call = TestCall(destination: .stream(buffer: 10))
        let whole = StubTransport(.response(status: 200, data: Data(count: 100)))
        do {
            guard case .stream(let body) = try await send(call, cassette(.record, whole)).body else { return }
            var iterator = body.makeAsyncIterator()
            _ = try await iterator.next()
        }
        #expect(folder.names.isEmpty)
        struct Breaking: Transport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                let pieces = Recorder<Int>()
                let body = ResponseBody {
                    pieces.append(1)
                    if pieces.count > 3 { throw URLError(.networkConnectionLost) }
                    return Data("abc".utf8)
                }
                return TransportResponse(head: ResponseHead(statusCode: 200), body: .stream(body))
            }
        }
        for transport in [cassette(.record, Breaking()), cassette(.replay)] {
            guard case .stream(let body) = try await send(call, transport).body else { return }
            var read = Data()
            await #expect(throws: URLError(.networkConnectionLost)) { for try await piece in body { read += piece } }
            #expect(read == Data("abcabcabc".utf8))
        }
        await #expect(throws: URLError(.networkConnectionLost)) { try await send(TestCall(), cassette(.replay)) }
    }

    @Test("No secret of requests and responses is in the folder, and redacted requests match")
    func secrets() async throws {
        let secret = "pw-8f3k"
        let basic = Data("anna:\(secret)".utf8).base64EncodedString()
        let answer = #"{"a":{"token":"\#(secret)"},"raw":"{\"password\":\"\#(secret)\"}"}"#
        let stub = StubTransport(
            .response(
                status: 200,
                headers: [
                    "Content-Type": "application/json", "Set-Cookie": "sid=\(secret)",
                    "Location": "https://b.example/?code=\(secret)", "X-Auth-Token": secret,
                ],
                data: Data(answer.utf8)
            )
        )
        let multipart = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\(secret)\r\n--b--\r\n"
        let type = "multipart/form-data; boundary=b"
        let calls = [
            TestCall(
                path: "/a?access_token=\(secret)",
                headers: ["Authorization": "Basic \(basic)", "Cookie": "a=\(secret)"]
            ),
            TestCall(path: "/b", method: "POST", body: .data(Data(#"{"client_secret":"\#(secret)"}"#.utf8))),
            TestCall(path: "/c", method: "POST", body: .data(Data("code=\(secret)&a=1".utf8))),
            TestCall(path: "/d", method: "POST", headers: ["Content-Type": type], body: .data(Data(multipart.utf8))),
        ]
        let recording = cassette(.record, stub)
        for call in calls { #expect(try await send(call, recording).text == answer) }
        let url = try #require(URL(string: "https://anna:\(secret)@shop.example/e"))
        _ = try await recording.send(TransportRequest(urlRequest: URLRequest(url: url)))
        for (name, data) in try contents() {
            let text = String(decoding: data, as: UTF8.self)
            #expect(!text.contains(secret) && !text.contains(basic), "\(name)")
        }
        let replaying = cassette(.replay)
        for call in calls { #expect(try await send(call, replaying).text.contains(#""token":"<redacted>""#)) }
    }

    @Test("A recorded cookie keeps its name and attributes, so that it is replayed without its value")
    func cookies() async throws {
        let stub = StubTransport { request in
            guard request.urlRequest.url?.path == "/login" else { return .response(status: 200, data: Data()) }
            var headers: HTTPHeaders = ["Set-Cookie": "sid=pw-8f3k; Path=/; Max-Age=60; HttpOnly; sig=pw-8f3k; pw-8f3k"]
            for field in [
                "pw-8f3k", "a=; Max-Age=0", "b=pw-8f3k; Path=/, c=pw-8f3k; Secure", "d=pw-8f3k;Secure, e=pw-8f3k",
            ] {
                headers.add(.setCookie, value: field)
            }
            return .response(status: 200, headers: headers, data: Data())
        }
        let login = try TestCall(path: "/login").request(to: base)
        let me = URLTarget(try #require(URL(string: "https://shop.example/me")))
        for mode in [CassetteTransport.Mode.record, .replay] {
            let transport = cassette(mode, stub, matching: [.method, .url, .header("Cookie")])
            let cookies = CookieStore()
            let provider = Provider<URLTarget>(transport: transport, plugins: [CookiePlugin(cookies)])
            _ = try await provider.request(URLTarget(try #require(login.urlRequest.url)))
            _ = try await provider.request(me)
        }
        let replayed = try await cassette(.replay).send(login)
        #expect(
            replayed.head.headers.values(for: .setCookie) == [
                "sid=<redacted>; Path=/; Max-Age=60; HttpOnly; sig=<redacted>; <redacted>", "<redacted>",
                "a=; Max-Age=0", "b=<redacted>; Path=<redacted>; Secure", "d=<redacted>;Secure, e=<redacted>",
            ]
        )
        #expect(try !contents().values.contains { String(decoding: $0, as: UTF8.self).contains("pw-8f3k") })
    }

    @Test("A redirect to a URL with a user is replayed without the user")
    func redirects() async throws {
        let stub = StubTransport { request in
            guard request.urlRequest.url?.path == "/start" else { return .json("{}") }
            return .response(status: 302, headers: ["Location": "https://anna:pw-8f3k@shop.example/end"], data: Data())
        }
        let start = URLTarget(try #require(URL(string: "https://shop.example/start")))
        for mode in [CassetteTransport.Mode.record, .replay] {
            let response = try await Provider<URLTarget>(transport: cassette(mode, stub)).request(start)
            #expect(String(decoding: response.data, as: UTF8.self) == "{}")
        }
        #expect(try !contents().values.contains { String(decoding: $0, as: UTF8.self).contains("pw-8f3k") })
    }

    @Test("The recorded length is that of the redacted body")
    func contentLength() async throws {
        let secret = Data(#"{"token":"a"}"#.utf8)
        let stub = StubTransport { request in
            let isHead = request.urlRequest.httpMethod == "HEAD"
            let data = request.urlRequest.url?.path == "/plain" ? Data("hello".utf8) : secret
            return .response(
                status: 200,
                headers: ["Content-Length": isHead ? "700" : "\(data.count)"],
                data: isHead ? Data() : data
            )
        }
        let calls = [TestCall(path: "/plain"), TestCall(path: "/secret"), TestCall(path: "/plain", method: "HEAD")]
        for call in calls { _ = try await send(call, cassette(.record, stub)) }
        let replaying = cassette(.replay)
        var lengths: [String?] = []
        for call in calls { lengths.append(try await send(call, replaying).head.headers["Content-Length"]) }
        #expect(lengths == ["5", "22", "700"])
    }

    @Test("The secret header fields of plugins are redacted, too")
    func pluginSecrets() async throws {
        struct Ticket: Plugin {
            let secretHeaders: Set<HTTPHeaderName> = ["X-Ticket"]

            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                var request = request
                request.setValue("pw-8f3k", forHTTPHeaderField: "X-Ticket")
                return request
            }
        }
        let provider = Provider<TeaShop>(transport: cassette(.record, counting()), plugins: [Ticket()])
        _ = try await provider.request(.product(id: 1))
        let document = String(decoding: try #require(try contents()["001-GET-v1-products-1.json"]), as: UTF8.self)
        #expect(document.contains("\"X-Ticket: <redacted>\""))
    }
}
