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

/// A fault, and the errors that a transport can report for it.
struct ServerFault: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var reply: TestServer.Response
    var codes: Set<Int>

    init(_ name: String, _ reply: TestServer.Response, _ codes: URLError.Code...) {
        testDescription = name
        self.reply = reply
        self.codes = Set(codes.map(\.rawValue))
    }
}

@Suite("TestServer: faults", .throttled, .timeLimit(.minutes(2)))
struct TestServerFaultTests {
    private static let faults: [ServerFault] = [
        ServerFault("close", .close, .networkConnectionLost),
        ServerFault("reset", .reset, .networkConnectionLost),
        ServerFault("hang", .hang, .timedOut),
        ServerFault("truncated head", .truncatedHead, .networkConnectionLost),
        ServerFault("malformed head", .malformedHead, .badServerResponse, .cannotParseResponse),
        ServerFault("not HTTP", .notHTTP, .badServerResponse, .cannotParseResponse),
        ServerFault("endless head", .endlessHead, .badServerResponse, .dataLengthExceedsMaximum, .cannotParseResponse),
        ServerFault("endless body", .endlessBody, .dataLengthExceedsMaximum),
        ServerFault(
            "malformed chunk",
            .malformedChunk,
            .badServerResponse,
            .cannotParseResponse,
            .networkConnectionLost
        ),
        ServerFault("truncated body", .text("all of it").truncated(after: 3), .networkConnectionLost),
        ServerFault("only a head", .text("all of it").truncated(), .networkConnectionLost),
        ServerFault("reset in the body", .text("all of it").truncated(after: 3, then: .reset), .networkConnectionLost),
        ServerFault("hang in the body", .text("all of it").truncated(after: 3, then: .hang), .timedOut),
        ServerFault("truncated chunk", truncatedChunk, .networkConnectionLost),
        ServerFault("Content-Length too large", .text("abc").contentLength("4"), .timedOut),
        ServerFault(
            "Content-Length is no number",
            .text("abc").contentLength("x"),
            .badServerResponse,
            .cannotParseResponse
        ),
        ServerFault("slow body", .text(String(repeating: "x", count: 100_000)).slow(), .timedOut),
        ServerFault("late", .text("x").after(.seconds(60)), .timedOut),
    ]

    private static let truncatedChunk: TestServer.Response = TestServer.Response(steps: [
        .head(status: 200, headers: ["Transfer-Encoding": "chunked"]), .chunk(Data("abc".utf8)),
        .chunk(Data("defg".utf8)), .endChunks,
    ]).truncated(after: 5)

    @Test("Each fault is a URLError of the transport, and leaves no connection open", arguments: faults)
    func error(fault: ServerFault) async throws {
        let transport = SystemTransport.another()
        let server = try TestServer(response: fault.reply)
        let waits = fault.codes == [URLError.Code.timedOut.rawValue]
        let call = TestCall(
            destination: .memory(limit: 1 << 20),
            timeout: waits ? .milliseconds(300) : .seconds(60)
        )
        let code = try #require(await call.failure(at: server.baseURL, with: transport))
        #expect(fault.codes.contains(code.rawValue), "\(code)")
        try await server.waitForClosedConnections(server.connectionCount, within: .seconds(30))
    }

    @Test("Each fault has an error that a person understands, without the bytes of the response", arguments: faults)
    func description(fault: ServerFault) async throws {
        let server = try TestServer(response: fault.reply)
        let limit = Duration.milliseconds(fault.codes == [URLError.Code.timedOut.rawValue] ? 300 : 60_000)
        let provider = Provider<URLTarget>(
            transport: SystemTransport.another(),
            options: .setting(\.timeout, .exchange(limit))
        )
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(URLTarget(server.baseURL, task: .plain.limit(bytes: 1 << 20)))
        }
        #expect(error?.stage == .transport)
        #expect(error?.localizedDescription.isEmpty == false)
    }

    @Test("A Content-Length that is too small ends the body, and the rest is not taken for the next response")
    func excess() async throws {
        let transport = SystemTransport.another()
        let server = try TestServer(
            response: .sequence(.text("abcHTTP/1.1 200 OK\r\n\r\n").contentLength("3"), .text("x"))
        )
        #expect(try await TestCall().send(to: server, with: transport).text == "abc")
        #expect(try await TestCall().send(to: server, with: transport).text == "x")
    }

    @Test("A slow body arrives completely", arguments: [1, 3, 100])
    func slow(bytesPerPart: Int) async throws {
        let server = try TestServer(response: .text("slowly").slow(bytesPerPart: bytesPerPart, every: .milliseconds(1)))
        #expect(try await TestCall().send(to: server, with: SystemTransport.another()).text == "slowly")
        let head = try await TestCall(method: "HEAD").send(to: server, with: SystemTransport.another())
        #expect(head.text.isEmpty)
    }

    @Test("A truncated response has the bytes of its body up to the number", arguments: 0...11)
    func truncated(count: Int) async throws {
        let replies: [TestServer.Response] = [
            .text("0123456789").truncated(after: count),
            .text("0123456789").slow(bytesPerPart: 4, every: .zero).truncated(after: count),
            .download(byteCount: 10, repeating: Data("0123456789".utf8)).truncated(after: count),
        ]
        for reply in replies {
            let server = try TestServer(response: reply)
            let client = try SocketClient(to: server)
            try await client.send("GET / HTTP/1.1\r\n\r\n")
            let text = try await client.receiveAll()
            server.stop()
            #expect(text.hasSuffix("\r\n\r\n" + "0123456789".prefix(count)))
        }
    }

    @Test("A truncated chunk announces its size")
    func truncatedChunk() async throws {
        let server = try TestServer(response: Self.truncatedChunk)
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.receiveAll().hasSuffix("\r\n\r\n3\r\nabc\r\n4\r\nde"))
        server.stop()
    }

    @Test("At a closed port, the connection is refused")
    func closedPort() async throws {
        let code = await TestCall().failure(at: try ClosedPort().baseURL, with: SystemTransport.another())
        #expect(code == .cannotConnectToHost)
    }

    @Test("After a server has stopped, the connection is refused")
    func stopped() async throws {
        let server = try TestServer(response: .text("x"))
        let transport = SystemTransport.another()
        #expect(try await TestCall().send(to: server, with: transport).text == "x")
        server.stop()
        #expect(await TestCall().failure(at: server.baseURL, with: transport) == .cannotConnectToHost)
    }
}

extension TestServer.Response {
    /// Sends a head whose status code is not a number, then closes the connection.
    fileprivate static var malformedHead: Self { .raw("HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n") }

    /// Sends a head whose header fields do not end.
    fileprivate static var endlessHead: Self {
        let fields = Data(String(repeating: "X-Fill: \(String(repeating: "x", count: 118))\r\n", count: 512).utf8)
        return [.text("HTTP/1.1 200 OK\r\n"), .generate(byteCount: .max, repeating: fields), .close]
    }

    /// Sends a body that does not end, in chunks.
    fileprivate static var endlessBody: Self {
        let chunk = Data("10000\r\n\(String(repeating: "x", count: 1 << 16))\r\n".utf8)
        return [
            .head(status: 200, headers: ["Transfer-Encoding": "chunked"]),
            .generate(byteCount: .max, repeating: chunk), .close,
        ]
    }

    /// Sends a chunk whose size is not a number, then closes the connection.
    fileprivate static var malformedChunk: Self {
        [.head(status: 200, headers: ["Transfer-Encoding": "chunked"]), .text("size\r\nabc\r\n"), .close]
    }
}
