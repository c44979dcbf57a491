// SPDX-License-Identifier: MIT
import TargetKit
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// A connection that receives pieces, and then ends.
private final class PiecesConnection: ByteConnection {
    private let pieces: Locked<[[UInt8]]>

    init(_ pieces: [ArraySlice<UInt8>]) {
        self.pieces = Locked(pieces.map(Array.init).reversed())
    }

    func read() async throws -> [UInt8]? { pieces.withLock { $0.popLast() } }

    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) { completion(nil) }

    func close(sending bytes: [UInt8]) {}
}

@Suite("The response of a handshake", .throttled, .timeLimit(.minutes(3)))
struct HandshakeReaderTests {
    private func response(
        of pieces: [ArraySlice<UInt8>],
        method: String = "GET"
    ) async throws -> TransportResponse {
        var request = URLRequest(url: try #require(URL(string: "http://user:secret@example.com/feed")))
        request.httpMethod = method
        let upgrade = WebSocketUpgrade(messageLimit: 1)
        return try await upgrade.response(to: request, over: PiecesConnection(pieces), headLimit: 1000)
    }

    private func code(_ pieces: [ArraySlice<UInt8>]) async -> URLError.Code? {
        let error = await #expect(throws: URLError.self) { try await response(of: pieces) }
        #expect(error?.failingURL?.absoluteString == "http://example.com/feed")
        #expect(error?.localizedDescription.isEmpty == false)
        return error?.code
    }

    @Test(
        "A head is read at every cut, and says where it ends",
        arguments: [
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nA: 1\r\n\r\n",
            "HTTP/1.1 101\nUpgrade: websocket\nA: 1\n\n",
            "HTTP/1.1  101 \r\nUpgrade:websocket\r\nA: 1\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX: y\r\n\r\nHTTP/1.1 101 OK\r\nUpgrade: websocket\r\n"
                + "A:\r\n 1\r\n\r\n",
        ]
    )
    func valid(text: String) async throws {
        let bytes = Array((text + "\u{1}rest").utf8)
        for cut in 0...text.utf8.count {
            let response = try await response(of: [bytes[..<cut], bytes[cut...]])
            let head = response.head
            guard case .upgraded(let rest as WebSocketUpgrade.Bytes) = response.body else {
                Issue.record("cut at \(cut): the server has not switched")
                continue
            }
            #expect(head.statusCode == 101)
            #expect(head.headers["Upgrade"] == "websocket")
            #expect(head.headers["A"]?.trimmingCharacters(in: .whitespaces) == "1")
            // At the last cut, the rest is still to be read.
            let expected = cut == text.utf8.count ? [] : Array(bytes[text.utf8.count...])
            #expect(rest.received == expected, "cut at \(cut)")
        }
    }

    @Test(
        "What is not HTTP is refused at its first line",
        arguments: [
            ("SSH-2.0", URLError.Code.badServerResponse), ("HTTP/2 101\r\n", .badServerResponse),
            ("HTTP/1.1 1x1 OK\r\n", .badServerResponse), ("HTTP/1.1 0101 OK\r\n", .badServerResponse),
            ("HTTP/1.1 099 OK\r\n", .badServerResponse), ("HTTP/1.1\r\n", .badServerResponse),
            ("HTTP/1.1 101 OK\r\nno colon\r\n", .badServerResponse),
            ("HTTP/1.1 101 OK\r\nA b: 1\r\n", .badServerResponse),
            ("HTTP/1.1 101 OK\r\nA: \0\r\n", .badServerResponse), ("HTTP/1.1 101 OK\r\n: 1\r\n", .badServerResponse),
            ("HTTP/1.1 100 Continue\r\n\r\nSSH", .badServerResponse),
            ("HTTP/1.1 101 OK\r\n" + String(repeating: "X: y\r\n", count: 200), .dataLengthExceedsMaximum),
            ("HTTP/1.1 101 " + String(repeating: "x", count: 1000), .dataLengthExceedsMaximum),
            ("HTTP/1.1 101 OK\r\nContent-Length: 1, 2\r\n\r\n", .cannotParseResponse),
            ("HTTP/1.1 403 No\r\nContent-Length: 1\r\nContent-Length: x\r\n\r\n", .cannotParseResponse),
            ("HTTP/1.1 101 OK\r\nUpgrade", .networkConnectionLost), ("", .networkConnectionLost),
        ]
    )
    func invalid(text: String, expected: URLError.Code) async {
        let bytes = Array(text.utf8)
        #expect(await code(bytes.indices.map { bytes[$0...$0] }) == expected)
    }

    @Test(
        "The body of a refusal is read to its end, at every cut",
        arguments: [
            ("Content-Length: 5", "hello", "hello"), ("Content-Length: 5", "hello more", "hello"),
            ("Content-Length: 5", "hel", nil), ("X: y", "hello", "hello"),
            ("Transfer-Encoding: chunked", "2\r\nhe\r\n003;x=y\r\nllo\r\n0\r\nT: 1\r\n\r\nmore", "hello"),
            ("Transfer-Encoding: chunked", "2\r\nhe\r\n3\r\nl", nil), ("Content-Length: 0", "x", ""),
            ("Content-Length: 5, 5", "hello", "hello"),
        ] as [(String, String, String?)]
    )
    func body(field: String, text: String, expected: String?) async throws {
        let bytes = Array("HTTP/1.1 403 Forbidden\r\n\(field)\r\n\r\n\(text)".utf8)
        for cut in 0...bytes.count {
            let pieces = [bytes[..<cut], bytes[cut...]]
            guard let expected else {
                #expect(await code(pieces) == .networkConnectionLost, "cut at \(cut)")
                continue
            }
            let response = try await response(of: pieces)
            #expect(response.head.statusCode == 403)
            let data: Data? = if case .data(let data) = response.body { data } else { nil }
            #expect(data == Data(expected.utf8), "cut at \(cut)")
        }
    }

    @Test("Some responses have no body", arguments: [("GET", 204), ("GET", 304), ("HEAD", 403)])
    func bodiless(method: String, status: Int) async throws {
        let bytes = Array("HTTP/1.1 \(status) No\r\nContent-Length: x\r\n\r\nhello".utf8)
        let response = try await response(of: [bytes[...]], method: method)
        #expect(response.head.statusCode == status)
        let isEmpty = if case .data(let data) = response.body { data.isEmpty } else { false }
        #expect(isEmpty)
    }

    @Test("A chunk without a size is an error", arguments: ["zz\r\nhe", "ffffffffffffffffff\r\nhe", "+2\r\nhe"])
    func chunks(text: String) async {
        let bytes = Array(("HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n" + text).utf8)
        #expect(await code([bytes[...]]) == .cannotParseResponse)
    }

    @Test("A body over 1 MiB is an error")
    func largeBody() async {
        let text = "HTTP/1.1 500 Error\r\nX: y\r\n\r\n" + String(repeating: "x", count: 1 << 20)
        #expect(await code([Array((text + "x").utf8)[...]]) == .dataLengthExceedsMaximum)
        await #expect(throws: Never.self) { try await response(of: [Array(text.utf8)[...]]) }
    }
}
