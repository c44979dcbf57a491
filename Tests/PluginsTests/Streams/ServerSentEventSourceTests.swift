// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKit
@testable import TargetKitPlugins

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("ServerSentEventSource", .throttled, .timeLimit(.minutes(3)))
struct ServerSentEventSourceTests {
    static let lost = TargetKitError(stage: .transport, underlying: URLError(.networkConnectionLost))

    @Test("Without reconnection the sequence ends with the stream, which is opened when it is read")
    func never() async throws {
        let script = EventStreamScript({ .events("data:1\n\ndata:2") })
        let events = script.events(.never)
        #expect(script.opened.count == 0)
        let (received, error, waits) = await events.read(on: script.clock)
        #expect(received.map(\.data) == ["1"])
        #expect(error == nil)
        #expect(waits.isEmpty)
        #expect(script.opened.elements == [["Accept": "text/event-stream", "Cache-Control": "no-cache"]])
    }

    @Test("At its end the stream is opened again after 3 seconds, and says where to go on")
    func reconnects() async throws {
        let script = EventStreamScript({ .events("id:1\ndata:a\n\n") }, { .events("data:b\n\n") })
        let (received, error, waits) = await script.events(.always()).read(on: script.clock)
        #expect(received == [ServerSentEvent(id: "1", data: "a"), ServerSentEvent(id: "1", data: "b")])
        #expect(error == nil)
        #expect(waits == [.seconds(3), .seconds(3)])
        #expect(script.opened.elements.map { $0["Last-Event-ID"] } == [nil, "1", "1"])
    }

    @Test(
        "Where to go on is what the last whole block has said",
        arguments: [
            ("id:1\ndata:a\n\nid:2\ndata:b", "1"), ("id:1\ndata:a\n\nid:2\n\n", "2"), ("id:1\ndata:a\n\nid\n\n", nil),
            ("id:1\ndata:a\n\nid:\0\n\n", "1"), ("data:a\n\n", "0"), ("id: é \n\n", "é "),
        ] as [(String, String?)]
    )
    func lastEventID(text: String, id: String?) async {
        let script = EventStreamScript({ .events(text, failure: Self.lost) })
        _ = await script.events(.always(), lastEventID: "0").read(on: script.clock)
        #expect(script.opened.elements.map { $0["Last-Event-ID"] } == ["0", id])
    }

    @Test("The server's time takes the place of the caller's, also in the streams that follow")
    func serversTime() async {
        let script = EventStreamScript(
            { .events("data:a\n\n") },
            { .events("retry:750\n") },
            { .events("data:b\n\n") },
            { .events("retry:0\ndata:c\n\n") }
        )
        let (received, _, waits) = await script.events(.always(after: .seconds(1))).read(on: script.clock)
        #expect(received.map(\.data) == ["a", "b", "c"])
        #expect(waits == [.seconds(1), .seconds(1.5), .milliseconds(750), .milliseconds(500)])
        #expect(script.opened.count == 5)
    }

    @Test("A server that sends retry: 0 and closes is asked twice a second at most", arguments: ["0", "1", "499"])
    func shortestDelay(_ retry: String) async {
        let openings = Array(repeating: { @Sendable in ResponseStream.events("retry:\(retry)\ndata:a\n\n") }, count: 5)
        let script = EventStreamScript(openings)
        let (received, _, waits) = await script.events(.always()).read(on: script.clock)
        #expect(received.count == 5)
        #expect(waits == Array(repeating: .milliseconds(500), count: 5))
    }

    @Test("The delay doubles while there is no event, to thirty seconds or the delay of the server")
    func backoff() async {
        let silent: EventStreamScript.Opening = { .events("") }
        let script = EventStreamScript(
            [silent, silent, silent, silent, { .events("data:a\n\n") }, silent, { .events("retry:40000\n") }, silent]
        )
        let (_, _, waits) = await script.events(.always()).read(on: script.clock)
        #expect(waits == [3, 6, 12, 24, 3, 6, 40, 40].map { .seconds($0) })
    }

    @Test(
        "The stream of an unavailable server is opened again after the delay that the server asks for",
        arguments: [408, 425, 429, 500, 502, 503, 504]
    )
    func unavailable(_ status: Int) async throws {
        let script = EventStreamScript(
            { .events("", status: status) },
            {
                _ = try Response(statusCode: status, headers: ["Retry-After": "20"]).filter(.codes([200])); throw Boom()
            },
            { .events("data:a\n\n") }
        )
        let (received, error, waits) = await script.events(.always()).read(on: script.clock)
        #expect(received.map(\.data) == ["a"])
        #expect(error == nil)
        #expect(waits == [.seconds(3), .seconds(20), .seconds(3)])
    }

    @Test("A stream that breaks off, and one that cannot be opened, is opened again")
    func transportFailures() async {
        let script = EventStreamScript(
            { throw TargetKitError(stage: .transport, underlying: URLError(.cannotConnectToHost)) },
            { .events("id:1\ndata:a\n\ndata:b", failure: Self.lost) },
            { throw TargetKitError(stage: .transport, underlying: URLError(.notConnectedToInternet)) },
            { .events("data:c\n\n") }
        )
        let (received, error, waits) = await script.events(.always()).read(on: script.clock)
        #expect(received.map(\.data) == ["a", "c"])
        #expect(error == nil)
        #expect(waits.count == 4)
        #expect(script.opened.elements.map { $0["Last-Event-ID"] } == [nil, nil, "1", "1", "1"])
    }

