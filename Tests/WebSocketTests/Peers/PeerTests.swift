// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TargetKitWebSocket
import TestSupport
import Testing

/// WebSockets of other implementations: websockets and aiohttp, directly and behind nginx.
@Suite("WebSockets of real servers", .throttled, .needsPeer, .timeLimit(.minutes(3)))
struct PeerTests {
    @Test("Messages of both kinds come back, whatever their size", arguments: Peer.running)
    func echo(peer: Peer) async throws {
        let provider = try peer.provider()
        let socket = try await provider.webSocket(peer.feed())
        var messages = socket.messages.makeAsyncIterator()
        for size in [0, 1, 125, 126, 65_535, 65_536, 1 << 20] {
            let (text, data) = (String(repeating: "é", count: size / 2), Self.noise(size))
            try await socket.send(text)
            #expect(try await messages.next() == .text(text))
            async let sending: Void = socket.send(data)
            #expect(try await messages.next() == .data(data))
            try await sending
        }
        #expect(socket.response.statusCode == 101)
        await socket.close(.normal, reason: "done")
        #expect(try await messages.next() == nil)
    }

    /// The largest message: 4 MiB, 16 MiB with the whole matrix, or what the environment variable says
    /// (`WEBSOCKET_BYTES=67108864 swift test --filter PeerTests`).
    private static let largest =
        ProcessInfo.processInfo.environment["WEBSOCKET_BYTES"].flatMap(Int.init)
        ?? (Matrix.isWhole ? 16 << 20 : 4 << 20)

    @Test("Large messages of both kinds come back, with limits that allow them", arguments: Peer.running)
    func large(peer: Peer) async throws {
        let limits = WebSocketLimits(messageSize: Self.largest, frameSize: Self.largest)
        let options = CallOptions.setting(\.webSocketLimits, limits).setting(\.webSocketCompression, false)
        let socket = try await peer.provider().webSocket(peer.feed(), options: options)
        var messages = socket.messages.makeAsyncIterator()
        for size in Set([1, 100_000, 4 << 20, Self.largest]).sorted() {
            let (text, data) = (String(repeating: "a", count: size), Self.noise(size))
            async let textSending: Void = socket.send(text)
            let textComesBack = try await messages.next() == .text(text)
            #expect(textComesBack, "\(size) bytes of text")
            try await textSending
            async let dataSending: Void = socket.send(data)
            let dataComesBack = try await messages.next() == .data(data)
            #expect(dataComesBack, "\(size) bytes of data")
            try await dataSending
        }
        await socket.close()
    }

    @Test("A message over the limit is refused with 1009", arguments: Peer.running)
    func limit(peer: Peer) async throws {
        let options = CallOptions.setting(\.webSocketLimits, WebSocketLimits(messageSize: 1000))
        let socket = try await peer.provider().webSocket(peer.feed(), options: options)
        try await socket.send(String(repeating: "a", count: 1001))
        let error = await socket.failure()
        #expect(error?.kind == .tooLarge)
        #expect((error?.underlying as? WebSocketError)?.closeCode == .messageTooBig)
    }

    @Test("The server selects one of the subprotocols", arguments: Peer.running)
    func subprotocol(peer: Peer) async throws {
        let provider = try peer.provider()
        let socket = try await provider.webSocket(peer.feed(), options: .subprotocols("v3.example", "v2.example"))
        #expect(socket.subprotocol == "v2.example")
        #expect(try await provider.webSocket(peer.feed()).subprotocol == nil)
    }

