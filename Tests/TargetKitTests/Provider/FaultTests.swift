// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// Servers that misbehave, byte by byte, as a caller of the provider sees them.
@Suite("Faults", .throttled, .timeLimit(.minutes(2)))
struct FaultTests {
    /// What a call to a misbehaving server has to end with.
    enum Ending: Sendable {
        case failure(TargetKitError.Kind, URLError.Code)
        case response(Int, String)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        var reply: TestServer.Response
        var ending: Ending
        var change: @Sendable (inout TestTarget) -> Void = { _ in }
        var options = TestServer.Options()

        var testDescription: String { name }
    }

    private static let lost = Ending.failure(.connectionLost, .networkConnectionLost)
    private static let garbled = Ending.failure(.connectionLost, .badServerResponse)
    private static let unreadable = Ending.failure(.connectionLost, .cannotParseResponse)
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

    static let breaks: [Fault] = [
        Fault(name: "closed without a byte", reply: .close, ending: lost),
        Fault(name: "reset without a byte", reply: .reset, ending: lost),
        Fault(name: "closed in the status line", reply: .raw("HTTP/1.1 20"), ending: lost),
        Fault(name: "closed after the status line", reply: .raw(ok), ending: lost),
        Fault(name: "closed in a field's name", reply: .raw(ok + "Content-Le"), ending: lost),
        Fault(name: "closed in a field's value", reply: .raw(ok + "X-A: b"), ending: lost),
        Fault(name: "closed before the blank line", reply: .raw(ok + "Content-Length: 5\r\n"), ending: lost),
        Fault(name: "reset in the head", reply: [.text(ok + "A: "), .wait(for: .zero), .reset], ending: lost),
        Fault(name: "closed after 100", reply: .raw("HTTP/1.1 100 Continue\r\n\r\n"), ending: lost),
        Fault(name: "closed after 103", reply: .raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), ending: lost),
        Fault(name: "closed before the body", reply: .raw(ok + "Content-Length: 5\r\n\r\n"), ending: lost),
        Fault(name: "closed in the body", reply: .raw(ok + "Content-Length: 5\r\n\r\nab"), ending: lost),
        Fault(
            name: "reset in the body",
            reply: [.text(ok + "Content-Length: 5\r\n\r\nab"), .wait(for: .zero), .reset],
            ending: lost
        ),
        Fault(name: "closed in a chunk's size", reply: .raw(chunked + "5"), ending: lost),
        Fault(name: "closed in a chunk", reply: .raw(chunked + "5\r\nab"), ending: lost),
        Fault(name: "no last chunk", reply: .raw(chunked + "2\r\nab\r\n"), ending: lost),
        Fault(name: "closed in the trailers", reply: .raw(chunked + "2\r\nab\r\n0\r\nX-T: 1\r\n"), ending: lost),
        Fault(name: "a chunk's size is no number", reply: .raw(chunked + "xy\r\nab"), ending: unreadable),
        Fault(name: "a chunk's size is negative", reply: .raw(chunked + "-1\r\nab"), ending: unreadable),
        Fault(
            name: "a chunk's size is over 64 bits",
            reply: .raw(chunked + "FFFFFFFFFFFFFFFFFF\r\na"),
            ending: unreadable
        ),
        Fault(name: "no line break after a chunk", reply: .raw(chunked + "2\r\nabXX0\r\n\r\n"), ending: unreadable),
        Fault(name: "garbage", reply: .raw("garbage\r\n\r\n"), ending: garbled),
        Fault(name: "another protocol", reply: .raw("SSH-2.0-OpenSSH_9.2\r\n"), ending: garbled),
        Fault(name: "the status is no number", reply: .raw("HTTP/1.1 abc OK\r\n\r\n"), ending: garbled),
        Fault(
            name: "a flood of fields",
            reply: .raw(ok + String(repeating: "X-Flood: 0123456789\r\n", count: 20_000) + "\r\n"),
            ending: .failure(.tooLarge, .dataLengthExceedsMaximum)
        ),
        Fault(
            name: "gzip that is none",
            reply: TestServer.Response(headers: ["Content-Encoding": "gzip"], body: Data("no gzip".utf8)),
            ending: .failure(.connectionLost, .cannotDecodeContentData)
        ),
        Fault(
            name: "a body over the limit, as announced",
            reply: TestServer.Response(body: Data(count: 2000)),
            ending: .failure(.tooLarge, .dataLengthExceedsMaximum),
            change: { $0.task = .plain.limit(bytes: 1000) }
        ),
        Fault(
            name: "a body over the limit, in chunks",
            reply: .raw(chunked + "7d0\r\n" + String(repeating: "x", count: 2000) + "\r\n0\r\n\r\n"),
            ending: .failure(.tooLarge, .dataLengthExceedsMaximum),
            change: { $0.task = .plain.limit(bytes: 1000) }
        ),
        Fault(
            name: "a gzip bomb",
            reply: TestServer.Response(headers: ["Content-Encoding": "gzip"], body: bomb),
            ending: .failure(.tooLarge, .dataLengthExceedsMaximum),
            change: { $0.task = .plain.limit(bytes: 100_000) }
        ),
    ]

    static let waits: [Fault] = [
        ("before the head", TestServer.Response.hang), ("in the head", [.text(ok + "X-A:"), .hang]),
        ("after the head", [.head(status: 200, headers: ["Content-Length": "5"]), .hang]),
        ("in the body", [.head(status: 200, headers: ["Content-Length": "5"]), .text("ab"), .hang]),
        ("after 100", [.text("HTTP/1.1 100 Continue\r\n\r\n"), .hang]),
        ("between chunks", [.text(chunked + "2\r\nab\r\n"), .hang]),
        (
            "in drips that never stop",
            [
                .head(status: 200, headers: ["Content-Length": "1000"]),
                .drip(Data(count: 1000), chunkSize: 1, every: .milliseconds(20)),
            ]
        ),
    ].map { name, reply in
        Fault(name: "a wait " + name, reply: reply, ending: .failure(.timedOut, .timedOut)) {
            $0.options.timeout = .exchange(.milliseconds(120))
        }
    }

    static let redirects: [Fault] = [
        ("in circles", "/fault", URLError.Code.httpTooManyRedirects),
        ("to no URL", "http://", .redirectToNonExistentLocation),
        ("to another scheme", "file:///etc/passwd", .redirectToNonExistentLocation),
    ].map { name, location, code in
        Fault(name: "redirects " + name, reply: .redirect(to: location), ending: .failure(.badRedirect, code))
    }

    /// What looks wrong and is allowed, or has a meaning all the same.
    static let oddities: [Fault] = [
        Fault(
            name: "no reason phrase",
            reply: .raw("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"),
            ending: .response(200, "ok")
        ),
        Fault(
            name: "103, then the answer",
            reply: .raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            ending: .response(200, "ok")
        ),
        Fault(
            name: "100 that nobody asked for, then the answer",
            reply: .raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 2\r\n\r\nok"),
            ending: .response(201, "ok")
        ),
        Fault(
            name: "a status of no class",
            reply: .raw("HTTP/1.1 599 X\r\nContent-Length: 1\r\n\r\nx"),
            ending: .response(599, "x")
        ),
        Fault(
            name: "a body up to the close",
            reply: .raw("HTTP/1.1 200 OK\r\n\r\nto the end"),
            ending: .response(200, "to the end")
        ),
        Fault(name: "HTTP/1.0", reply: .raw("HTTP/1.0 200 OK\r\n\r\nold"), ending: .response(200, "old")),
        Fault(
            name: "an extension of a chunk",
            reply: .raw(chunked + "2;a=b\r\nab\r\n0\r\n\r\n"),
            ending: .response(200, "ab")
        ),
        Fault(
            name: "413 before the body has gone out",
            reply: .status(500),
            ending: .response(413, "no"),
            change: {
                $0.method = .post
                $0.task = .data(Data(count: 4 << 20))
            },
            options: earlyRefusal
        ),
    ]

    @Test(
        "Each has its stage, its kind and its code, and the next call on the same transport works",
        arguments: breaks + waits + redirects + oddities
    )
    func fault(_ fault: Fault) async throws {
        let transport = CurlTransport.another()
        let provider = Provider<TestTarget>(transport: transport)
        let server = try TestServer(options: fault.options) { $0.path == "/fault" ? fault.reply : .text("fine") }
        var target = TestTarget(server.baseURL).with { $0.path = "/fault" }
        fault.change(&target)
        let call = target
        let result = await Result { try await provider.request(call) }
        switch fault.ending {
        case .response(let status, let text):
            let response = try result.get()
            #expect(response.statusCode == status)
            #expect(response.data == Data(text.utf8))
        case .failure(let kind, let code):
            let error = try #require(result.failure as? TargetKitError)
            #expect(error.stage == .transport)
            #expect(error.kind == kind)
            #expect((error.underlying as? URLError)?.code == code)
        }
        let next = try await provider.request(TestTarget(server.baseURL))
        #expect(next.data == Data("fine".utf8))
        #expect(provider.scope.inFlightCount == 0)
    }

    @Test(
        "A host that cannot be reached has its kind and its code",
        arguments: [
            ("http://host.invalid", TargetKitError.Kind.cannotConnect, URLError.Code.cannotFindHost),
            ("closed", .cannotConnect, .cannotConnectToHost), ("closed-ipv6", .cannotConnect, .cannotConnectToHost),
        ]
    )
    func unreachable(address: String, kind: TargetKitError.Kind, code: URLError.Code) async throws {
        let port = try ClosedPort(address == "closed-ipv6" ? .ipv6 : .ipv4)
        let base = address.hasPrefix("closed") ? port.baseURL : try #require(URL(string: address))
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: CurlTransport.another()).request(TestTarget(base))
        }
        withExtendedLifetime(port) {}
        #expect(error.stage == .transport)
        #expect(error.kind == kind)
        #expect((error.underlying as? URLError)?.code == code)
    }

    @Test("A connection that the server closed while it was idle costs no call")
    func keepAliveGap() async throws {
        let provider = Provider<TestTarget>(transport: CurlTransport.another())
        let server = try TestServer { _ in .text("fine") }
        for round in 1...3 {
            let target = TestTarget(server.baseURL).with {
                $0.method = .post
                $0.task = .json(["round": round])
            }
            #expect(try await provider.request(target).data == Data("fine".utf8))
            server.closeConnections()
            await server.waitForConnections(closed: round)
        }
        #expect(server.requestCount == 3)
        #expect(server.requests.map(\.text) == (1...3).map { #"{"round":\#($0)}"# })
    }

    private static let earlyRefusal: TestServer.Options = {
        var options = TestServer.Options()
        options.onHead = { request in
            request.path == "/fault"
                ? .response([.head(status: 413, headers: ["Content-Length": "2"]), .text("no"), .halfClose]) : .readBody
        }
        return options
    }()

    /// 1 MiB of zeros in 1.1 kB: deflate's stored form would not do, so it is made of one repeated block (RFC 1951
    /// §3.2.6).
    private static let bomb: Data = {
        // A gzip member (RFC 1952) whose deflate stream is: literal 0, then matches of length 258 at distance 1.
        var bits = BitWriter()
        bits.write(0b1, count: 1)
        bits.write(0b01, count: 2)
        bits.writeHuffman(0x30, count: 8)
        for _ in 0..<4096 {
            bits.writeHuffman(0b1100_0101, count: 8)
            bits.writeHuffman(0, count: 5)
        }
        bits.writeHuffman(0, count: 7)
        let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        return Data(head + bits.bytes + Array(repeating: 0, count: 8))
    }()

    private struct BitWriter {
        var bytes: [UInt8] = []
        private var free = 0

        mutating func write(_ value: UInt, count: Int) {
            for bit in 0..<count { append(value >> UInt(bit) & 1 == 1) }
        }

        /// Huffman codes go out highest bit first (RFC 1951 §3.1.1).
        mutating func writeHuffman(_ code: UInt, count: Int) {
            for bit in (0..<count).reversed() { append(code >> UInt(bit) & 1 == 1) }
        }

        private mutating func append(_ bit: Bool) {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            if bit { bytes[bytes.count - 1] |= 1 << UInt8(8 - free) }
            free -= 1
        }
    }
}
#endif
