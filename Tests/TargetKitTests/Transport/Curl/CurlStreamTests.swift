// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// Bodies that are read as they come.
@Suite("CurlTransport: streams and progress", .throttled, .timeLimit(.minutes(3)))
struct CurlStreamTests {
    private func open(
        _ server: TestServer,
        buffer: Int = 64 << 10,
        with transport: CurlTransport = .patient
    ) async throws -> (TransportResponse, ResponseBody) {
        let response = try await TestCall(destination: .stream(buffer: buffer)).send(to: server, with: transport)
        guard case .stream(let body) = response.body else { throw URLError(.cannotParseResponse) }
        return (response, body)
    }

    @Test("The response is returned after its head, and the body follows in pieces")
    func pieces() async throws {
        let gate = Gate()
        let server = try TestServer(response: [
            .head(status: 201, headers: ["Content-Length": "6"]), .pause(until: gate), .text("abc"), .wait(for: .zero),
            .text("def"),
        ])
        let (response, body) = try await open(server)
        #expect(response.head.statusCode == 201)
        #expect(response.head.headers["Content-Length"] == "6")
        gate.open()
        var received = Data()
        var iterator = body.makeAsyncIterator()
        while let piece = try await iterator.next() { received.append(piece) }
        #expect(received == Data("abcdef".utf8))
        #expect(try await iterator.next() == nil)
    }

    @Test("A slow reader slows down the server", arguments: [1, 64 << 10, 1 << 20])
    func backPressure(buffer: Int) async throws {
        let size: Int64 = 32 << 20
        let piece = Data((0..<65_537).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let server = try TestServer(response: .download(byteCount: size, repeating: piece))
        let (_, body) = try await open(server, buffer: buffer)
        var digest = BodyDigest()
        for try await piece in body {
            digest.update(piece)
            // What the kernel holds on both sides, and the buffer.
            #expect(Int64(server.bytesSent) < digest.byteCount + 16 << 20)
        }
        var expected = BodyDigest()
        while expected.byteCount < size { expected.update(piece.prefix(Int(size - expected.byteCount))) }
        #expect(digest == expected)
    }

    @Test("Releasing the body ends the exchange")
    func letGo() async throws {
        let server = try TestServer(response: .download(byteCount: 1 << 40, repeating: Data(count: 65_536)))
        do {
            let (_, body) = try await open(server)
            var iterator = body.makeAsyncIterator()
            #expect(try await iterator.next()?.isEmpty == false)
        }
        await server.waitForConnections(closed: 1)
        #expect(server.openConnectionCount == 0)
    }

    @Test("Cancelling the reading task ends the exchange")
    func cancelReading() async throws {
        let server = try TestServer(response: [.head(status: 200), .hang])
        let (_, body) = try await open(server)
        let task = Task {
            do {
                for try await _ in body {}
                return URLError.Code?.none
            } catch { return (error as? URLError)?.code }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
        await server.waitForConnections(closed: 1)
    }

    @Test("An incomplete body throws after the received pieces")
    func breaksOff() async throws {
        let server = try TestServer(response: .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"))
        let (_, body) = try await open(server)
        var received = Data()
        let error = await #expect(throws: URLError.self) {
            for try await piece in body { received.append(piece) }
        }
        #expect(error?.code == .networkConnectionLost)
        #expect(received == Data("ab".utf8))
    }

    @Test("A failure before the head is thrown by send")
    func beforeHead() async throws {
        let server = try TestServer(response: .close)
        let call = TestCall(destination: .stream(buffer: 1))
        #expect(await call.failure(at: server.baseURL, with: CurlTransport.patient) == .networkConnectionLost)
    }

    @Test("A compressed body is decoded as it is streamed, and an empty one ends immediately")
    func decoded() async throws {
        let server = try TestServer { request in
            request.index == 0
                ? TestServer.Response(headers: ["Content-Encoding": "gzip"], body: Gzip.zeros) : .status(204)
        }
        var count = 0
        let transport = CurlTransport.another()
        for try await piece in try await open(server, buffer: 1, with: transport).1 { count += piece.count }
        #expect(count == 100_000)
        for try await _ in try await open(server, with: transport).1 { count += 1 }
        #expect(count == 100_000)
    }

    @Test("A released transport serves its readers to the end")
    func transportGoes() async throws {
        let gate = Gate()
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Length": "3"]), .pause(until: gate), .text("abc"),
        ])
        let (_, body) = try await open(server, with: CurlTransport.another())
        gate.open()
        var received = Data()
        for try await piece in body { received.append(piece) }
        #expect(received == Data("abc".utf8))
        await server.waitForConnections(closed: 1)
    }

    @Test("shutdown() breaks off the bodies that are read")
    func shutdown() async throws {
        let server = try TestServer(response: [.head(status: 200), .hang])
        let transport = CurlTransport.another()
        let (_, body) = try await open(server, with: transport)
        transport.shutdown()
        let error = await #expect(throws: URLError.self) { for try await _ in body {} }
        #expect(error?.code == .cancelled)
    }

    @Test("The last report of each direction precedes the response, and is complete", arguments: [0, 10, 5 << 20])
    func progress(size: Int) async throws {
        let server = try TestServer(response: TestServer.Response(body: Data(count: size)))
        let reports = Recorder<TransferProgress>()
        let call = TestCall(method: "POST", body: .data(Data(count: size)), progress: { reports.append($0) })
        try await call.send(to: server, with: CurlTransport.patient)
        for direction in [TransferProgress.Direction.upload, .download] {
            let own = reports.elements.filter { $0.direction == direction }
            let end = TransferProgress(completed: Int64(size), total: Int64(size), direction: direction)
            #expect(own.last == end)
            #expect(own.map(\.completed) == own.map(\.completed).sorted())
        }
    }

    @Test("Without a request body there is no report of an upload")
    func noUpload() async throws {
        let server = try TestServer(response: .text("abc"))
        let reports = Recorder<TransferProgress>()
        try await TestCall(progress: { reports.append($0) }).send(to: server, with: CurlTransport.patient)
        #expect(reports.elements.allSatisfy { $0.direction == .download })
        #expect(reports.elements.last?.fraction == 1)
    }

    @Test("A slow progress handler does not delay other calls")
    func slowListener() async throws {
        let server = try TestServer(response: .text("abc"))
        let transport = CurlTransport.another()
        let listening = Expectation()
        let block = DispatchSemaphore(value: 0)
        let slow = TestCall(progress: { _ in
            listening.fulfill()
            block.wait()
            block.signal()
        })
        async let held = slow.send(to: server, with: transport).text
        await listening.wait()
        #expect(try await TestCall().send(to: server, with: transport).text == "abc")
        block.signal()
        #expect(try await held == "abc")
    }
}
#endif
