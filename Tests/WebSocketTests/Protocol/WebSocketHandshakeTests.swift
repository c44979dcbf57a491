// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import Testing

@testable import TargetKitWebSocket

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The opening handshake")
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

    @Test("The head of the request has the fields of RFC 6455 §4.1, and those of the request")
    func request() throws {
        var request = URLRequest(url: try #require(URL(string: "wss://example.com:8443/a%2Fb?x=1#fragment")))
        request.setValue("Bearer t", forHTTPHeaderField: "Authorization")
        request.setValue("close", forHTTPHeaderField: "connection")
        request.setValue("5", forHTTPHeaderField: "Content-Length")
        let head = String(decoding: try handshake.requestHead(for: request), as: UTF8.self)
        #expect(
            head == """
                GET /a%2Fb?x=1 HTTP/1.1\r
                Host: example.com:8443\r
                Authorization: Bearer t\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Key: AQIDBAUGBwgBAgMEBQYHCA==\r
                Sec-WebSocket-Protocol: chat, superchat\r
                Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r
                \r

                """
        )
    }

    @Test(
        "The field Host has the port unless it is the scheme's",
        arguments: [
            ("ws://example.com", "example.com", "/"), ("ws://example.com:80/", "example.com", "/"),
            ("wss://example.com:443", "example.com", "/"), ("wss://example.com:80/x", "example.com:80", "/x"),
            ("https://[::1]:9/?q", "[::1]:9", "/?q"), ("ws://b%C3%BCcher.example/%20", "b%C3%BCcher.example", "/%20"),
        ]
    )
    func host(url: String, host: String, target: String) throws {
        let request = URLRequest(url: try #require(URL(string: url)))
        let lines = String(decoding: try WebSocketHandshake().requestHead(for: request), as: UTF8.self)
            .components(separatedBy: "\r\n")
        #expect(lines.first == "GET \(target) HTTP/1.1")
        #expect(lines.dropFirst().first == "Host: \(host)")
    }

    @Test("A request that could be read as two is refused")
    func injection() throws {
        let url = try #require(URL(string: "ws://example.com"))
        for (name, value) in [("X\r\nY", "1"), ("X Y", "1"), ("", "1")] {
            var request = URLRequest(url: url)
            request.allHTTPHeaderFields = [name: value]
            guard request.allHTTPHeaderFields?.isEmpty == false else { continue }
            #expect(throws: WebSocketError.self) { try handshake.requestHead(for: request) }
        }
        for names in [["a b"], ["a", "a"], [""], ["a\r\nb"]] {
            #expect(throws: WebSocketError.self) {
                try WebSocketHandshake(subprotocols: names).requestHead(for: URLRequest(url: url))
            }
        }
        #expect(throws: WebSocketError.self) {
            try handshake.requestHead(for: URLRequest(url: URL(fileURLWithPath: "/")))
        }
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

@Suite("The head and body of a response to a handshake")
struct ResponseParserTests {
    private func heads(_ text: String, cut: Int, limit: Int = 1000) -> (ResponseHead, Int)? {
        let bytes = Array(text.utf8)
        var parser = ResponseHeadParser(limit: limit)
        var consumed = 0
        for piece in [bytes[..<cut], bytes[cut...]] {
            let found = try? Array(piece).withUnsafeBytes { try parser.read($0) }
            if let found { return (found.head, consumed + found.size) }
            consumed += piece.count
        }
        return nil
    }

    @Test(
        "A head is read at every cut, and says where it ends",
        arguments: [
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nA: 1\r\n\r\n",
            "HTTP/1.1 101\nUpgrade: websocket\nA: 1\n\n",
            "\r\n\r\nHTTP/1.1  101 \r\nUpgrade:websocket\r\nA: 1\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX: y\r\n\r\nHTTP/1.1 101 OK\r\nUpgrade: websocket\r\nA:\r\n 1\r\n\r\n",
        ]
    )
    func valid(text: String) {
        for cut in 0...text.utf8.count {
            let result = heads(text + "\u{1}rest", cut: cut)
            #expect(result?.0.statusCode == 101)
            #expect(result?.0.headers["Upgrade"] == "websocket")
            #expect(result?.0.headers["A"]?.trimmingCharacters(in: .whitespaces) == "1")
            #expect(result?.1 == text.utf8.count, "cut at \(cut)")
        }
    }

