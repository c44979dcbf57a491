// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Event streams through the whole path, over each transport.
@Suite("Provider: server-sent events", .throttled, .timeLimit(.minutes(3)))
struct ProviderServerSentEventTests {
    private static let eventStream: HTTPHeaders = ["Content-Type": "text/event-stream"]

    // URLSessionTransport does not stream bodies on Linux.
    @Test(
        "An event stream is asked for as one, and opened again until the server says 204",
        arguments: [Backend.system, .stub]
    )
    func reconnects(over backend: Backend) async throws {
        let backend = try RunningBackend(backend) { request in
            guard request.headers["Last-Event-ID"] == nil else { return .response(status: 204, data: Data()) }
            let text = "retry:750\nid:é 1\nevent:tick\ndata:a\n\n"
            return .response(status: 200, headers: Self.eventStream, data: Data(text.utf8))
        }
        let clock = ManualClock()
        let provider = Provider<TestTarget>(transport: backend.transport, clock: clock)
        let target = TestTarget(backend.baseURL).with { $0.headers = ["X-Own": "1"] }
        let (events, error, waits) = await provider.serverSentEvents(for: target, reconnectingAfter: .seconds(3))
            .read(on: clock)
        #expect(events == [ServerSentEvent(id: "é 1", event: "tick", data: "a", retry: .milliseconds(750))])
        #expect(error == nil)
        #expect(waits.count == 1)
        // Up to half as long again at random.
        #expect(waits.allSatisfy { $0 >= .milliseconds(750) && $0 <= .milliseconds(1125) })
        #expect(backend.requests.map { $0.headers["Accept"] } == ["text/event-stream", "text/event-stream"])
        #expect(backend.requests.map { $0.headers["X-Own"] } == ["1", "1"])
        #expect(backend.requests.map { $0.headers["Last-Event-ID"] } == [nil, "é 1"])
    }

    @Test("An event is there while the stream goes on; leaving the loop closes the connection")
    func live() async throws {
        let gate = Gate()
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"]),
            .chunk(Data("data:a\n".utf8)), .wait(for: .zero), .chunk(Data("\n".utf8)), .pause(until: gate),
            .chunk(Data("data:b\n\ndata:c".utf8)), .hang,
        ])
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        var received: [String] = []
        for try await event in provider.serverSentEvents(for: TestTarget(server.baseURL)) {
            received.append(event.data)
            gate.open()
            if received.count == 2 { break }
        }
        #expect(received == ["a", "b"])
        await server.waitForConnections(closed: 1)
    }

    @Test("A connection that breaks is made again, and goes on behind the last event")
    func breaks() async throws {
        let server = try TestServer { request in
            request.headers["last-event-id"] == nil
                ? [
                    .head(status: 200, headers: ["Content-Type": "text/event-stream", "Content-Length": "99"]),
                    .text("id:1\ndata:a\n\nid:2\ndata:lost"), .close,
                ] : TestServer.Response(headers: ["Content-Type": "text/event-stream"], body: Data("data:b\n\n".utf8))
        }
        let clock = ManualClock()
        let provider = Provider<MultiTarget>(clock: clock)
        let events = provider.serverSentEvents(for: TestTarget(server.baseURL), reconnectingAfter: .seconds(3))
        let reading = Task {
            var received: [ServerSentEvent] = []
            for try await event in events {
                received.append(event)
                if received.count == 2 { break }
            }
            return received
        }
        try await clock.waitForSleepers()
        let delay = clock.advanceToNextDeadline()
        #expect(delay >= .seconds(3) && delay <= .seconds(4.5))
        #expect(try await reading.value.map(\.data) == ["a", "b"])
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, "1"])
    }

    @Test("Cancelling the task closes the connection, and reads as cancelled")
    func cancelled() async throws {
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Type": "text/event-stream"]), .text("data:a\n\n"), .hang,
        ])
        let events = Provider<TestTarget>(transport: SystemTransport.patient).serverSentEvents(
            for: TestTarget(server.baseURL),
            reconnectingAfter: .zero
        )
        let first = Gate()
        let reading = Task {
            var error: (any Error)?
            do {
                for try await _ in events { first.open() }
            } catch let failure {
                error = failure
            }
            return error as? TargetKitError
        }
        await first.wait()
        reading.cancel()
        #expect(await reading.value?.stage == .cancelled)
        await server.waitForConnections(closed: 1)
        #expect(server.requestCount == 1)
    }

    @Test("Cancelling the scope, or shutting it down, ends a sequence that waits", arguments: [false, true])
    func cancelledWait(isShutDown: Bool) async throws {
        let sample = SampleResponse.response(status: 200, headers: Self.eventStream, data: Data("data:a\n\n".utf8))
        let (clock, scope) = (ManualClock(), RequestScope())
        let provider = Provider<TestTarget>(transport: StubTransport(sample), scope: scope, clock: clock)
        let events = provider.serverSentEvents(for: TestTarget(.example), reconnectingAfter: .seconds(3))
        let reading = Task { await events.collected() }
        try await clock.waitForSleepers()
        #expect(scope.inFlightCount == 1)
        if isShutDown { await scope.shutdown(grace: .zero) } else { scope.cancelAll() }
        let (received, error) = await reading.value
        #expect(received.map(\.data) == ["a"])
        #expect((error as? TargetKitError)?.stage == .cancelled)
        #expect(scope.inFlightCount == 0)
        #expect(clock.sleeperCount == 0)
    }

    @Test("What is no event stream is an error that names target, request and response")
    func otherType() async throws {
        let server = try TestServer(response: .json("{}"))
        let target = TestTarget(server.baseURL)
        let (_, error, _) = await Provider<MultiTarget>().serverSentEvents(for: target).read(on: ManualClock())
        let failure = try #require(error as? TargetKitError)
        #expect(failure.stage == .decoding)
        #expect(failure.target is TestTarget)
        #expect(failure.request?.url?.path == "/things")
        #expect(failure.response?.statusCode == 200)
        #expect(failure.description.hasSuffix("the Content-Type is application/json, not text/event-stream"))
    }

    @Test("A server's wait beyond a clock's range lasts until the call is cancelled")
    func endlessReconnection() async throws {
        let data = Data("retry: 9223372036854775807\ndata: a\n\n".utf8)
        let sample = SampleResponse.response(status: 200, headers: ["Content-Type": "text/event-stream"], data: data)
        let provider = Provider<TestTarget>(transport: StubTransport(sample))
        let (seen, read) = (Expectation(), Recorder<String>())
        let reading = Task {
            for try await event in provider.serverSentEvents(for: TestTarget(.example), reconnectingAfter: .seconds(3))
            {
                read.append(event.data)
                seen.fulfill()
            }
        }
        await seen.wait()
        for _ in 0..<200 { await Task.yield() }
        reading.cancel()
        _ = await reading.result
        #expect(read.elements == ["a"])
    }
}
