// SPDX-License-Identifier: MIT

import Foundation
import TargetKitTesting
import TestSupport
import Testing

@Suite("TestServer: load", .throttled)
struct TestServerLoadTests {
    @Test("A server holds 5,000 connections, and notices when each is closed", .timeLimit(.minutes(5)))
    func manyConnections() async throws {
        let server = try TestServer(response: .hang)
        var clients = try (0..<5_000).map { _ in try SocketClient(to: server) }
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

    @Test("A large body is counted and digested without being kept", .timeLimit(.minutes(5)))
    func sink() async throws {
        var options = TestServer.Options()
        options.storesBodies = false
        let server = try TestServer(options: options, response: .status(204))
        let client = try SocketClient(to: server)
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

    @Test("A generated body waits for the client, and arrives completely", .timeLimit(.minutes(5)))
    func backPressure() async throws {
        var options = TestServer.Options()
        options.bufferSize = 64 << 10
        let size: Int64 = 64 << 20
        let piece = Data((0..<65_537).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let made = Tally()
        let server = try TestServer(
            options: options,
            response: [
                .head(status: 200, headers: ["Content-Length": "\(size)"]),
                .generate(byteCount: size) { offset in
                    let rest = piece.dropFirst(Int(offset % Int64(piece.count)))
                    made.add(rest.count)
                    return rest
                },
            ]
        )
        let client = try SocketClient(to: server)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        _ = try await client.receive(through: "\r\n\r\n")
        var digest = BodyDigest()
        while digest.byteCount < size {
            let part = try await client.receive(min(1 << 20, Int(size - digest.byteCount)))
            try #require(!part.isEmpty)
            digest.update(part)
            // The kernel accepts a few MiB more than the client has read.
            #expect(made.value < digest.byteCount + 16 << 20)
        }
        var expected = BodyDigest()
        while expected.byteCount < size { expected.update(piece.prefix(Int(size - expected.byteCount))) }
        #expect(digest == expected)
    }

    @Test("A digest depends on each byte, and not on the pieces", arguments: [1, 3, 7, 8, 9, 64])
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
}