    @Test(
        "What is not HTTP is refused at its first line",
        arguments: [
            ("SSH-2.0", WebSocketError.Reason.invalidHead), ("HTTP/2 101\r\n", .invalidHead),
            ("HTTP/1.1 1x1 OK\r\n", .invalidHead), ("HTTP/1.1 0101 OK\r\n", .invalidHead),
            ("HTTP/1.1 099 OK\r\n", .invalidHead), ("HTTP/1.1\r\n", .invalidHead),
            ("HTTP/1.1 101 OK\r\nno colon\r\n", .invalidHead), ("HTTP/1.1 101 OK\r\nA b: 1\r\n", .invalidHead),
            ("HTTP/1.1 101 OK\r\nA: \0\r\n", .invalidHead), ("HTTP/1.1 101 OK\r\n: 1\r\n", .invalidHead),
            ("HTTP/1.1 101 OK\r\n" + String(repeating: "X: y\r\n", count: 200), .headTooLong),
            (String(repeating: "\r\n", count: 600), .headTooLong),
            ("HTTP/1.1 101 " + String(repeating: "x", count: 1000), .headTooLong),
        ]
    )
    func invalid(text: String, kind: WebSocketError.Reason) {
        var parser = ResponseHeadParser(limit: 1000)
        var failure: WebSocketError.Reason?
        do {
            for byte in text.utf8 { _ = try [byte].withUnsafeBytes { try parser.read($0) } }
        } catch {
            failure = (error as? WebSocketError)?.reason
        }
        #expect(failure == kind)
    }

    @Test(
        "The body of a refusal is read to its end, at every cut",
        arguments: [
            (["Content-Length": "5"], "hello", "hello", true), (["Content-Length": "5"], "hello more", "hello", true),
            (["Content-Length": "5"], "hel", "hel", false), ([:], "hello", "hello", false),
            (["Transfer-Encoding": "chunked"], "2\r\nhe\r\n003;x=y\r\nllo\r\n0\r\nT: 1\r\n\r\nmore", "hello", true),
            (["Transfer-Encoding": "chunked"], "2\r\nhe\r\n3\r\nl", "hel", false),
            (["Transfer-Encoding": "chunked"], "zz\r\nhe", "", true),
            (["Transfer-Encoding": "chunked"], "ffffffffffffffffff\r\nhe", "", true),
            (["Content-Length": "0"], "x", "", true), (["Content-Length": "5, 5"], "hello", "hello", true),
            (["Content-Length": "99999999999999999999"], "hello", "hello", false),
        ] as [([String: String], String, String, Bool)]
    )
    func body(fields: [String: String], text: String, expected: String, isComplete: Bool) {
        let head = ResponseHead(statusCode: 403, headers: HTTPHeaders(fields))
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var parser = ResponseBodyParser(head)
            for piece in [bytes[..<cut], bytes[cut...]] { _ = Array(piece).withUnsafeBytes { parser.read($0) } }
            #expect(String(decoding: parser.data, as: UTF8.self) == expected, "cut at \(cut)")
            #expect(parser.isComplete == isComplete, "cut at \(cut)")
        }
    }

    @Test("A large body is cut off at the limit")
    func largeBody() {
        var parser = ResponseBodyParser(ResponseHead(statusCode: 500), limit: 100)
        let isDone = [UInt8](repeating: 65, count: 1000).withUnsafeBytes { parser.read($0) }
        #expect(isDone && parser.data.count == 100)
    }
}
