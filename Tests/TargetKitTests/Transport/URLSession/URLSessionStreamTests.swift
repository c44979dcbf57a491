// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Bodies that are read as they come, over URLSession; on Linux by a switch that is not for callers.
@Suite("URLSessionTransport: streams", .throttled, .timeLimit(.minutes(3)))
struct URLSessionStreamTests {
    #if canImport(FoundationNetworking)
    private static let switched = URLSessionStreaming.unbounded
    #else
    private static let switched = URLSessionStreaming.paced
    #endif

    private let transport = URLSessionTransport(streaming: switched)
    private let json: HTTPHeaders = ["Content-Type": "application/json"]

    @Test("Lines are read at the end of a redirect that has a body of its own")
    func linesAfterRedirect() async throws {
        let server = try TestServer { request in
            request.path == "/lines"
                ? .json("one\ntwo\nthree") : .text("moved", status: 302, headers: ["Location": "/lines"])
        }
        let provider = Provider<TestTarget>(transport: transport)
        let stream = try await provider.stream(TestTarget(server.baseURL))
        #expect(stream.response.redirects.count == 1)
        var lines: [String] = []
        for try await line in stream.lines() { lines.append(line) }
        #expect(lines == ["one", "two", "three"])
        #expect(server.requestCount == 2)
    }

    @Test("A line is delivered while its stream continues, and leaving the loop ends the exchange")
    func line() async throws {
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Type": "text/event-stream"]), .text("data: a\n\n"), .hang,
        ])
        do {
            let stream = try await Provider<TestTarget>(transport: transport).stream(TestTarget(server.baseURL))
            var iterator = stream.lines().makeAsyncIterator()
            #expect(try await iterator.next() == "data: a")
        }
        await server.waitForConnections(closed: 1)
    }

    @Test("A body that had to be sent again on another connection is answered with one stream")
    func sentAgain() async throws {
        let server = try TestServer { $0.connection == 0 && $0.number == 1 ? .close : .json("x") }
        try await TestCall().send(to: server, with: transport)
        let call = TestCall(method: "PUT", body: .data(Data("body".utf8)), buffer: 1)
        let (head, body) = try await call.open(at: server, with: transport)
        #expect(head.statusCode == 200)
        #expect(try await body.bytes == Data("x".utf8))
        #expect(server.requests.last?.text == "body")
    }

    @Test("shutdown() breaks off the bodies that are read")
    func shutdown() async throws {
        let server = try TestServer(response: [.head(status: 200, headers: json), .hang])
        let (_, body) = try await TestCall(buffer: 1).open(at: server, with: transport)
        transport.shutdown()
        let error = await #expect(throws: URLError.self) { try await body.bytes }
        #expect(error?.code == .cancelled)
        #expect(error?.localizedDescription.contains("shut down") == true)
        await server.waitForConnections(closed: 1)
    }

    @Test("A released transport serves its readers to the end, then closes its connections")
    func transportGoes() async throws {
        let gate = Gate()
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Type": "application/json", "Content-Length": "3"]),
            .pause(until: gate), .text("abc"),
        ])
        var transport: URLSessionTransport? = URLSessionTransport(streaming: Self.switched)
        weak let released = transport
        let body = try await TestCall(buffer: 1).open(at: server, with: #require(transport)).1
        transport = nil
        gate.open()
        #expect(try await body.bytes == Data("abc".utf8))
        await server.waitForConnections(closed: 1)
        #expect(released == nil)
    }

    @Test("The error of an incomplete body contains the URL")
    func errorInfo() async throws {
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Type": "application/json", "Content-Length": "3"]), .close,
        ])
        let (_, body) = try await TestCall(path: "/a", buffer: 1).open(at: server, with: transport)
        let error = await #expect(throws: URLError.self) { try await body.bytes }
        #expect(error?.failingURL == server.baseURL.appendingPathComponent("a"))
    }

    @Test("A body cancelled as it ends ends once, and the next call works")
    func cancelsAtTheEnd() async throws {
        let server = try TestServer(response: .json("abc"))
        for round in 0..<25 {
            let (_, body) = try await TestCall(buffer: 1).open(at: server, with: transport)
            let result = await ending(cancelledAfter: round * 20) { try await body.bytes }
            if case .failure(let error) = result { #expect((error as? URLError)?.code == .cancelled) }
        }
        #expect(try await TestCall().send(to: server, with: transport).text == "abc")
    }
}

#if canImport(FoundationNetworking)
@Suite("URLSessionTransport: streams on Linux", .throttled, .serialized, .timeLimit(.minutes(3)))
struct URLSessionLinuxStreamTests {
    private static let requirements: [TransportRequirement] = {
        let backPressure = Set(TransportConformance.backPressure.map(\.id))
        return TransportConformance.streaming.filter { !backPressure.contains($0.id) }
    }()

    @Test(
        "With streaming enabled it meets each requirement for readers that needs no slow server",
        arguments: requirements
    )
    func keeps(requirement: TransportRequirement) async throws {
        let transport = URLSessionTransport(streaming: .unbounded)
        try await requirement.check(transport)
        transport.shutdown()
    }

    @Test("A streamed body is refused before anything is sent, and the error suggests CurlTransport")
    func refused() async throws {
        let server = try TestServer(response: .text("x"))
        let provider = Provider<TestTarget>(transport: URLSessionTransport.another())
        let failure = await #expect(throws: TargetKitError.self) {
            try await provider.stream(TestTarget(server.baseURL))
        }
        let error = try #require(failure?.underlying as? URLError)
        #expect(error.code == .unsupportedURL)
        #expect(error.localizedDescription.contains("CurlTransport"))
        #expect(server.connectionCount == 0)
    }

    // On Linux to suspend is to close the connection, and to resume is to send the request again: so both can be seen
    // here, where they are of no use. Not each time does Foundation there come back from it, so it is asked for with
    // the traps.
    @Test(
        "A task is suspended while its channel is full, and resumed afterwards",
        .enabled(if: TrapSession.isAsked, TrapSession.skipReason)
    )
    func pace() async throws {
        let reply = TestServer.Response.download(byteCount: 1 << 40, repeating: Data(count: 65_536))
        let server = try TestServer(response: reply)
        let transport = URLSessionTransport(streaming: .paced)
        let (_, body) = try await TestCall(buffer: 1 << 20).open(at: server, with: transport)
        await server.waitForConnections(closed: 1)
        #expect(server.requestCount == 1)
        let reading = Task { for try await _ in body where server.requestCount > 1 { return } }
        await server.waitForRequests(2)
        try await reading.value
        transport.shutdown()
    }
}
#endif
