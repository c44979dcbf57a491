// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@Suite("LoopbackServer under load, and its end")
struct LoopbackServerLoadTests {
    @Test("5,000 connections are held at once, and each is seen to go", .timeLimit(.minutes(1)))
    func manyConnections() async throws {
        let server = try LoopbackServer(reply: .hang)
        var clients = try (0..<5_000).map { _ in try LoopbackClient(to: server) }
        for client in clients { try await client.send("GET / HTTP/1.1\r\n\r\n") }
        await server.waitForRequests(5_000)
        #expect(server.openConnectionCount == 5_000)
        clients.removeLast(2_000)
        await server.waitForConnections(closed: 2_000)
        #expect(server.openConnectionCount == 3_000)
        clients.removeAll()
        await server.waitForConnections(closed: 5_000)
        #expect(server.openConnectionCount == 0)
    }

    @Test("A large body is counted and digested without being kept", .timeLimit(.minutes(1)))
    func sink() async throws {
        var options = LoopbackOptions()
        options.storesBodies = false
        let server = try LoopbackServer(options: options, reply: .status(204))
        let client = try LoopbackClient(to: server)
        let size = 64 << 20
        var generator = SeededGenerator(seed: 1)
        let piece = Data((0..<65_537).map { _ in UInt8.random(in: 0...255, using: &generator) })
        try await client.send("POST / HTTP/1.1\r\nContent-Length: \(size)\r\n\r\n")
        var expected = BodyDigest()
        var left = size
        while left > 0 {
            let part = piece.prefix(left)
            expected.update(part)
            try await client.send(part)
            left -= part.count
        }
        let request = try await server.request(at: 0)
        #expect(request.bodyByteCount == Int64(size))
        #expect(request.body.isEmpty)
        #expect(request.bodyDigest == expected)
    }

