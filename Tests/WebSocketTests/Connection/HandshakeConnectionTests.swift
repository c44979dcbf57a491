// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit
import TargetKitTesting
import TargetKitWebSocketTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// The handshake over a connection of libcurl: how it ends, and what follows it.
@Suite("The connection of a handshake", .throttled, .timeLimit(.minutes(2)))
struct HandshakeConnectionTests {
    private static let start = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"

    private func failure(_ server: TestServer, _ transport: CurlTransport = CurlTransport()) async -> TargetKitError? {
        await #expect(throws: TargetKitError.self) {
            _ = try await Provider<Feed>(transport: transport).webSocket(Feed(baseURL: server.baseURL))
        }
    }

    /// The head that accepts a WebSocket.
    private static func head(for request: TestServer.Request) -> String {
        let accept = WebSocketHandshake.accept(for: request.headers["Sec-WebSocket-Key"] ?? "")
        return start + "Connection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
    }

    @Test(
        "A connection that ends within the head of the response is lost",
        arguments: ["", "HT", "HTTP/1.1 101 Switching Protocols\r\n", start, start + "Conn", start + "\r"]
    )
    func cutOff(head: String) async throws {
        let server = try TestServer { _ in [.text(head), .close] }
        let error = await failure(server)
        #expect(error?.kind == .connectionLost)
        #expect(error?.response == nil)
        let words = "the connection was closed before the response's head was complete"
        #expect(error?.underlying?.localizedDescription == words)
        try await server.waitForClosedConnections()
    }

    @Test("A connection that is reset within the head of the response is lost", arguments: ["", start])
    func reset(head: String) async throws {
        let server = try TestServer { _ in [.text(head), .reset] }
        #expect(await failure(server)?.kind == .connectionLost)
    }

    @Test("A handshake without a byte for the idle timeout ends, and its connection is closed", arguments: ["", start])
    func idle(head: String) async throws {
        let server = try TestServer { _ in [.text(head), .hang] }
        let error = await failure(server, CurlTransport(idleTimeout: .milliseconds(100)))
        #expect(error?.kind == .timedOut)
        #expect(error?.description.contains("no data was sent or received for 0.1 seconds") == true)
        try await server.waitForClosedConnections()
    }

    @Test("Bytes that arrive keep the idle timeout from ending a handshake, but not the exchange's timeout")
    func slow() async throws {
        let server = try TestServer { request in
            [.drip(Data((Self.head(for: request) + "\u{81}").utf8), chunkSize: 8, every: .milliseconds(50))]
        }
        let feed = Feed(baseURL: server.baseURL)
        let provider = Provider<Feed>(transport: CurlTransport(idleTimeout: .milliseconds(700)))
        _ = try await provider.webSocket(feed)
        let options = CallOptions.setting(\.timeout, .exchange(.milliseconds(200)))
        let error = await #expect(throws: TargetKitError.self) {
            _ = try await provider.webSocket(feed, options: options)
        }
        #expect(error?.kind == .timedOut)
        try await server.waitForClosedConnections(2)
    }

    @Test("The timeouts of a handshake don't apply to the WebSocket, and its metrics are those of the connection")
    func quiet() async throws {
        let server = try TestServer(response: .webSocket(.wait(for: .milliseconds(1500)), .send("late"), .echo))
        let provider = Provider<Feed>(transport: CurlTransport(idleTimeout: .milliseconds(700)))
        let options = CallOptions.setting(\.timeout, .exchange(.milliseconds(1000)))
        for options in [CallOptions(), options] {
            let socket = try await provider.webSocket(Feed(baseURL: server.baseURL), options: options)
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("late"))
            let metrics = try #require(socket.response.metrics)
            #expect(metrics.connect != nil && metrics.secureConnect == nil && !metrics.reusedConnection)
            #expect(metrics.remoteAddress == "127.0.0.1")
        }
    }

    @Test("Frames that arrive together with the response are read first", arguments: [1, 100, 200_000])
    func together(size: Int) async throws {
        let text = String(repeating: "a", count: size)
        let frames = [RawFrame.text(text), .text("second"), .close(1000)].flatMap(\.bytes)
        let server = try TestServer { request in
            [.bytes(Data(Self.head(for: request).utf8) + Data(frames)), .halfClose]
        }
        let options = CallOptions.setting(\.webSocketCompression, false)
        let socket = try await Provider<Feed>(transport: CurlTransport())
            .webSocket(Feed(baseURL: server.baseURL), options: options)
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text(text))
        #expect(try await messages.next() == .text("second"))
        #expect(try await messages.next() == nil)
        #expect(socket.closeCode == .normal)
    }

    @Test("A message follows the whole request, also a large one", arguments: [0, 100_000])
    func order(size: Int) async throws {
        let server = try TestServer(response: .webSocket(.echo))
        var feed = Feed(baseURL: server.baseURL)
        feed.headers["X-Large"] = String(repeating: "x", count: size)
        let socket = try await Provider<Feed>(transport: CurlTransport()).webSocket(feed)
        try await socket.send("first")
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("first"))
        #expect(server.requests.first?.headers["X-Large"]?.count ?? 0 == size)
        await socket.close()
        try await server.waitForClosedConnections()
    }

    @Test(
        "A rejection is read to its end, and its connection is closed",
        arguments: [
            "Content-Length: 17\r\n\r\n{\"error\":\"token\"}", "X: y\r\n\r\n{\"error\":\"token\"}",
            "Transfer-Encoding: chunked\r\n\r\n9\r\n{\"error\":\r\n8\r\n\"token\"}\r\n0\r\n\r\n",
        ],
        [TestServer.Step.close, .reset]
    )
    func rejection(rest: String, end: TestServer.Step) async throws {
        let isFramed = !rest.hasPrefix("X")
        let server = try TestServer { _ in
            // Without a length, only the end of the connection ends the body.
            [.text("HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\n" + rest), isFramed ? end : .close]
        }
        let error = await failure(server)
        #expect(error?.stage == .status)
        #expect(error?.response?.statusCode == 401)
        #expect(error?.response?.data == Data(#"{"error":"token"}"#.utf8))
        #expect(error?.response?.metrics?.remoteAddress == "127.0.0.1")
        try await server.waitForClosedConnections()
    }

    @Test("A rejection that a server sends while it refuses the rest of the request is returned")
    func refusedRequest() async throws {
        let server = try TestServer { _ in [.text("HTTP/1.1 403 Forbidden\r\nX: y\r\n\r\nno entry"), .close] }
        let error = await failure(server)
        #expect(error?.response?.statusCode == 403)
        #expect(error?.response?.data == Data("no entry".utf8))
    }

    @Test("A transport that is shut down ends a handshake")
    func shutdown() async throws {
        let server = try TestServer { _ in [.text(Self.start), .hang] }
        let transport = CurlTransport()
        let error = Task { await failure(server, transport) }
        await server.waitForRequests(1)
        transport.shutdown()
        #expect(await error.value?.stage == .cancelled)
        try await server.waitForClosedConnections()
    }
}
#endif