    @Test("A refusal is the status's error, with the response and its body", arguments: Peer.running)
    func refusal(peer: Peer) async throws {
        let log = Recorder<String>()
        let provider = try peer.provider(plugins: [Observer(log)])
        let error = await #expect(throws: TargetKitError.self) {
            _ = try await provider.webSocket(peer.feed("/refuse"))
        }
        #expect(error?.stage == .status)
        #expect(error?.response?.statusCode == 403)
        #expect(error?.response?.data == Data("no entry\n".utf8))
        #expect(log.elements == ["willSend", "didReceive 403", "didFinish"])
    }

    @Test("An expired token is refreshed once during the handshake", arguments: Peer.running)
    func refresh(peer: Peer) async throws {
        let (refreshes, log) = (Recorder<String>(), Recorder<String>())
        let plugin = AuthenticationPlugin(authenticator: Tokens(refreshes: refreshes)) { _ in }
        try await plugin.signIn("stale")
        let socket = try await peer.provider(plugins: [plugin, Observer(log)]).webSocket(peer.feed("/token"))
        try await socket.send("who am I?")
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("who am I?"))
        #expect(refreshes.elements == ["stale"])
        #expect(log.elements == ["willSend", "didReceive 401", "willSend", "didReceive 101", "didFinish"])
    }

    @Test("The server's close code and reason are known", arguments: Peer.running, [1000, 1001, 4000])
    func closeCode(peer: Peer, code: Int) async throws {
        let socket = try await peer.provider().webSocket(peer.feed("/close/\(code)"))
        let error = await socket.failure()
        #expect(socket.closeCode?.rawValue == UInt16(code))
        #expect(socket.closeReason == "as asked")
        #expect((error?.underlying as? WebSocketError)?.serverCode?.rawValue == (code < 4000 ? nil : 4000))
        let failure = await #expect(throws: TargetKitError.self) { try await socket.send("too late") }
        #expect((failure?.underlying as? WebSocketError)?.reason == .alreadyClosed)
    }

    @Test("A connection that ends without a close frame is an error, after what has arrived", arguments: Peer.running)
    func lost(peer: Peer) async throws {
        let socket = try await peer.provider().webSocket(peer.feed("/lose"))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("one"))
        let error = await socket.failure()
        #expect(error?.stage == .transport)
        #expect(error?.kind == .connectionLost)
        #expect(socket.closeCode == nil)
    }

    @Test("A ping takes time, and a heartbeat continues while the server answers", arguments: Peer.running)
    func ping(peer: Peer) async throws {
        let options = CallOptions.heartbeat(every: .milliseconds(1), timeout: .seconds(60))
        let socket = try await peer.provider().webSocket(peer.feed(), options: options)
        for _ in 0..<20 { #expect(try await socket.ping() > .zero) }
        try await socket.send("still there")
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("still there"))
    }

    @Test("A server that answers nothing ends the WebSocket by its heartbeat", .needs(.websockets))
    func silence() async throws {
        let options = CallOptions.heartbeat(every: .milliseconds(1), timeout: .milliseconds(50))
        let socket = try await Peer.websockets.provider().webSocket(Peer.websockets.feed("/silent"), options: options)
        let error = await socket.failure()
        #expect(error?.kind == .timedOut)
        #expect((error?.underlying as? WebSocketError)?.reason == .noPong)
    }

    @Test("Values are sent and received as JSON", arguments: Peer.running)
    func values(peer: Peer) async throws {
        struct Quote: Codable, Sendable, Equatable {
            var symbol: String
            var price: Double
        }
        let socket = try await peer.provider().webSocket(peer.feed())
        try await socket.send(Quote(symbol: "TEA", price: 4.2))
        try await socket.send("not JSON")
        var values = socket.messages(of: Quote.self).makeAsyncIterator()
        #expect(try await values.next() == Quote(symbol: "TEA", price: 4.2))
        let error = await #expect(throws: TargetKitError.self) { _ = try await values.next() }
        #expect(error?.stage == .decoding)
    }

    @Test("A slow reader slows down the server, and gets every message", arguments: Peer.running)
    func slowReader(peer: Peer) async throws {
        let socket = try await peer.provider().webSocket(peer.feed("/flood/100000"))
        var messages = socket.messages.makeAsyncIterator()
        for count in 0..<100_000 {
            #expect(try await messages.next() == .text("0123456789abcdef"))
            if count == 0 { try await Task.sleep(for: .milliseconds(300)) }
        }
        #expect(try await messages.next() == nil)
    }

    @Test("Messages of many tasks arrive whole", arguments: Peer.running)
    func manySenders(peer: Peer) async throws {
        let socket = try await peer.provider().webSocket(peer.feed())
        async let received: Set<WebSocketMessage> = {
            var received: Set<WebSocketMessage> = []
            for try await message in socket.messages where received.insert(message).inserted && received.count == 400 {
                break
            }
            return received
        }()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                let text = String(repeating: "\(number) ", count: number.isMultiple(of: 100) ? 100_000 : 10)
                group.addTask { try await socket.send(text) }
            }
            try await group.waitForAll()
        }
        #expect(try await received.count == 400)
    }

    static func noise(_ count: Int) -> Data {
        var generator = SeededGenerator(seed: UInt64(count))
        var bytes = [UInt8](repeating: 0, count: count)
        for index in stride(from: 0, to: count, by: 64) { bytes[index] = UInt8(truncatingIfNeeded: generator.next()) }
        return Data(bytes)
    }
}

extension WebSocket {
    /// Reads to the end, and returns the error; `nil` for a regular one.
    func failure() async -> TargetKitError? {
        var messages = messages.makeAsyncIterator()
        do throws(TargetKitError) {
            while try await messages.next() != nil {}
            return nil
        } catch {
            return error
        }
    }
}

/// Records what plugins are told.
struct Observer: Plugin {
    let log: Recorder<String>

    init(_ log: Recorder<String>) {
        self.log = log
    }

    func willSend(_ request: URLRequest, context: RequestContext) {
        log.append("willSend")
    }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        switch result {
        case .success(let response): log.append("didReceive \(response.statusCode)")
        case .failure(let error): log.append("didReceive \(error.response?.statusCode ?? 0)")
        }
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        log.append("didFinish")
    }
}

/// Tokens that are refreshed to "fresh".
struct Tokens: Authenticator {
    let refreshes: Recorder<String>
    /// The user of every token; `nil`: unknown.
    var user: String?

    func user(of credential: String) -> String? { user }

    func apply(_ credential: String, to request: inout URLRequest) throws {
        request.setValue("Bearer \(credential)", forHTTPHeaderField: "Authorization")
    }

    func refresh(_ credential: String) async throws -> String {
        refreshes.append(credential)
        return "fresh"
    }
}
