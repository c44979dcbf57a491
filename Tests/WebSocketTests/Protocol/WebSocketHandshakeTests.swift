// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@testable import TargetKitWebSocket

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The opening handshake", .throttled)
struct WebSocketHandshakeTests {
    /// Always the same number.
    private struct Constant: RandomNumberGenerator {
        func next() -> UInt64 { UInt64(littleEndian: 0x0807_0605_0403_0201) }
    }

    private func head(_ change: (inout HTTPHeaders) -> Void = { _ in }, status: Int = 101) -> ResponseHead {
        var headers: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Accept": WebSocketHandshake.accept(for: handshake.key),
        ]
        change(&headers)
        return ResponseHead(statusCode: status, headers: headers)
    }

    private let handshake = WebSocketHandshake(
        subprotocols: ["chat", "superchat"],
        deflate: PerMessageDeflate(),
        random: Constant()
    )

    private func failure(_ head: ResponseHead) -> WebSocketError.Reason? {
        do {
            _ = try handshake.check(head)
            return nil
        } catch {
            #expect(error.closeCode == nil && !error.message.isEmpty)
            return error.reason
        }
    }

    @Test("The value of Sec-WebSocket-Accept is the one of RFC 6455 §1.3")
    func accept() {
        #expect(WebSocketHandshake.accept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test("The fields of the request are those of RFC 6455 §4.1")
    func fields() {
        #expect(
            handshake.headers.map { "\($0.name.rawValue): \($0.value)" } == [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: AQIDBAUGBwgBAgMEBQYHCA==", "Sec-WebSocket-Protocol: chat, superchat",
                "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
            ]
        )
    }

    @Test("A valid response is accepted, whatever the letter case of its fields")
    func valid() throws {
        #expect(try handshake.check(head()) == WebSocketHandshake.Agreement())
        let other = head { headers in
            headers["Upgrade"] = "WebSocket"
            headers["Connection"] = "keep-alive, upgrade"
            headers["sec-websocket-protocol"] = "superchat"
            headers["Sec-WebSocket-Extensions"] = "permessage-deflate; server_max_window_bits=10"
        }
        let agreement = try handshake.check(other)
        #expect(agreement.subprotocol == "superchat")
        #expect(agreement.deflate == PerMessageDeflate(serverWindowBits: 10))
    }

    @Test("Each field that is wrong is named")
    func wrong() {
        #expect(failure(head(status: 200)) == .handshakeRefused)
        #expect(failure(head { $0["Upgrade"] = nil }) == .wrongUpgrade)
        #expect(failure(head { $0["Upgrade"] = "h2c" }) == .wrongUpgrade)
        #expect(failure(head { $0["Connection"] = "keep-alive" }) == .wrongConnection)
        #expect(failure(head { $0["Sec-WebSocket-Accept"] = nil }) == .wrongAccept)
        #expect(failure(head { $0["Sec-WebSocket-Accept"] = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" }) == .wrongAccept)
        #expect(failure(head { $0["Sec-WebSocket-Protocol"] = "chess" }) == .unrequestedSubprotocol)
        #expect(failure(head { $0["Sec-WebSocket-Protocol"] = "chat, superchat" }) == .unrequestedSubprotocol)
        #expect(failure(head { $0["Sec-WebSocket-Extensions"] = "x-other" }) == .unrequestedExtension)
    }

    @Test(
        "An extension with invalid parameters is refused",
        arguments: [
            "permessage-deflate; server_max_window_bits", "permessage-deflate; server_max_window_bits=7",
            "permessage-deflate; server_max_window_bits=16", "permessage-deflate; server_max_window_bits=010",
            "permessage-deflate; client_max_window_bits", "permessage-deflate; x",
            "permessage-deflate; server_no_context_takeover=1", "permessage-deflate, permessage-deflate",
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover", "permessage-deflate;",
            "permessage-deflate; server_max_window_bits=\"9", "=", "a b",
        ]
    )
    func wrongExtension(value: String) {
        #expect(failure(head { $0["Sec-WebSocket-Extensions"] = value }) == .unrequestedExtension)
    }

    @Test("An offer is answered by the best choice, and the client accepts it")
    func negotiation() throws {
        let offers = [
            PerMessageDeflate(), PerMessageDeflate(serverNoContextTakeover: true, serverWindowBits: 9),
            PerMessageDeflate(clientNoContextTakeover: true, clientWindowBits: 10),
        ]
        let servers = [
            PerMessageDeflate(), PerMessageDeflate(clientNoContextTakeover: true, clientWindowBits: 9),
            PerMessageDeflate(serverNoContextTakeover: true, serverWindowBits: 8),
        ]
        for offer in offers {
            for server in servers {
                let list = try #require(WebSocketExtension.list([offer.offer]))
                let choice = try #require(server.chosen(from: list))
                let response = try #require(WebSocketExtension.list([choice.response]).flatMap(\.first))
                #expect(try offer.accepted(response) == choice)
            }
        }
        let invalid = try #require(WebSocketExtension.list(["permessage-deflate; x, permessage-deflate"]))
        #expect(PerMessageDeflate().chosen(from: invalid) == PerMessageDeflate())
        let old = try #require(WebSocketExtension.list(["permessage-deflate"]))
        #expect(PerMessageDeflate(clientWindowBits: 9).chosen(from: old) == nil)
    }
}
