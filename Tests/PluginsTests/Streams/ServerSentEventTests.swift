// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKitPlugins

@Suite("ResponseStream: server-sent events", .throttled, .timeLimit(.minutes(3)))
struct ServerSentEventTests {
    @Test("An event stream gives its events, wherever its bytes are cut", arguments: ServerSentEventRow.all)
    func rows(row: ServerSentEventRow) async {
        for pieces in row.bytes.cuttings {
            let stream = ResponseStream(statusCode: 200, body: ResponseBody(pieces: pieces))
            let (events, error) = await stream.serverSentEvents().collected()
            #expect(events == row.events, "cut \(pieces.map(\.count))")
            #expect(error == nil)
        }
    }

    @Test("Streams made at random give the same events uncut and cut", arguments: 1...20 as ClosedRange<UInt64>)
    func random(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        let words = [
            "data", "id", "event", "retry", ":", ": ", "1", "é", "\u{FEFF}", "\n", "\n\n", "\r", "\r\n", "\0", "x",
        ]
        for _ in 0..<50 {
            let text = (0..<60).map { _ in words[Int.random(in: 0..<words.count, using: &generator)] }.joined()
            let bytes = Data(text.utf8)
            let (uncut, _) = await ResponseStream(text).serverSentEvents().collected()
            let stream = ResponseStream(statusCode: 200, body: ResponseBody(pieces: bytes.cut(with: &generator)))
            let (cut, _) = await stream.serverSentEvents().collected()
            #expect(cut == uncut, "\(text.debugDescription)")
        }
    }

    @Test("An event is there as soon as its empty line is, before the next piece is asked for")
    func atOnce() async throws {
        let asked = Tally()
        let body = ResponseBody {
            asked.add()
            return Data("data:1\r\rdata:2\n\nda".utf8)
        }
        var events = ResponseStream(statusCode: 200, body: body).serverSentEvents().makeAsyncIterator()
        #expect(try await events.next()?.data == "1")
        #expect(try await events.next()?.data == "2")
        #expect(asked.value == 1)
    }

    @Test(
        "An event over the limit is an error after the events before it",
        arguments: [
            ("data:12345678901\n\n", ""), ("data:123\ndata:456\ndata:789\ndata:0\n\n", ""),
            ("data:0\n\n:23456789012\n", "0"),
            ("data:1\n\nid:345678901\n\n", "1"),
        ]
    )
    func limit(text: String, before: String) async throws {
        for pieces in Data(text.utf8).cuttings {
            let stream = ResponseStream(statusCode: 200, body: ResponseBody(pieces: pieces))
            let (events, error) = await stream.serverSentEvents(limit: 11).collected()
            #expect(events.map(\.data).joined() == before)
            let failure = try #require(error as? TargetKitError)
            #expect(failure.stage == .decoding)
            #expect(failure.response?.statusCode == 200)
            #expect(failure.underlying is UnreadableBody)
        }
    }

    @Test("An event of the size of the limit passes, as do any number of comments")
    func withinLimit() async {
        let text = String(repeating: ":comment\n", count: 50) + "data:1234\ndata:12\ndata:123\n\ndata:123456\n\n"
        let (events, error) = await ResponseStream(text).serverSentEvents(limit: 11).collected()
        #expect(events.map(\.data) == ["1234\n12\n123", "123456"])
        #expect(error == nil)
    }

    @Test("An event without an end does not fill the memory")
    func endless() async throws {
        let size = Tally()
        let body = ResponseBody {
            size.add()
            return Data("data:\(String(repeating: "x", count: 1019))\n".utf8)
        }
        let (events, error) = await ResponseStream(statusCode: 200, body: body).serverSentEvents(limit: 1 << 16)
            .collected()
        #expect(events.isEmpty)
        guard case .eventTooLarge(limit: 1 << 16) = (error as? TargetKitError)?.underlying as? UnreadableBody
        else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(size.value == 65)
    }

    @Test("A body that breaks off throws what the body throws, after its events")
    func breaksOff() async throws {
        let body = ResponseBody("data:1\n\ndata:2", failure: Boom())
        var events = ResponseStream(statusCode: 200, body: body).serverSentEvents().makeAsyncIterator()
        #expect(try await events.next()?.data == "1")
        await #expect(throws: Boom.self) { try await events.next() }
        #expect(try await events.next() == nil)
    }

    @Test("Leaving the loop lets go of the body, when the stream is let go of too")
    func leaving() async throws {
        let (freed, asked) = (Tally(), Tally())
        func run() async throws {
            let token = LifetimeProbe(freed)
            let body = ResponseBody {
                asked.add()
                return withExtendedLifetime(token) { Data("data:1\n\nda".utf8) }
            }
            for try await _ in ResponseStream(statusCode: 200, body: body).serverSentEvents() { return }
        }
        try await run()
        #expect(asked.value == 1)
        #expect(freed.value == 1)
    }

    @Test("A reconnection time and an identifier that the end of the body cuts off aren't read")
    func rest() async throws {
        var reader = ServerSentEventReader(ResponseStream("data:1\n\nretry:7"), limit: 100)
        #expect(try await reader.next(isolation: nil)?.data == "1")
        #expect(try await reader.next(isolation: nil) == nil)
        #expect(reader.retry == nil)
    }

    @Test("JSON of 100,000 levels is as the text of an event a text like any other")
    func deepNesting() async {
        let body = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        let (events, failure) = await ResponseStream("data:\(body)\n\n").serverSentEvents().collected()
        #expect(events.first?.data.count == 200_000)
        #expect(failure == nil)
    }

    @Test("An event stream of any bytes ends, without an error and within its length")
    func randomBytes() async {
        var random = RandomValues(seed: 6_022)
        let words = [
            "data", "data:", "id", "event", "retry:", ":", " ", "7", "é", "\u{FEFF}", "\n", "\n\n", "\r", "\r\n", "\0",
        ]
        let pieces = words.map { Array($0.utf8) } + [[0xFF], [0xC3]]
        var events = 0
        for round in 0..<RandomValues.count {
            let bytes: [UInt8] =
                round % 4 == 0
                ? random.bytes(upTo: 40, of: [])
                : random.bytes(upTo: 12, of: Array(pieces.indices)).flatMap { pieces[$0] }
            let stream = ResponseStream(
                statusCode: 200,
                body: ResponseBody(pieces: [Data(bytes)].filter { !$0.isEmpty })
            )
            do {
                for try await event in stream.serverSentEvents() {
                    events += 1
                    // What is not UTF-8 becomes three bytes.
                    if event.data.utf8.count > 3 * bytes.count { Issue.record("\(bytes): \(event)") }
                }
            } catch {
                Issue.record("\(bytes): \(error)")
            }
        }
        #expect(events > 0)
    }
}
