// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// Which requests are repeated when a kept-alive connection closes, and data on an idle connection.
@Suite("CurlTransport: kept connections", .throttled, .timeLimit(.minutes(3)))
struct CurlRepeatTests {
    /// A server that closes a kept-alive connection at the second request without a response.
    private func closingServer() throws -> TestServer {
        try TestServer { $0.number == 0 ? .text("fine") : .close }
    }

    @Test("Any number of calls can find their kept-alive connection closed")
    func manyLostConnections() async throws {
        let server = try closingServer()
        let transport = CurlTransport.another()
        for number in 0..<40 {
            #expect(await TestCall().failure(at: server.baseURL, with: transport) == nil, "call \(number)")
        }
    }

    @Test("A call that finds its kept-alive connection closed does not try all others")
    func manyKeptConnections() async throws {
        let server = try closingServer()
        let transport = CurlTransport.another()
        for _ in 0..<3 {
            let codes = await withTaskGroup(of: URLError.Code?.self) { group in
                for _ in 0..<200 { group.addTask { await TestCall().failure(at: server.baseURL, with: transport) } }
                return await group.reduce(into: [URLError.Code?]()) { $0.append($1) }
            }
            #expect(codes.allSatisfy { $0 == nil })
        }
    }

    @Test("A server that closes after each response can answer any number of calls")
    func closedAfterEach() async throws {
        let server = try TestServer(response: [.text("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"), .close])
        let transport = CurlTransport.another()
        for number in 0..<40 {
            #expect(await TestCall().failure(at: server.baseURL, with: transport) == nil, "call \(number)")
        }
    }

    static let bodies: [TransportRequest.Body] = [
        .none, .data(Data("small".utf8)), .data(Data(count: 100_000)),
        .stream(CountingSource(byteCount: 20, length: nil)),
    ]

    @Test("A request that is not idempotent is sent once", arguments: ["POST", "PATCH", "LOCK"], bodies.indices)
    func sentOnce(method: String, body: Int) async throws {
        let server = try closingServer()
        let transport = CurlTransport.another()
        try await TestCall().send(to: server, with: transport)
        let call = TestCall(method: method, body: Self.bodies[body])
        #expect(await call.failure(at: server.baseURL, with: transport) == .networkConnectionLost)
        #expect(server.connectionCount == 1)
        // The handle is reused for a request that may be repeated.
        #expect(try await TestCall().send(to: server, with: transport).text == "fine")
        #expect(try await TestCall().send(to: server, with: transport).text == "fine")
    }

