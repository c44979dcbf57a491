// SPDX-License-Identifier: MIT

import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("TestServer: connections", .throttled)
struct TestServerLifeTests {
    @Test("Each request gets the next reply of a sequence, and the last one is repeated", .timeLimit(.minutes(3)))
    func replies() async throws {
        let server = try TestServer(response: .sequence(.status(503), .text("a"), .text("b")))
        let client = try SocketClient(to: server)
        for (number, end) in ["0\r\n\r\n", "\r\n\r\na", "\r\n\r\nb", "\r\n\r\nb"].enumerated() {
            try await client.send("GET /\(number) HTTP/1.1\r\n\r\n")
            #expect(try await client.receive(through: end).hasPrefix("HTTP/1.1 \(number == 0 ? 503 : 200) "))
        }
    }

    @Test("After a half close, the client can continue to send, and its bytes are discarded", .timeLimit(.minutes(3)))
    func halfCloseStep() async throws {
        let server = try TestServer(response: [.text("bye"), .halfClose])
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.receiveAll() == "bye")
        #expect(server.openConnectionCount == 1)
        let before = server.bytesReceived
        try await client.send("GET /more HTTP/1.1\r\n\r\n")
        await server.waitForBytes(received: before + 22)
        #expect(server.requestCount == 1)
        client.finishSending()
        await server.waitForConnections(closed: 1)
        #expect(server.openConnectionCount == 0)
    }

    @Test("A response with Connection: close ends the connection", .timeLimit(.minutes(3)))
    func closingHead() async throws {
        let server = try TestServer(response: .text("x", headers: ["Connection": "Close"]))
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.receiveAll().hasSuffix("\r\n\r\nx"))
        await server.waitForResponses(1)
    }

    @Test("A server that does not keep requests still counts them", .timeLimit(.minutes(3)))
    func unrecorded() async throws {
        var options = TestServer.Options()
        options.recordsRequests = false
        let server = try TestServer(options: options, response: .status(204))
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n")
        await server.waitForResponses(2)
        #expect(server.requestCount == 2)
        #expect(server.requests.isEmpty)
        await #expect(throws: CancellationError.self) { try await server.request(at: 0) }
    }

    @Test("Waiting for a request can be cancelled", .timeLimit(.minutes(3)))
    func cancelledWait() async throws {
        let server = try TestServer(response: .hang)
        let waiting = Task { try await server.request(at: 0) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("The closure of a reply is cancelled when the client closes the connection", .timeLimit(.minutes(3)))
    func clientGoes() async throws {
        let started = Expectation()
        let cancelled = Expectation()
        let server = try TestServer { _ in
            started.fulfill()
            do { try await Gate().waitUnlessCancelled() } catch { cancelled.fulfill() }
            return .hang
        }
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        await started.wait()
        client.disconnect()
        await cancelled.wait()
        #expect(cancelled.fulfilledCount == 1)
        await server.waitForConnections(closed: 1)
        #expect(server.openConnectionCount == 0)
    }

    @Test(
        "The server notices that a client has closed the connection even if it does not read",
        .timeLimit(.minutes(3))
    )
    func stoppedReading() async throws {
        var options = TestServer.Options()
        options.onConnect = { _ in [.stopReading, .hang] }
        let server = try TestServer(options: options, response: .hang)
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        client.disconnect()
        await server.waitForConnections(closed: 1)
        #expect(server.closedConnectionCount == 1)
        #expect(server.bytesReceived == 0)
    }

    @Test("A client that has closed its half gets its response if the option is set", .timeLimit(.minutes(3)))
    func halfClose() async throws {
        var options = TestServer.Options()
        options.toleratesHalfClose = true
        let server = try TestServer(options: options, response: .text("late"))
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        client.finishSending()
        #expect(try await client.receiveAll().hasSuffix("late"))
    }

    @Test("A test can close and reset idle connections", .timeLimit(.minutes(3)))
    func closeConnections() async throws {
        let server = try TestServer(response: .status(204))
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        _ = try await client.receive(through: "\r\n\r\n")
        server.closeConnections()
        #expect(try await client.receiveAll() == "")
        let next = try SocketClient(to: server)
        try await next.send("GET / HTTP/1.1\r\n\r\n")
        await server.waitForResponses(2)
        server.closeConnections(reset: true)
        await #expect(throws: SocketError(call: "recv", code: ECONNRESET)) { try await next.receive(10_000) }
    }

    @Test("Stopping closes all connections and the listener, and resumes waiting tasks", .timeLimit(.minutes(3)))
    func stop() async throws {
        let server = try TestServer(response: .hang)
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        await server.waitForRequests(1)
        let waiting = Task { try await server.request(at: 5) }
        server.stop()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(try await client.receiveAll() == "")
        #expect(server.openConnectionCount == 0)
        #expect(throws: SocketError(call: "connect", code: ECONNREFUSED)) { try SocketClient(to: server) }
        server.stop()
    }

    @Test("A released server stops", .timeLimit(.minutes(3)))
    func release() async throws {
        var server: TestServer? = try TestServer(response: .hang)
        let client = try SocketClient(port: #require(server?.port))
        server = nil
        #expect(try await client.receiveAll() == "")
    }

    @Test("A server can listen on IPv6 and on a Unix domain socket", .timeLimit(.minutes(3)))
    func addresses() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tk-\(UUID().uuidString).sock").path
        for address in [TestServer.Address.ipv6, .unix(path: path)] {
            var options = TestServer.Options()
            options.address = address
            let server = try TestServer(options: options, response: .text("hi"))
            let client = try SocketClient(to: server)
            try await client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try await client.receive(through: "hi").hasPrefix("HTTP/1.1 200 OK\r\n"))
            server.stop()
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A closed port refuses connections, and a server is available if it accepts one")
    func availability() throws {
        let closed = try ClosedPort()
        #expect(throws: SocketError(call: "connect", code: ECONNREFUSED)) { try SocketClient(port: closed.port) }
        #expect(!ServerAvailability("none", variable: "NONE", baseURL: closed.baseURL).isRunning)
        let server = try TestServer(response: .status(204))
        #expect(ServerAvailability("some", variable: "SOME", baseURL: server.baseURL).isRunning)
    }

    private final class Stopper: Sendable {
        private let server = Locked<TestServer?>(nil)

        func hold(_ server: TestServer) { self.server.withLock { $0 = server } }

        func stop() {
            let server = self.server.withLock { server in
                defer { server = nil }
                return server
            }
            server?.stop()
        }
    }

    @Test("A closure of a pattern can stop the server on whose thread it runs", .timeLimit(.minutes(1)))
    func stopInClosure() async throws {
        let stopper = Stopper()
        let stopping = RequestPattern.any.with(
            .satisfying("stops") { _ in
                stopper.stop()
                return true
            }
        )
        let server = try TestServer(routes: [stopping: .status(200)])
        stopper.hold(server)
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        await server.waitForConnections(closed: 1)
        server.stop()
        #expect(server.closedConnectionCount == 1)
    }

    @Test("No textual form of a request shows its secrets", .timeLimit(.minutes(1)))
    func textualForms() async throws {
        let forms = Locked<[String]>([])
        let server = try TestServer { request in
            forms.withLock { $0 = TextualForms(of: request).forms(holding: "hunter2") + ["\(request)"] }
            return .status(200)
        }
        let client = try SocketClient(to: server)
        try await client.send(
            "POST /x?token=hunter2 HTTP/1.1\r\nX-Api-Key: hunter2\r\nContent-Length: 7\r\n\r\nhunter2"
        )
        _ = try await client.receive(through: "\r\n\r\n")
        #expect(forms.withLock { $0 } == ["POST /x?token=<redacted>, 7 bytes"])
    }
}
