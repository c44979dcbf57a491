// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

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
            #expect(failure.underlying is ResponseStreamError)
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
        guard case .eventTooLarge(limit: 1 << 16) = (error as? TargetKitError)?.underlying as? ResponseStreamError
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
}
