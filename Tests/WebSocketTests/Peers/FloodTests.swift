// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
@testable import TargetKitWebSocket
import TestSupport
import Testing

/// A server that sends as fast as it can.
@Suite("Floods of messages", .throttled, .timeLimit(.minutes(2)))
struct FloodTests {
    /// A server that sends small messages after its handshake, and closes.
    private func server(messageCount: Int) throws -> TestServer {
        let frame = Data([0x81, 16]) + Data("0123456789abcdef".utf8)
        var frames = Data(capacity: frame.count * messageCount + 4)
        for _ in 0..<messageCount { frames.append(frame) }
        frames.append(contentsOf: [0x88, 2, 0x03, 0xE8])
        return try TestServer { [frames] request in
            let key = request.headers["Sec-WebSocket-Key"] ?? ""
            let head = """
                HTTP/1.1 101 Switching Protocols\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Accept: \(WebSocketHandshake.accept(for: key))\r
                \r\n
                """
            return [.text(head), .bytes(frames), .wait(for: .seconds(20)), .close]
        }
    }

    @Test("More than the buffers hold arrives, whether the reader waits for it or is late", arguments: [false, true])
    func all(isLate: Bool) async throws {
        let server = try server(messageCount: 60_000)
        let provider = Provider<Feed>()
        let socket = try await provider.webSocket(Feed(baseURL: server.baseURL))
        if isLate { try await Task.sleep(for: .milliseconds(200)) }
        var count = 0
        for try await message in socket.messages where message == .text("0123456789abcdef") { count += 1 }
        #expect(count == 60_000)
        #expect(socket.closeCode == .normal)
    }
}