    @Test("The limit counts openings without an event in between, and ends with the last failure")
    func limit() async {
        let script = EventStreamScript(
            { throw Self.lost },
            { throw Self.lost },
            { .events("data:a\n\n", failure: Self.lost) },
            { .events(":\n\n") },
            { .events("", failure: Self.lost) }
        )
        let (received, error, waits) = await script.events(.always(limit: 2)).read(on: script.clock)
        #expect(received.map(\.data) == ["a"])
        #expect((error as? TargetKitError)?.kind == .connectionLost)
        #expect(waits.count == 4)
        #expect(script.opened.count == 5)
    }

    @Test("When the limit is reached at a stream's end, the sequence ends")
    func limitAtEnd() async {
        let script = EventStreamScript({ .events("") }, { .events("") })
        let (received, error, waits) = await script.events(.always(limit: 1)).read(on: script.clock)
        #expect(received.isEmpty)
        #expect(error == nil)
        #expect(waits.count == 1)
    }

    @Test("Status 204 ends the sequence for good, also where the target's validation refuses it")
    func noContent() async {
        let script = EventStreamScript(
            { .events("data:a\n\n") },
            {
                _ = try Response(statusCode: 204).filter(.codes([200])); throw Boom()
            }
        )
        let (received, error, _) = await script.events(.always()).read(on: script.clock)
        #expect(received.map(\.data) == ["a"])
        #expect(error == nil)
        #expect(script.opened.count == 2)
    }

    @Test(
        "Another status than 200 is an error, and the stream is not opened again",
        arguments: [201, 205, 299, 301, 404, 501]
    )
    func status(code: Int) async {
        let script = EventStreamScript({ .events("data:a\n\n", status: code) })
        let (received, error, _) = await script.events(.always()).read(on: script.clock)
        #expect(received.isEmpty)
        #expect((error as? TargetKitError)?.stage == .status)
        #expect((error as? TargetKitError)?.response?.statusCode == code)
        #expect(script.opened.count == 1)
    }

    @Test(
        "The Content-Type of an event stream is taken in any spelling",
        arguments: [
            "text/event-stream", "Text/Event-Stream", "text/event-stream;", "text/event-stream ; charset=windows-1252",
        ]
    )
    func contentType(type: String) async {
        let script = EventStreamScript({ .events("data:ok…\n\n", type: type) })
        #expect(await script.events(.never).read(on: script.clock).events.map(\.data) == ["ok…"])
    }

    @Test(
        "Another Content-Type is an error that says so, and the stream is not opened again",
        arguments: [nil, "", "x bogus", "text/x-bogus", "text/event-streams", "application/json; a=text/event-stream"]
    )
    func otherContentType(type: String?) async throws {
        let script = EventStreamScript({ .events("data:a\n\n", type: type) })
        let (received, error, _) = await script.events(.always()).read(on: script.clock)
        #expect(received.isEmpty)
        let failure = try #require(error as? TargetKitError)
        #expect(failure.stage == .decoding)
        #expect(failure.description.contains("text/event-stream"))
        guard case .notAnEventStream(contentType: type) = failure.underlying as? UnreadableBody else {
            Issue.record("\(failure)")
            return
        }
        #expect(script.opened.count == 1)
    }

    @Test(
        "What no next try can mend ends the sequence",
        arguments: [
            TargetKitError(stage: .request, underlying: InvalidRequest.twoBodies), TargetKitError(stage: .shutDown),
            TargetKitError(stage: .cancelled), TargetKitError(stage: .transport, underlying: URLError(.badURL)),
            TargetKitError(stage: .transport, underlying: URLError(.serverCertificateUntrusted)),
        ]
    )
    func lastingFailures(failure: TargetKitError) async {
        let script = EventStreamScript({ throw failure })
        let (_, error, _) = await script.events(.always()).read(on: script.clock)
        #expect((error as? TargetKitError)?.stage == failure.stage)
        #expect(script.opened.count == 1)
    }

    @Test("An event over the limit ends the sequence")
    func eventLimit() async {
        let script = EventStreamScript({ .events("data:\(String(repeating: "x", count: 100))\n\n") })
        let (_, error, _) = await script.events(.always()).read(on: script.clock)
        #expect((error as? TargetKitError)?.stage == .decoding)
        #expect(script.opened.count == 1)
    }

    @Test("Cancelling the task while it waits ends the sequence as cancelled")
    func cancelled() async throws {
        let script = EventStreamScript({ .events("data:a\n\n") })
        let events = script.events(.always())
        let reading = Task { await events.collected() }
        try await script.clock.waitForSleepers()
        reading.cancel()
        let (received, error) = await reading.value
        #expect(received.count == 1)
        #expect((error as? TargetKitError)?.stage == .cancelled)
        #expect((error as? TargetKitError)?.target is TestTarget)
        #expect(script.opened.count == 1)
    }

    @Test("Each loop opens a stream of its own; after the end there is nothing more")
    func loops() async throws {
        let script = EventStreamScript({ .events("data:a\n\n") }, { .events("data:b\n\n") })
        let events = script.events(.never)
        var first = events.makeAsyncIterator()
        var second = events.makeAsyncIterator()
        #expect(try await first.next()?.data == "a")
        #expect(try await second.next()?.data == "b")
        for _ in 1...3 { #expect(try await first.next() == nil) }
        #expect(script.opened.count == 2)
    }
}
