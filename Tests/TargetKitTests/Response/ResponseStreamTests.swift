// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("ResponseStream", .timeLimit(.minutes(1)))
struct ResponseStreamTests {
    @Test("The head is looked at as that of any response")
    func head() throws {
        let stream = ResponseStream(statusCode: 404, headers: ["X-Trace": "7"], body: ResponseBody { nil })
        #expect(stream.statusCode == 404)
        #expect(stream.headers["x-trace"] == "7")
        #expect(stream.httpVersion == "HTTP/1.1")
        #expect(stream.request == nil)
        #expect(stream.redirects.isEmpty)
        #expect(stream.httpResponse == nil)
        #expect(try stream.response.filter(status: 404).data.isEmpty)
        #expect(throws: TargetKitError.self) { try stream.response.filterSuccessful() }
    }

    @Test("Pieces come as they are, and each once")
    func pieces() async throws {
        let body = ResponseBody(pieces: ["a", "bc", "d"].map { Data($0.utf8) })
        let stream = ResponseStream(statusCode: 200, body: body)
        for try await piece in stream {
            #expect(piece == Data("a".utf8))
            break
        }
        #expect(await stream.collected().0 == [Data("bc".utf8), Data("d".utf8)])
        #expect(await stream.collected().0 == [])
    }

    enum Reading: CaseIterable, Sendable {
        case pieces, lines, events, json
    }

    private func readOne(_ stream: ResponseStream, as reading: Reading) async throws {
        switch reading {
        case .pieces: for try await _ in stream { return }
        case .lines: for try await _ in stream.lines { return }
        case .events: for try await _ in stream.serverSentEvents { return }
        case .json: for try await _ in stream.jsonLines(of: [String: Int].self) { return }
        }
    }

    @Test("Leaving the loop lets go of the body, when the stream is let go of too", arguments: Reading.allCases)
    func leaving(reading: Reading) async throws {
        let (freed, asked) = (Tally(), Tally())
        func run() async throws {
            let token = Token(freed)
            let body = ResponseBody {
                asked.add()
                return withExtendedLifetime(token) {
                    Data((reading == .events ? "data:1\n\nda" : "{\"a\":1}\n{").utf8)
                }
            }
            try await readOne(ResponseStream(statusCode: 200, body: body), as: reading)
        }
        try await run()
        #expect(asked.value == 1)
        #expect(freed.value == 1)
    }

    @Test("An iterator lets go of the body at its end", arguments: [nil, Boom()])
    func atEnd(failure: Boom?) async throws {
        let freed = Tally()
        func lines() -> ResponseStream.Lines.Iterator {
            let token = Token(freed)
            let body = ResponseBody {
                if let failure { throw failure }
                return withExtendedLifetime(token) { nil }
            }
            return ResponseStream(statusCode: 200, body: body).lines.makeAsyncIterator()
        }
        var iterator = lines()
        #expect(freed.value == 0)
        let line = try? await iterator.next()
        #expect(line == nil)
        #expect(freed.value == 1)
        #expect(try await iterator.next() == nil)
    }
}
