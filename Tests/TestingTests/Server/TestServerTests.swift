// SPDX-License-Identifier: MIT

import Foundation
import TargetKitTesting
import TestSupport
import Testing

@Suite("TestServer", .throttled)
struct TestServerTests {
    private static let okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func plain(_ request: TestServer.Request) async -> TestServer.Response {
        TestServer.Response(body: Data("ok".utf8))
    }

    @Test("A request is parsed and answered byte for byte", .timeLimit(.minutes(3)))
    func requestAndAnswer() async throws {
        let server = try TestServer(respond: Self.plain)
        let client = try SocketClient(to: server)
        let head = "POST /a%2Fb?x=1&y=? HTTP/1.1\r\nHost: here\r\nX-A: 1\r\nx-a:  2 \r\nContent-Length: 5\r\n\r\n"
        try await client.send(head + "hello")
        #expect(try await client.receive(Self.okay.utf8.count) == Data(Self.okay.utf8))

        let request = try await server.request(at: 0)
        #expect(request.method == "POST")
        #expect(request.target == "/a%2Fb?x=1&y=?")
        #expect(request.path == "/a%2Fb")
        #expect(request.query == "x=1&y=?")
        #expect(request.httpVersion == "HTTP/1.1")
        #expect(request.headers["HOST"] == "here")
        #expect(request.headers.values(for: "X-a") == ["1", "2"])
        #expect(request.headers.fields.map(\.name.rawValue) == ["Host", "X-A", "x-a", "Content-Length"])
        #expect(request.text == "hello")
        #expect(request.rawHead == Data(head.utf8))
        #expect(!request.isChunked)
    }

