// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitWebSocket
import TargetKitWebSocketTesting
import TestSupport
import Testing

@Suite("WebSockets of the test server", .throttled, .timeLimit(.minutes(2)))
struct TestServerWebSocketTests {
    private typealias Options = TestServer.WebSocketOptions

    private func open(
        _ server: TestServer,
        options: CallOptions = CallOptions()
    ) async throws -> WebSocket {
        let provider = Provider<URLTarget>()
        return try await provider.webSocket(URLTarget(server.baseURL.appendingPathComponent("feed")), options: options)
    }

    private func messages(_ socket: WebSocket) async throws -> [WebSocketMessage] {
        var messages: [WebSocketMessage] = []
        for try await message in socket.messages { messages.append(message) }
        return messages
    }

    /// What was wrong, as the client reports it.
    private func failure(_ body: () async throws -> Void) async -> WebSocketError.Reason? {
        do {
            try await body()
            return nil
        } catch {
            return ((error as? TargetKitError)?.underlying as? WebSocketError)?.reason
        }
    }

    @Test("A redirect of the handshake to a ws URL is followed over http")
    func redirect() async throws {
        let end = try TestServer(response: .webSocket(.send("here"), .close()))
        let server = try TestServer(response: .redirect(to: "ws://127.0.0.1:\(end.port)/feed"))
        let socket = try await open(server)
        #expect(try await messages(socket) == [.text("here")])
        let redirect = try #require(socket.response.redirects.first)
        #expect(redirect.to == end.baseURL.appendingPathComponent("feed"))
        #expect(redirect.isCrossOrigin)
    }

    @Test(
        "A redirect of the handshake keeps the rules of redirects",
        arguments: [
            ("https://a.example/feed", "ws://b.example/feed", .insecureConnection),
            ("http://a.example/feed", "wss:///feed", .badRedirect),
            ("http://a.example/feed", "ftp://b.example", .badRedirect),
        ] as [(String, String, TargetKitError.Kind)]
    )
    func refusedRedirect(start: String, location: String, kind: TargetKitError.Kind) async throws {
        let transport = RedirectingTransport(location: location)
        let provider = Provider<URLTarget>(transport: transport)
        let url = try #require(URL(string: start))
        let error = await #expect(throws: TargetKitError.self) { try await provider.webSocket(URLTarget(url)) }
        #expect(error?.kind == kind)
    }

    @Test("Messages of each size are sent back", arguments: [true, false], [Int.max, 1000])
    func echo(compresses: Bool, fragmentSize: Int) async throws {
        let options = Options {
            $0.compresses = compresses
            $0.fragmentSize = fragmentSize
        }
        let server = try TestServer(response: .webSocket(.echo, options: options))
        let socket = try await open(server)
        var iterator = socket.messages.makeAsyncIterator()
        for size in [0, 1, 125, 126, 65535, 65536, 300_000] {
            let text = String(repeating: "ö", count: size)
            try await socket.send(text)
            #expect(try await iterator.next() == .text(text))
            try await socket.send(Data(text.utf8))
            #expect(try await iterator.next() == .data(Data(text.utf8)))
        }
        await socket.close(.goingAway)
        #expect(options.log.failures.isEmpty)
        #expect(options.log.closings.map(\.code) == [1001])
    }

    @Test("A script runs its steps in their order")
    func script() async throws {
        let log = WebSocketLog()
        let response = TestServer.Response.webSocket(
            .send("hello"),
            .expect("subscribe"),
            .ping(Data([7])),
            .wait(for: .milliseconds(10)),
            .send(Data([1])),
            .respond { message in [.send("got \(message)"), .close(.tryAgainLater, reason: "later")] },
            options: Options { $0.log = log }
        )
        let server = try TestServer(response: response)
        let socket = try await open(server)
        var iterator = socket.messages.makeAsyncIterator()
        #expect(try await iterator.next() == .text("hello"))
        try await socket.send("subscribe")
        #expect(try await iterator.next() == .data(Data([1])))
        try await socket.send("x")
        #expect(try await iterator.next() == .text("got text, 1 bytes"))
        await #expect(throws: TargetKitError.self) { try await iterator.next() }
        #expect(socket.closeCode == .tryAgainLater)
        #expect(try await log.pong(at: 0) == Data([7]))
        #expect(try await log.message(at: 0) == .text("subscribe"))
        #expect(try await log.closing(at: 0).code == 1013)
        #expect(log.failures.isEmpty)
    }

