// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
@testable import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// The end of a response's body (RFC 9112 §6.3), and the limits on its head and trailers.
@Suite("CurlTransport: framing", .throttled, .timeLimit(.minutes(3)))
struct CurlFramingTests {
    private func transport(maxHeadSize: Int) -> CurlTransport {
        var configuration = CurlTransport.Configuration.patient
        configuration.maxHeadSize = maxHeadSize
        return CurlTransport(configuration: configuration)
    }

    @Test(
        "An invalid length, or two different ones, end the call and the connection",
        arguments: [
            "Content-Length: 5\r\nContent-Length: 7", "Content-Length: 7\r\ncontent-length: 5", "Content-Length: 5, 7",
            "Content-Length: 5x", "Content-Length: +5", "Content-Length: -5", "Content-Length: 0x5",
            "Content-Length: 5 5", "Content-Length:", "Content-Length: 5,", "Content-Length: 5\r\n 5",
            "Content-Length: 9223372036854775808", "Content-Length: 18446744073709551616",
            "Content-Length: 5x\r\nTransfer-Encoding: chunked",
        ]
    )
    func badLength(fields: String) async throws {
        let transport = CurlTransport.another()
        let server = try TestServer { request in
            request.path == "/bad" ? [.text("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nhello")] : .text("fine")
        }
        #expect(await TestCall(path: "/bad").failure(at: server.baseURL, with: transport) == .cannotParseResponse)
        await server.waitForConnections(closed: 1)
        #expect(try await TestCall().send(to: server, with: transport).text == "fine")
        #expect(server.connectionCount == 2)
    }

    @Test(
        "Repeated equal lengths, or spaces around a length, are valid",
        arguments: ["5", " 5\t", "5, 5", "5\r\nContent-Length: 5", "0005"]
    )
    func goodLength(value: String) async throws {
        let transport = CurlTransport.another()
        let server = try TestServer(response: [.text("HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\nhello")])
        for _ in 0..<2 { #expect(try await TestCall().send(to: server, with: transport).text == "hello") }
        #expect(server.connectionCount == 1)
    }

    @Test("A field whose name is as long as Content-Length or Transfer-Encoding does not frame the body")
    func otherFields() async throws {
        let transport = CurlTransport.another()
        let head = "HTTP/1.1 200 OK\r\nContent-Digest: x\r\nTiming-Allow-From: chunked\r\nContent-Length: 5\r\n\r\n"
        let server = try TestServer(response: [.text(head + "hello")])
        for _ in 0..<2 { #expect(try await TestCall().send(to: server, with: transport).text == "hello") }
        #expect(server.connectionCount == 1)
    }

    @Test("The length of a response that has no body is ignored", arguments: [204, 304])
    func noBody(status: Int) async throws {
        let server = try TestServer(response: [.text("HTTP/1.1 \(status) X\r\nContent-Length: 5\r\n\r\n")])
        #expect(try await TestCall().send(to: server, with: CurlTransport.another()).head.statusCode == status)
    }

    @Test("Chunks take precedence over a length, and the connection is not reused")
    func chunksAndLength() async throws {
        let transport = CurlTransport.another()
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Length": "3", "Transfer-Encoding": "chunked"]),
            .chunk(Data("hello".utf8)), .endChunks,
        ])
        for _ in 0..<2 { #expect(try await TestCall().send(to: server, with: transport).text == "hello") }
        #expect(server.connectionCount == 2)
    }

    static let destinations: [TransportRequest.Destination] = [
        .memory(), .file(FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString)")),
        .stream(buffer: 1 << 16),
    ]

    @Test("An endless head ends the call with an error that names the limit", arguments: destinations.indices)
    func endless(destination: Int) async throws {
        let ok = "HTTP/1.1 200 OK\r\n"
        let floods: [(start: String, piece: String)] = [
            (ok, "X-Flood: 0123456789\r\n"),
            ("", "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"),
            ("", "HTTP/1.1 100 Continue\r\n\r\n"),
            (ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n", "X-Flood: 0123456789\r\n"),
        ]
        for flood in floods {
            let server = try TestServer(response: [
                .text(flood.start),
                .generate(byteCount: 1 << 40, repeating: Data(String(repeating: flood.piece, count: 1000).utf8)),
            ])
            let call = TestCall(destination: Self.destinations[destination])
            let error = await #expect(throws: URLError.self) {
                let response = try await call.send(to: server, with: CurlTransport.another())
                if case .stream(let body) = response.body { for try await _ in body {} }
            }
            #expect(error?.code == .dataLengthExceedsMaximum)
            #expect(error?.localizedDescription.contains("262144") == true)
            let line = TargetKitError(stage: .transport, underlying: error).description
            #expect(line.contains("262144 bytes of CurlTransport's maxHeadSize"))
            await server.waitForConnections(closed: 1)
        }
    }

    @Test("The configured limit applies to the total of a response's heads and trailers")
    func limit() async throws {
        let early = "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let trailers = "X-Trailer: \(String(repeating: "x", count: 500))\r\n\r\n"
        let text = early + head + "2\r\nok\r\n0\r\n" + trailers
        let server = try TestServer(response: [.text(text)])
        let size = early.utf8.count + head.utf8.count + trailers.utf8.count
        let enough = transport(maxHeadSize: size)
        for _ in 0..<2 { #expect(try await TestCall().send(to: server, with: enough).text == "ok") }
        let code = await TestCall().failure(at: server.baseURL, with: transport(maxHeadSize: size - 3))
        #expect(code == .dataLengthExceedsMaximum)
    }

    @Test(
        "A line that is too long for libcurl ends the call with the same error",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Long: \(String(repeating: "x", count: 150_000))\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                + "X-Long: \(String(repeating: "x", count: 150_000))\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                + String(repeating: "X: \(String(repeating: "x", count: 1000))\r\n", count: 400) + "\r\nok",
        ]
    )
    func longLine(text: String) async throws {
        let server = try TestServer(response: [.text(text)])
        // More than libcurl's own limit.
        let error = await #expect(throws: URLError.self) {
            try await TestCall().send(to: server, with: transport(maxHeadSize: 8 << 20))
        }
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect(error?.localizedDescription.contains("head") == true)
    }
}
#endif