    @Test("A chunked body is decoded in any segments", .timeLimit(.minutes(3)), arguments: [1, 7, 60, 1024])
    func chunkedBody(segmentSize: Int) async throws {
        let server = try TestServer(respond: Self.plain)
        let client = try SocketClient(to: server)
        let head = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        let bytes = Data((head + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n").utf8)
        for start in stride(from: 0, to: bytes.count, by: segmentSize) {
            try await client.send(bytes[start..<min(start + segmentSize, bytes.count)])
        }
        let request = try await server.request(at: 0)
        #expect(request.text == "hello world")
        #expect(request.isChunked)
        #expect(request.chunkCount == 2)
        #expect(request.trailers["x-sum"] == "1")
        #expect(request.bodyDigest == BodyDigest(of: Data("hello world".utf8)))
    }

    @Test("Pipelined requests on one connection are answered in order", .timeLimit(.minutes(3)))
    func pipelining() async throws {
        let server = try TestServer { .text($0.path) }
        let client = try SocketClient(to: server)
        try await client.send((0..<20).map { "GET /\($0) HTTP/1.1\r\n\r\n" }.joined())
        for number in 0..<20 {
            let head = try await client.receive(through: "\r\n\r\n")
            #expect(head.contains("Content-Length: \("/\(number)".utf8.count)\r\n"))
            #expect(try await client.receive(through: "/\(number)") == "/\(number)")
        }
        #expect(server.requests.map(\.number) == Array(0..<20))
        #expect(server.connectionCount == 1)
    }

    @Test(
        "The client's wish decides whether the connection is kept",
        .timeLimit(.minutes(3)),
        arguments: [
            ("HTTP/1.1\r\nConnection: close", false), ("HTTP/1.0", false),
            ("HTTP/1.0\r\nConnection: Keep-Alive", true), ("HTTP/1.1", true),
        ]
    )
    func keepAlive(ending: String, isKept: Bool) async throws {
        let server = try TestServer(respond: Self.plain)
        let client = try SocketClient(to: server)
        try await client.send("GET / \(ending)\r\n\r\n")
        _ = try await client.receive(through: "ok")
        if isKept {
            try await client.send("GET /again HTTP/1.1\r\n\r\n")
            #expect(try await client.receive(through: "ok") == Self.okay)
        } else {
            #expect(try await client.receiveAll() == "")
        }
    }

    @Test("Steps send exactly their bytes", .timeLimit(.minutes(3)))
    func steps() async throws {
        let server = try TestServer(response: [
            .head(status: 200, reason: "Fine", headers: ["A": "1", "a": "2"]), .text("x"), .bytes(Data([0, 255])),
            .body(Data("body".utf8)), .chunk(Data(repeating: 65, count: 17)), .endChunks,
            .generate(byteCount: 7, repeating: Data("abc".utf8)), .drip(Data("drip".utf8), chunkSize: 3, every: .zero),
            .wait(for: .milliseconds(1)), .close,
        ])
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        var expected = Data("HTTP/1.1 200 Fine\r\nA: 1\r\na: 2\r\n\r\nx".utf8)
        expected += [0, 255]
        expected += Data("body11\r\nAAAAAAAAAAAAAAAAA\r\n0\r\n\r\nabcabcadrip".utf8)
        #expect(try await client.receive(10_000) == expected)
        #expect(server.bytesSent == expected.count)
    }

    @Test("The response to HEAD has the length and no body", .timeLimit(.minutes(3)))
    func head() async throws {
        let server = try TestServer(respond: Self.plain)
        let client = try SocketClient(to: server)
        try await client.send("HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(try await client.receiveAll() == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
    }

    @Test("A gate in a response holds back the rest", .timeLimit(.minutes(3)))
    func gate() async throws {
        let gate = Gate()
        let server = try TestServer(response: [.text("before"), .pause(until: gate), .text("after"), .close])
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.receive(6) == Data("before".utf8))
        await gate.waitForArrivals()
        #expect(server.bytesSent == 6)
        gate.open()
        #expect(try await client.receiveAll() == "after")
    }

    @Test("A client sees a reset as an error, and a close as the end", .timeLimit(.minutes(3)))
    func resetAndClose() async throws {
        let server = try TestServer { $0.path == "/reset" ? [.text("x"), .reset] : [.text("x"), .close] }
        let closing = try SocketClient(to: server)
        try await closing.send("GET /close HTTP/1.1\r\n\r\n")
        #expect(try await closing.receiveAll() == "x")
        let resetting = try SocketClient(to: server)
        try await resetting.send("GET /reset HTTP/1.1\r\n\r\n")
        await #expect(throws: SocketError(call: "recv", code: ECONNRESET)) { try await resetting.receiveAll() }
    }

    @Test("Steps for a new connection run before anything is read", .timeLimit(.minutes(3)))
    func greeting() async throws {
        var options = TestServer.Options()
        options.onConnect = { $0 == 0 ? [.text("garbage"), .close] : [.text("220 ")] }
        let server = try TestServer(options: options, respond: Self.plain)
        #expect(try await SocketClient(to: server).receiveAll() == "garbage")
        let second = try SocketClient(to: server)
        try await second.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await second.receive(through: "ok") == "220 " + Self.okay)
        #expect(server.requestCount == 1)
    }

    @Test("A connection can be used again after a reply to the head alone", .timeLimit(.minutes(3)))
    func earlyAnswer() async throws {
        var options = TestServer.Options()
        options.onHead = { $0.path == "/big" ? .response(.status(413)) : .readBody }
        let server = try TestServer(options: options, respond: Self.plain)
        let client = try SocketClient(to: server)
        try await client.send("POST /big HTTP/1.1\r\nContent-Length: 6\r\n\r\nabc")
        let early = try await client.receive(through: "\r\n\r\n")
        #expect(early == "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
        try await client.send("def" + "GET /next HTTP/1.1\r\n\r\n")
        #expect(try await client.receive(through: "ok") == Self.okay)
        #expect(server.requests.map(\.path) == ["/big", "/next"])
        #expect(server.requests.map(\.bodyByteCount) == [0, 0])
    }

    @Test("Expect: 100-continue is answered or ignored before the body is sent", .timeLimit(.minutes(3)))
    func expectContinue() async throws {
        let head = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
        let answering = try TestServer(respond: Self.plain)
        let client = try SocketClient(to: answering)
        try await client.send(head)
        #expect(try await client.receive(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        try await client.send("x")
        #expect(try await client.receive(through: "ok") == Self.okay)

        var options = TestServer.Options()
        options.expectContinue = .ignore
        let silent = try TestServer(options: options, respond: Self.plain)
        let other = try SocketClient(to: silent)
        try await other.send(head)
        await silent.waitForHeads(1)
        #expect(silent.bytesSent == 0)
        try await other.send("x")
        #expect(try await other.receive(through: "ok") == Self.okay)
    }

    @Test(
        "What is not HTTP/1.1 is refused and noted",
        .timeLimit(.minutes(3)),
        arguments: [
            "nonsense\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\nabcde",
            "POST / HTTP/1.1\r\nContent-Length: -0\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-0\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        ]
    )
    func malformed(bytes: String) async throws {
        let server = try TestServer(respond: Self.plain)
        let client = try SocketClient(to: server)
        try await client.send(bytes)
        #expect(try await client.receiveAll().hasPrefix("HTTP/1.1 400 "))
        #expect(server.violations.count == 1)
        #expect(server.requestCount == 0)
    }
}