    @Test("A made body waits for the client and arrives whole", .timeLimit(.minutes(1)))
    func backPressure() async throws {
        var options = LoopbackOptions()
        options.sendBufferSize = 64 << 10
        let size: Int64 = 64 << 20
        let piece = Data((0..<65_537).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let made = Tally()
        let server = try LoopbackServer(
            options: options,
            reply: [
                .head(status: 200, headers: ["Content-Length": "\(size)"]),
                .generate(byteCount: size) { offset in
                    let rest = piece.dropFirst(Int(offset % Int64(piece.count)))
                    made.add(rest.count)
                    return rest
                },
            ]
        )
        let client = try LoopbackClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        _ = try await client.receive(through: "\r\n\r\n")
        var digest = BodyDigest()
        while digest.byteCount < size {
            let part = try await client.receive(min(1 << 20, Int(size - digest.byteCount)))
            try #require(!part.isEmpty)
            digest.update(part)
            // The kernel takes a few MiB at most of what nobody has read.
            #expect(made.value < digest.byteCount + 16 << 20)
        }
        var expected = BodyDigest()
        while expected.byteCount < size { expected.update(piece.prefix(Int(size - expected.byteCount))) }
        #expect(digest == expected)
    }

    @Test("A digest does not depend on how the bytes were cut, but on each of them", arguments: [1, 3, 7, 8, 9, 64])
    func digest(size: Int) {
        let data = Data((0..<1_001).map { UInt8(truncatingIfNeeded: $0) })
        var cut = BodyDigest()
        for start in stride(from: 0, to: data.count, by: size) {
            cut.update(data[start..<min(start + size, data.count)])
        }
        #expect(cut == BodyDigest(of: data))
        var changed = data
        changed[500] ^= 1
        #expect(BodyDigest(of: changed) != cut)
        changed = data
        changed.swapAt(8, 16)
        #expect(BodyDigest(of: changed) != cut)
        #expect(BodyDigest(of: data + [0]) != cut)
    }

    @Test("When the client goes, the answer under way is cancelled", .timeLimit(.minutes(1)))
    func clientGoes() async throws {
        let started = Expectation()
        let cancelled = Expectation()
        let server = try LoopbackServer { _ in
            started.fulfill()
            do { try await Gate().waitUnlessCancelled() } catch { cancelled.fulfill() }
            return .hang
        }
        let client = try LoopbackClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        await started.wait()
        client.disconnect()
        await cancelled.wait()
        #expect(cancelled.fulfilledCount == 1)
        await server.waitForConnections(closed: 1)
        #expect(server.openConnectionCount == 0)
    }

    @Test("While reading is stopped a client's end is seen all the same", .timeLimit(.minutes(1)))
    func stoppedReading() async throws {
        var options = LoopbackOptions()
        options.onConnect = { _ in [.stopReading, .hang] }
        let server = try LoopbackServer(options: options, reply: .hang)
        let client = try LoopbackClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        client.disconnect()
        await server.waitForConnections(closed: 1)
        #expect(server.closedConnectionCount == 1)
        #expect(server.bytesReceived == 0)
    }

    @Test("A half-closed client gets its answer where the server is told so", .timeLimit(.minutes(1)))
    func halfClose() async throws {
        var options = LoopbackOptions()
        options.toleratesHalfClose = true
        let server = try LoopbackServer(options: options, reply: .text("late"))
        let client = try LoopbackClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        client.finishSending()
        #expect(try await client.receiveAll().hasSuffix("late"))
    }

    @Test("Idle connections can be closed from the test", .timeLimit(.minutes(1)))
    func closeConnections() async throws {
        let server = try LoopbackServer(reply: .status(204))
        let client = try LoopbackClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        _ = try await client.receive(through: "\r\n\r\n")
        server.closeConnections()
        #expect(try await client.receiveAll() == "")
        let next = try LoopbackClient(to: server)
        try await next.send("GET / HTTP/1.1\r\n\r\n")
        await server.waitForReplies(2)
        server.closeConnections(reset: true)
        await #expect(throws: LoopbackError(call: "recv", code: ECONNRESET)) { try await next.receive(10_000) }
    }

    @Test("Stopping ends connections, the listener and everybody who waits", .timeLimit(.minutes(1)))
    func stop() async throws {
        let server = try LoopbackServer(reply: .hang)
        let client = try LoopbackClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        await server.waitForRequests(1)
        let waiting = Task { try await server.request(at: 5) }
        server.stop()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(try await client.receiveAll() == "")
        #expect(server.openConnectionCount == 0)
        #expect(throws: LoopbackError(call: "connect", code: ECONNREFUSED)) { try LoopbackClient(to: server) }
        server.stop()
    }

    @Test("A server that is let go of stops", .timeLimit(.minutes(1)))
    func release() async throws {
        var server: LoopbackServer? = try LoopbackServer(reply: .hang)
        let client = try LoopbackClient(port: #require(server?.port))
        server = nil
        #expect(try await client.receiveAll() == "")
    }

    @Test("A server listens on IPv6 and on a Unix-domain socket too", .timeLimit(.minutes(1)))
    func addresses() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tk-\(UUID().uuidString).sock").path
        for address in [LoopbackAddress.ipv6, .unix(path: path)] {
            var options = LoopbackOptions()
            options.address = address
            let server = try LoopbackServer(options: options, reply: .text("hi"))
            let client = try LoopbackClient(to: server)
            try await client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try await client.receive(through: "hi").hasPrefix("HTTP/1.1 200 OK\r\n"))
            server.stop()
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A closed port refuses, and availability is told by connecting")
    func availability() throws {
        let closed = try ClosedPort()
        #expect(throws: LoopbackError(call: "connect", code: ECONNREFUSED)) { try LoopbackClient(port: closed.port) }
        #expect(!ServerAvailability("none", variable: "NONE", baseURL: closed.baseURL).isRunning)
        let server = try LoopbackServer(reply: .status(204))
        #expect(ServerAvailability("some", variable: "SOME", baseURL: server.baseURL).isRunning)
    }
}
