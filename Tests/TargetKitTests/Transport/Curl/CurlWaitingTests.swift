// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
@testable import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// Calls that wait for a connection.
@Suite("CurlTransport: calls that wait", .throttled, .timeLimit(.minutes(3)))
struct CurlWaitingTests {
    private func transport(_ change: (inout CurlTransport.Configuration) -> Void) -> CurlTransport {
        var configuration = CurlTransport.Configuration.patient
        configuration.maxConnectionsPerHost = 1
        change(&configuration)
        return CurlTransport(configuration: configuration)
    }

    @Test("Waiting for a connection is not idle time")
    func idle() async throws {
        // The call ahead takes longer than the limit, and is idle for a small part of it.
        let drip: TestServer.Response = [
            .head(status: 200, headers: ["Content-Length": "110"]),
            .drip(Data(count: 110), chunkSize: 1, every: .milliseconds(100)),
        ]
        let server = try TestServer { $0.path == "/slow" ? drip : .text("fine") }
        let transport = transport { $0.idleTimeout = .seconds(10) }
        async let slow = TestCall(path: "/slow").send(to: server, with: transport).bytes.count
        await server.waitForRequests(1)
        // Once it is sent, a busy machine may keep it idle for longer than the limit.
        _ = try? await TestCall().send(to: server, with: transport)
        #expect(try await slow == 110)
        #expect(server.requestCount == 2)
    }

    /// A body whose only byte comes when somebody says so.
    private final class HeldSource: BodySource, BodyReader {
        let length: Int64? = 1
        let hold = DispatchSemaphore(value: 0)
        private let isAtEnd = Tally()

        func open() throws -> any BodyReader { self }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            hold.wait()
            if isAtEnd.value > 0 { return 0 }
            isAtEnd.add()
            buffer.copyBytes(from: [7])
            return 1
        }
    }

    @Test("A source that provides no byte within the idle timeout ends the call, unless the call has its own timeout")
    func slowSource() async throws {
        let server = try TestServer(response: .text("fine"))
        let transport = transport {
            $0.maxConnectionsPerHost = 2
            $0.idleTimeout = .milliseconds(200)
        }
        let patient = HeldSource()
        let call = TestCall(method: "POST", body: .stream(patient), timeout: .seconds(600))
        async let answer = call.send(to: server, with: transport).text
        for _ in 0..<2 {
            let source = HeldSource()
            let idle = TestCall(method: "POST", body: .stream(source))
            #expect(await idle.failure(at: server.baseURL, with: transport) == .timedOut)
            for _ in 0..<2 { source.hold.signal() }
        }
        for _ in 0..<2 { patient.hold.signal() }
        #expect(try await answer == "fine")
    }

    @Test("A host that the proxy excludes does not wait for another one")
    func excluded() async throws {
        let (held, other) = (try TestServer(response: .hang), try TestServer(response: .text("fine")))
        let address = try #require(URL(string: "http://127.0.0.1:9"))
        let transport = transport { $0.proxy = .url(address, except: ["127.0.0.1"]) }
        let first = Task { try await TestCall().send(to: held, with: transport) }
        await held.waitForRequests(1)
        #expect(try await TestCall().send(to: other, with: transport).text == "fine")
        first.cancel()
        _ = await first.result
    }

    @Test("The timeout of a call includes its wait for a connection")
    func timeout() async throws {
        let server = try TestServer(response: .hang)
        let transport = transport { _ in }
        let first = Task { try await TestCall().send(to: server, with: transport) }
        await server.waitForRequests(1)
        let second = TestCall(timeout: .milliseconds(50))
        #expect(await second.failure(at: server.baseURL, with: transport) == .timedOut)
        #expect(server.requestCount == 1)
        first.cancel()
        _ = await first.result
    }

    @Test("A waiting call that is cancelled ends at once, and those behind it continue")
    func cancel() async throws {
        let gate = Gate()
        let server = try TestServer { request in
            request.path == "/held"
                ? [.pause(until: gate), .text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] : .text("fine")
        }
        let transport = transport { _ in }
        async let held = TestCall(path: "/held").send(to: server, with: transport)
        await server.waitForRequests(1)
        let waiting = (0..<100).map { _ in
            Task { await TestCall(path: "/never").failure(at: server.baseURL, with: transport) }
        }
        async let last = TestCall().send(to: server, with: transport).text
        for task in waiting { task.cancel() }
        for task in waiting { #expect(await task.value == .cancelled) }
        gate.open()
        _ = try await held
        #expect(try await last == "fine")
        #expect(server.requests.map(\.path) == ["/held", "/"])
    }

    @Test("Waiting calls end with the transport")
    func shutdown() async throws {
        let server = try TestServer(response: .hang)
        let transport = transport { _ in }
        let calls = (0..<100).map { _ in Task { await TestCall().failure(at: server.baseURL, with: transport) } }
        await server.waitForRequests(1)
        transport.shutdown()
        for call in calls { #expect(await call.value == .cancelled) }
    }
}
#endif