    @Test("A request that is idempotent is sent again", arguments: ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
    func sentAgain(method: String) async throws {
        let server = try closingServer()
        let transport = CurlTransport.another()
        try await TestCall().send(to: server, with: transport)
        let body: TransportRequest.Body = method == "PUT" ? .data(Data(count: 100_000)) : .none
        #expect(await TestCall(method: method, body: body).failure(at: server.baseURL, with: transport) == nil)
        #expect(server.requests.filter { $0.method.rawValue == method }.count == (method == "GET" ? 3 : 2))
    }

    @Test(
        "A request with an idempotency key is sent again, and so is a QUERY",
        arguments: [("POST", "7", true), ("PATCH", "7", true), ("POST", "", false), ("QUERY", nil, true)]
            as [(String, String?, Bool)]
    )
    func keyed(method: String, key: String?, isRepeated: Bool) async throws {
        let server = try closingServer()
        let transport = CurlTransport.another()
        try await TestCall().send(to: server, with: transport)
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        let call = TestCall(method: method, headers: headers, body: .data(Data("small".utf8)))
        let failure = await call.failure(at: server.baseURL, with: transport)
        #expect(failure == (isRepeated ? nil : .networkConnectionLost))
        #expect(server.requests.filter { $0.method.rawValue == method }.count == (isRepeated ? 2 : 1))
    }

    private static let fine = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"
    private static let fake = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake"

    static let surpluses: [(name: String, method: String, answer: String, surplus: [TestServer.Step])] = [
        ("a response", "GET", fine, [.text(fake)]),
        (
            "a response after chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            [.text(fake)]
        ),
        ("a response after no content", "GET", "HTTP/1.1 204 No Content\r\n\r\n", [.text(fake)]),
        ("a response after a head", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", [.text(fake)]),
        ("a response to a body", "POST", fine, [.text(fake)]),
        ("many bytes", "GET", fine, [.bytes(Data(count: 200_000))]),
        ("one byte", "GET", fine, [.text("\n")]),
        ("an end", "GET", fine, [.close]),
        ("an end after a byte", "GET", fine, [.text("x"), .close]),
        ("a reset", "GET", fine, [.reset]),
    ]

    @Test("A connection that receives data while it is idle is not reused", arguments: surpluses.indices)
    func surplus(index: Int) async throws {
        let (name, method, answer, surplus) = Self.surpluses[index]
        let gate = Gate()
        let server = try TestServer { request in
            request.path == "/first"
                ? TestServer.Response(steps: [.text(answer), .pause(until: gate)] + surplus) : .text("second")
        }
        let transport = CurlTransport.another()
        let body: TransportRequest.Body = method == "POST" ? .data(Data("x".utf8)) : .none
        _ = try await TestCall(path: "/first", method: method, body: body).send(to: server, with: transport)
        gate.open()
        await server.waitForResponses(1)
        for _ in 0..<3 {
            let call = TestCall(path: "/second", method: "POST", body: .data(Data("x".utf8)))
            #expect(try await call.send(to: server, with: transport).text == "second", "\(name)")
        }
        #expect(server.requestCount == 4, "\(name)")
        #expect(server.connectionCount == 2, "\(name)")
    }

    @Test("A connection that receives more data after it was discarded is not reused")
    func surplusInPieces() async throws {
        let gate = Gate()
        var options = TestServer.Options()
        options.toleratesHalfClose = true
        let server = try TestServer(options: options) { request in
            // The client has the time to discard the connection between the two.
            request.path == "/first"
                ? [.text(Self.fine), .pause(until: gate), .text("x"), .wait(for: .milliseconds(50)), .text("y")]
                : .text("second")
        }
        let transport = CurlTransport.another()
        _ = try await TestCall(path: "/first").send(to: server, with: transport)
        gate.open()
        await server.waitForConnections(closed: 1)
        let call = TestCall(path: "/second", method: "POST", body: .data(Data("x".utf8)))
        #expect(try await call.send(to: server, with: transport).text == "second")
    }

    @Test("Data that arrives together with a response is not the next response", arguments: ["GET", "HEAD"])
    func surplusAtOnce(method: String) async throws {
        let answer = method == "HEAD" ? "HTTP/1.1 204 No Content\r\n\r\n" : Self.fine
        let server = try TestServer { request in
            request.path == "/first" ? [.text(answer + Self.fake)] : .text("second")
        }
        let transport = CurlTransport.another()
        for _ in 0..<3 {
            _ = try await TestCall(path: "/first", method: method).send(to: server, with: transport)
            #expect(try await TestCall(path: "/second").send(to: server, with: transport).text == "second")
        }
    }

    @Test("A connection whose send buffer was full is kept alive and watched")
    func largeRequest() async throws {
        let gate = Gate()
        let server = try TestServer { request in
            request.path == "/last" ? [.text(Self.fine), .pause(until: gate), .text(Self.fake)] : .text("fine")
        }
        let transport = CurlTransport.another()
        // More than the kernel's buffers on both sides.
        let upload = TestCall(method: "POST", body: .data(Data(count: 32 << 20)))
        for _ in 0..<3 { #expect(try await upload.send(to: server, with: transport).text == "fine") }
        let last = TestCall(path: "/last", method: "POST", body: .data(Data(count: 32 << 20)))
        #expect(try await last.send(to: server, with: transport).text == "fine")
        #expect(server.connectionCount == 1)
        gate.open()
        await server.waitForResponses(4)
        #expect(try await TestCall().send(to: server, with: transport).text == "fine")
        #expect(server.connectionCount == 2)
    }

    @Test("A connection with a paused reader remains open when data arrives")
    func pausedReader() async throws {
        let server = try TestServer(response: .download(byteCount: 8 << 20, repeating: Data(count: 1 << 16)))
        let transport = CurlTransport.another()
        for _ in 0..<3 {
            let call = TestCall(destination: .stream(buffer: 1))
            guard case .stream(let body) = try await call.send(to: server, with: transport).body else {
                throw URLError(.cannotParseResponse)
            }
            // Unread until the kernel's buffers are full.
            await server.waitForBytes(sent: 1 << 20)
            var count = 0
            for try await piece in body { count += piece.count }
            #expect(count == 8 << 20)
        }
    }
}
#endif
