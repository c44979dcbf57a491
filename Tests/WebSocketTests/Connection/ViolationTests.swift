// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocketTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// A server in memory, which sends bytes and records the bytes that it receives.
private final class MemoryConnection: ByteConnection {
    private let incoming: Locked<[UInt8]?>
    private let written = Locked<[UInt8]>([])
    private let closed = Expectation()

    init(sending bytes: [UInt8]) {
        incoming = Locked(bytes)
    }

    var bytes: [UInt8] { written.withLock(\.self) }

    func read() async throws -> [UInt8]? {
        if let bytes = incoming.withLock({ $0.take() }) { return bytes }
        await closed.wait()
        return nil
    }

    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) {
        written.withLock { $0 += bytes }
        completion(nil)
    }

    func close(sending bytes: [UInt8]) {
        written.withLock { $0 += bytes }
        closed.fulfill()
    }
}

@Suite("The code with which a WebSocket ends", .throttled, .timeLimit(.minutes(2)))
struct ViolationTests {
    /// The codes of the close frames that a server reads.
    private func codes(_ bytes: [UInt8]) -> [WebSocketCloseCode?] {
        var reader = WebSocketReader(role: .server)
        return reader.result(of: bytes).events.compactMap { event in
            if case .close(let code, _) = event { .some(code) } else { nil }
        }
    }

    @Test(
        "The code of a violation is sent although the app closes the WebSocket when its loop ends",
        arguments: [
            ([0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6B], WebSocketCloseCode.protocolError),
            ([0x81, 0x02, 0xC0, 0x80], .invalidPayload),
            ([0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0], .messageTooBig),
        ] as [([UInt8], WebSocketCloseCode)]
    )
    func violation(frame: [UInt8], expected: WebSocketCloseCode) async {
        var wrong: [[WebSocketCloseCode?]] = []
        for _ in 0..<300 {
            let connection = MemoryConnection(sending: frame)
            let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
            async let running: Void = session.run()
            await #expect(throws: WebSocketError.self) { try await session.inbox.next() }
            await session.close(WebSocketClosing(code: 1000))
            await running
            if codes(connection.bytes) != [expected] { wrong.append(codes(connection.bytes)) }
        }
        #expect(wrong == [])
    }

    @Test("The code with which this side gives up is sent although the app closes the WebSocket when its loop ends")
    func cancellation() async {
        var wrong: [[WebSocketCloseCode?]] = []
        for _ in 0..<300 {
            let connection = MemoryConnection(sending: [])
            let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
            async let running: Void = session.run()
            async let closing: Void = {
                _ = try? await session.inbox.next()
                await session.close(WebSocketClosing(code: 1000))
            }()
            session.cancel(.goingAway)
            await closing
            await running
            if codes(connection.bytes) != [.goingAway] { wrong.append(codes(connection.bytes)) }
        }
        #expect(wrong == [])
    }
}

@Suite("Pongs that nobody asked for", .throttled, .timeLimit(.minutes(2)))
struct UnsolicitedPongTests {
    @Test("A pong with the number of a ping that wasn't sent isn't the pong of an earlier one")
    func number() async {
        let pong = [0x8A, 8] + [UInt8](repeating: 0xFF, count: 8)
        let violation: [UInt8] = [0x81, 0x02, 0xC0, 0x80]
        let connection = MemoryConnection(sending: pong + violation)
        let session = FrameSession(connection, .init(), WebSocketLimits(), clock: ContinuousClock())
        let ping = Task { try await session.ping() }
        while connection.bytes.isEmpty { await Task.yield() }
        await session.run()
        await #expect(throws: WebSocketError.self) { try await ping.value }
    }
}

@Suite("The URL and the response of a WebSocket's handshake", .throttled, .timeLimit(.minutes(2)))
struct HandshakeURLTests {
    @Test("A refused handshake carries its request and its response", arguments: TestServer.HandshakeFault.refusals)
    func refused(fault: TestServer.HandshakeFault) async throws {
        let server = try TestServer(response: .webSocket(fault: fault))
        let error = await #expect(throws: TargetKitError.self) {
            try await Provider<Feed>().webSocket(Feed(baseURL: server.baseURL))
        }
        #expect(error?.stage == .transport)
        #expect((error?.underlying as? WebSocketError)?.reason == fault.expected)
        #expect(error?.request?.url?.path() == "/echo")
        #expect(error?.response?.statusCode == 101)
        #expect(error?.response?.headers["Upgrade"] == (fault == .missingUpgrade ? nil : "websocket"))
    }

    @Test("A URL with the scheme ws or wss is opened like one with http or https", arguments: ["ws", "WS"])
    func webSocketScheme(scheme: String) async throws {
        let server = try TestServer(response: .webSocket(.send("hello")))
        let text = server.baseURL.absoluteString.replacing(/^http/, with: scheme)
        let feed = Feed(baseURL: try #require(URL(string: text)), path: "/echo?q=\("ä&")")
        let socket = try await Provider<Feed>().webSocket(feed)
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        #expect(socket.response.request?.url?.scheme == "http")
        #expect(server.requests.first?.target == "/echo?q=%C3%A4%26")
    }

    @Test(
        "Plugins and transports see a handshake's URL with http or https",
        arguments: [
            ("ws://example.com", "http://example.com/echo"),
            ("wss://example.com:8443/a", "https://example.com:8443/a/echo"),
        ]
    )
    func seenScheme(baseURL: String, expected: String) async throws {
        let server = StubWebSocket { _ in }
        let feed = Feed(baseURL: try #require(URL(string: baseURL)))
        _ = try await Provider<Feed>(transport: server).webSocket(feed)
        #expect(server.requests.map { $0.url?.absoluteString } == [expected])
    }

    @Test("A call that opens no WebSocket rejects the schemes ws and wss, and a WebSocket a URL without a host")
    func otherCalls() async throws {
        let provider = Provider<Feed>(transport: StubWebSocket { _ in })
        let feed = Feed(baseURL: try #require(URL(string: "ws://example.com")))
        await #expect(throws: TargetKitError.self) { try await provider.request(feed) }
        let noHost = Feed(baseURL: try #require(URL(string: "ws:///feed")))
        let error = await #expect(throws: TargetKitError.self) { try await provider.webSocket(noHost) }
        #expect(error?.kind == .invalidRequest)
    }
}

extension TestServer.HandshakeFault {
    /// The faults for which a client refuses a response with the status 101.
    fileprivate static let refusals = allCases.filter { $0.expected != nil }
}