    @Test("A message that is not the expected one closes the WebSocket")
    func expectation() async throws {
        let log = WebSocketLog()
        let server = try TestServer(response: .webSocket(.expect("a"), options: Options { $0.log = log }))
        let socket = try await open(server)
        try await socket.send("b")
        await #expect(throws: TargetKitError.self) { try await messages(socket) }
        #expect(socket.closeCode == .policyViolation)
        #expect(log.failures.count == 1)
    }

    @Test("Each fault is reported by its name", arguments: TestServer.WebSocketFault.allCases)
    func faults(fault: TestServer.WebSocketFault) async throws {
        let log = WebSocketLog()
        let response = TestServer.Response.webSocket(.send("1"), .fault(fault), options: Options { $0.log = log })
        let server = try TestServer(response: response)
        let socket = try await open(server)
        var received: [WebSocketMessage] = []
        let kind = await failure { for try await message in socket.messages { received.append(message) } }
        #expect(received.first == .text("1"))
        guard fault != .dataAfterClose else {
            // The close frame was valid, so what follows is discarded (RFC 6455 §1.4).
            #expect(kind == nil && socket.closeCode == .normal)
            return
        }
        #expect(kind == fault.expected)
        #expect(try await log.closing(at: 0).code == WebSocketError(fault.expected, "").closeCode?.rawValue)
    }

    @Test("Each fault of the handshake is reported by its name", arguments: TestServer.HandshakeFault.allCases)
    func handshakeFaults(fault: TestServer.HandshakeFault) async throws {
        let server = try TestServer(response: .webSocket(fault: fault))
        var error: TargetKitError?
        do {
            _ = try await open(server)
        } catch let failure as TargetKitError {
            error = failure
        }
        let kind = (error?.underlying as? WebSocketError)?.reason
        #expect(error != nil)
        #expect(kind == fault.expected, "\(String(describing: error))")
    }

    @Test("A WebSocket that arrives in single bytes is read")
    func slowBytes() async throws {
        let options = Options { $0.bytesPerPart = 1 }
        let response = TestServer.Response.webSocket(.send("größer"), .send(Data([1, 2])), .close(), options: options)
        let server = try TestServer(response: response)
        let socket = try await open(server)
        #expect(try await messages(socket) == [.text("größer"), .data(Data([1, 2]))])
    }

    @Test("The end of the connection without a close frame is an error", arguments: [0, 1, 2])
    func endings(index: Int) async throws {
        let step: TestServer.WebSocketStep = [.disconnect, .reset, .halfClose][index]
        let server = try TestServer(response: .webSocket(.send("1"), .wait(for: .milliseconds(20)), step))
        let socket = try await open(server)
        var received: [WebSocketMessage] = []
        var error: (any Error)?
        do {
            for try await message in socket.messages { received.append(message) }
        } catch let failure {
            error = failure
        }
        #expect(received == [.text("1")])
        #expect(error is TargetKitError)
    }

    @Test("The server chooses a subprotocol, and refuses a request that is not a handshake")
    func handshake() async throws {
        let options = Options { $0.subprotocols = ["v2", "v1"] }
        let server = try TestServer(response: .webSocket(.echo, options: options))
        let socket = try await open(server, options: .subprotocols("v3", "v1"))
        #expect(socket.subprotocol == "v1")
        await socket.close()
        let error = await #expect(throws: TargetKitError.self) {
            _ = try await Provider<URLTarget>().request(URLTarget(server.baseURL))
        }
        #expect(error?.response?.statusCode == 400)
        #expect(options.log.failures == ["the request has no field Upgrade: websocket"])
    }
}

/// Answers each handshake with a redirect.
private struct RedirectingTransport: Transport {
    let location: String

    var upgradesConnections: Bool { true }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(head: ResponseHead(statusCode: 302, headers: ["Location": location]), body: .data(Data()))
    }
}
