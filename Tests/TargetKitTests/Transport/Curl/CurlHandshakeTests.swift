// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import TargetKit

@Suite("CurlHandshake", .throttled, .timeLimit(.minutes(3)))
struct CurlHandshakeTests {
    private func outcome(of pieces: [ArraySlice<UInt8>], bodyLimit: Int = 1000) throws -> CurlHandshake.Outcome? {
        var handshake = CurlHandshake(bodyLimit: bodyLimit, headLimit: 1000)
        for piece in pieces where !piece.isEmpty {
            let outcome = try Array(piece).withUnsafeBytes { bytes in
                Result { () throws(CurlFailure) in try handshake.receive(bytes) }
            }.get()
            if let outcome { return outcome }
        }
        return nil
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
    func valid(text: String) throws {
        let bytes = Array((text + "\u{1}rest").utf8)
        for cut in 0...text.utf8.count {
            guard case .switched(let head, let rest) = try outcome(of: [bytes[..<cut], bytes[cut...]]) else {
                Issue.record("cut at \(cut): the server has not switched")
                continue
            }
            #expect(head.statusCode == 101)
            #expect(head.headers["Upgrade"] == "websocket")
            #expect(head.headers["A"]?.trimmingCharacters(in: .whitespaces) == "1")
            // At the last cut, the rest is not passed on any more.
            #expect(rest == Data(cut == text.utf8.count ? [] : bytes[text.utf8.count...]), "cut at \(cut)")
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
        ]
    )
    func invalid(text: String, code: URLError.Code) {
        let failure = #expect(throws: CurlFailure.self) {
            try outcome(of: Array(text.utf8).indices.map { Array(text.utf8)[$0...$0] })
        }
        #expect(failure?.code == code)
    }

    @Test(
        "The body of a refusal is read to its end, at every cut",
        arguments: [
            ("Content-Length: 5", "hello", "hello"), ("Content-Length: 5", "hello more", "hello"),
            ("Content-Length: 5", "hel", nil), ("X: y", "hello", nil),
            ("Transfer-Encoding: chunked", "2\r\nhe\r\n003;x=y\r\nllo\r\n0\r\nT: 1\r\n\r\nmore", "hello"),
            ("Transfer-Encoding: chunked", "2\r\nhe\r\n3\r\nl", nil), ("Content-Length: 0", "x", ""),
            ("Content-Length: 5, 5", "hello", "hello"),
        ] as [(String, String, String?)]
    )
    func body(field: String, text: String, expected: String?) throws {
        let head = "HTTP/1.1 403 Forbidden\r\n\(field)\r\n\r\n"
        let bytes = Array((head + text).utf8)
        for cut in 0...bytes.count {
            switch try outcome(of: [bytes[..<cut], bytes[cut...]]) {
            case .refused(let head, let data):
                #expect(head.statusCode == 403)
                #expect(String(decoding: data, as: UTF8.self) == expected, "cut at \(cut)")
            case .switched: Issue.record("the server has not switched")
            case nil: #expect(expected == nil, "cut at \(cut)")
            }
        }
    }

    @Test("A chunk without a size is an error", arguments: ["zz\r\nhe", "ffffffffffffffffff\r\nhe", "+2\r\nhe"])
    func chunks(text: String) {
        let bytes = Array(("HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n" + text).utf8)
        let failure = #expect(throws: CurlFailure.self) { try outcome(of: [bytes[...]]) }
        #expect(failure?.code == .cannotParseResponse)
    }

    @Test("A body over the limit is an error")
    func largeBody() {
        let text = "HTTP/1.1 500 Error\r\nX: y\r\n\r\n" + String(repeating: "x", count: 101)
        let failure = #expect(throws: CurlFailure.self) { try outcome(of: [Array(text.utf8)[...]], bodyLimit: 100) }
        #expect(failure?.code == .dataLengthExceedsMaximum)
    }

    private func requestHead(_ url: String, _ fields: [String: String] = [:]) throws -> String {
        var request = URLRequest(url: try #require(URL(string: url)))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let call = try CurlCall(TransportRequest(urlRequest: request))
        return String(decoding: try CurlUpgradeRequest.head(of: call), as: UTF8.self)
    }

    @Test(
        "The field Host has the port unless it is the scheme's",
        arguments: [
            ("http://example.com", "example.com", "/"), ("http://example.com:80/", "example.com", "/"),
            ("https://example.com:443", "example.com", "/"), ("https://example.com:80/x", "example.com:80", "/x"),
            ("https://[::1]:9/?q", "[::1]:9", "/?q"),
            ("https://example.com:8443/a%2Fb?x=1#f", "example.com:8443", "/a%2Fb?x=1"),
        ]
    )
    func host(url: String, host: String, target: String) throws {
        let lines = try requestHead(url, ["Authorization": "Bearer t"]).components(separatedBy: "\r\n")
        #expect(lines.first == "GET \(target) HTTP/1.1")
        #expect(lines.dropFirst().first == "Host: \(host)")
        #expect(lines.contains("Authorization: Bearer t"))
        #expect(lines.suffix(2) == ["", ""])
    }

    @Test("A field with a line break in its name is refused")
    func injection() throws {
        var request = URLRequest(url: try #require(URL(string: "http://example.com")))
        request.allHTTPHeaderFields = ["X\r\nY": "1"]
        try #require(request.allHTTPHeaderFields?.isEmpty == false)
        #expect(throws: (any Error).self) {
            try CurlUpgradeRequest.head(of: CurlCall(TransportRequest(urlRequest: request)))
        }
    }
}
#endif
