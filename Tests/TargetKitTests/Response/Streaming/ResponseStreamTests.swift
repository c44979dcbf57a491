// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("ResponseStream", .throttled, .timeLimit(.minutes(3)))
struct ResponseStreamTests {
    @Test("The head is looked at as that of any response")
    func head() throws {
        let stream = ResponseStream(statusCode: 404, headers: ["X-Trace": "7"], body: ResponseBody { nil })
        #expect(stream.response.statusCode == 404)
        #expect(stream.response.headers["x-trace"] == "7")
        #expect(stream.response.httpVersion == "HTTP/1.1")
        #expect(stream.response.request == nil)
        #expect(stream.response.redirects.isEmpty)
        #expect(stream.response.httpResponse == nil)
        #expect(try stream.response.filter(.codes([404])).data.isEmpty)
        #expect(throws: TargetKitError.self) { try stream.response.filter() }
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

    @Test(
        "A second reader of a body that was read to its end gets an error instead of an empty body",
        arguments: Reading.allCases
    )
    func secondReader(reading: Reading) async throws {
        for (body, again) in [("", ""), ("data:1\n\n", ""), ("{}\n", "")] {
            let stream = ResponseStream(statusCode: 200, body: ResponseBody(body))
            var first = stream.makeAsyncIterator()
            while try await first.next() != nil {}
            #expect(try await first.next() == nil)
            let error = await #expect(throws: TargetKitError.self, "\(body) \(again)") {
                try await readOne(stream, as: reading)
            }
            #expect(error?.underlying is UnreadableBody)
        }
    }

    @Test("While a task waits for a piece, another reader gets an error, and the first loses nothing")
    func atTheSameTime() async throws {
        let (gate, asked) = (Gate(), Tally())
        let rest = Locked(["a", "b"])
        let body = ResponseBody {
            asked.add()
            try await gate.waitUnlessCancelled()
            return rest.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) }
        }
        let stream = ResponseStream(statusCode: 200, body: body)
        let first = Task { await stream.collected() }
        try await asked.wait(for: 1)
        await #expect(throws: TargetKitError.self) { for try await _ in stream {} }
        gate.open()
        let (pieces, error) = await first.value
        #expect(pieces == [Data("a".utf8), Data("b".utf8)])
        #expect(error == nil)
    }

    @Test("A loop gets an error if another loop has continued its body")
    func overtaken() async throws {
        let stream = ResponseStream(statusCode: 200, body: ResponseBody(pieces: ["a", "b", "c"].map { Data($0.utf8) }))
        var first = stream.makeAsyncIterator()
        #expect(try await first.next() == Data("a".utf8))
        var second = stream.makeAsyncIterator()
        #expect(try await second.next() == Data("b".utf8))
        await #expect(throws: TargetKitError.self) { try await first.next() }
        #expect(try await second.next() == Data("c".utf8))
        #expect(try await second.next() == nil)
    }

    enum Reading: CaseIterable, Sendable {
        case pieces, lines, json
    }

    private func readOne(_ stream: ResponseStream, as reading: Reading) async throws {
        switch reading {
        case .pieces: for try await _ in stream { return }
        case .lines: for try await _ in stream.lines() { return }
        case .json: for try await _ in stream.jsonLines(of: [String: Int].self) { return }
        }
    }

    @Test("Leaving the loop lets go of the body, when the stream is let go of too", arguments: Reading.allCases)
    func leaving(reading: Reading) async throws {
        let (freed, asked) = (Tally(), Tally())
        func run() async throws {
            let token = LifetimeProbe(freed)
            let body = ResponseBody {
                asked.add()
                return withExtendedLifetime(token) { Data("{\"a\":1}\n{".utf8) }
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
        func lines() -> ResponseStream.Elements<String>.Iterator {
            let token = LifetimeProbe(freed)
            let body = ResponseBody {
                if let failure { throw failure }
                return withExtendedLifetime(token) { nil }
            }
            return ResponseStream(statusCode: 200, body: body).lines().makeAsyncIterator()
        }
        var iterator = lines()
        #expect(freed.value == 0)
        let line = try? await iterator.next()
        #expect(line == nil)
        #expect(freed.value == 1)
        #expect(try await iterator.next() == nil)
    }

    @Test("JSON of 100,000 levels is an error as a line")
    func deepNesting() async {
        struct Tree: Decodable { var a: [Tree]? }
        let body = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        let (rows, error) = await ResponseStream(body + "\n1\n").jsonLines(of: Tree.self).collected()
        #expect(rows.isEmpty)
        #expect((error as? TargetKitError)?.stage == .decoding)
    }

    // URLSessionTransport does not stream bodies on Linux.
    @Test("Lines and JSON lines come while the body goes on", arguments: [Backend.system, .stub])
    func lines(over backend: Backend) async throws {
        let backend = try RunningBackend(backend) { _ in .response(status: 200, data: Data("1\n2\r\n3".utf8)) }
        let provider = Provider<TestTarget>(transport: backend.transport)
        let stream = try await provider.stream(TestTarget(backend.baseURL))
        #expect(await stream.lines().collected().0 == ["1", "2", "3"])
        let numbers = try await provider.stream(TestTarget(backend.baseURL)).jsonLines(of: Int.self)
        #expect(await numbers.collected().0 == [1, 2, 3])
    }
}
