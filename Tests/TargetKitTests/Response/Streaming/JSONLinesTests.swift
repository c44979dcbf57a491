// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("ResponseStream: JSON lines", .throttled, .timeLimit(.minutes(3)))
struct JSONLinesTests {
    struct Row: Codable, Sendable, Equatable {
        var id: Int
        var lastName: String?

        init(_ id: Int, _ lastName: String? = nil) {
            self.id = id
            self.lastName = lastName
        }
    }

    @Test(
        "Each line is decoded, blank ones are passed over, wherever the bytes are cut",
        arguments: [
            ("", []), (#"{"id":1}"#, [Row(1)]), ("{\"id\":1}\n{\"id\":2}\n", [Row(1), Row(2)]),
            ("\n \t\r\n{\"id\":1}\r\n\r\n { \"id\" : 2 } \r\n  ", [Row(1), Row(2)]),
            ("\u{FEFF}{\"id\":1}\r{\"id\":2,\"lastName\":\"é\\n👩‍👩‍👧\"}", [Row(1), Row(2, "é\n👩‍👩‍👧")]),
            ("\u{FEFF}\n", []),
        ] as [(String, [Row])]
    )
    func rows(text: String, rows: [Row]) async {
        for pieces in Data(text.utf8).cuttings {
            let stream = ResponseStream(statusCode: 200, body: ResponseBody(pieces: pieces))
            let (decoded, error) = await stream.jsonLines(of: Row.self).collected()
            #expect(decoded == rows)
            #expect(error == nil)
        }
    }

    @Test("The decoder is the caller's")
    func decoder() async {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let rows = ResponseStream(#"{"id":1,"last_name":"x"}"#).jsonLines(of: Row.self, using: decoder)
        #expect(await rows.collected().0 == [Row(1, "x")])
    }

    @Test(
        "A line that cannot be decoded is an error that says which, after the values before it",
        arguments: [
            ("{\"id\":1}\n\n{\"id\":\"x\"}\n{\"id\":3}", 3, "expected Int at id, found a string"),
            ("{\"id\":1}\n{}", 2, "no value at id"),
            ("{\"id\":1}\n{\"id\":2", 2, "the JSON is invalid at byte 7: expected a comma"),
            ("{\"id\":1}\n{\"id\":2} x\n", 2, "the JSON is invalid at byte 9: expected nothing more"),
        ]
    )
    func undecodable(text: String, number: Int, words: String) async throws {
        let body = ResponseBody(text)
        var rows = ResponseStream(statusCode: 203, body: body).jsonLines(of: Row.self).makeAsyncIterator()
        #expect(try await rows.next() == Row(1))
        let error = await #expect(throws: TargetKitError.self) { try await rows.next() }
        #expect(error?.stage == .decoding)
        #expect(error?.response?.statusCode == 203)
        #expect(
            error?.description.contains("(HTTP 203): line \(number): \(words)") == true,
            "\(String(describing: error))"
        )
        guard case .undecodableLine(number, let cause) = error?.underlying as? UnreadableBody else {
            Issue.record("\(String(describing: error?.underlying))")
            return
        }
        #expect(cause is DecodingError)
        #expect(try await rows.next() == nil)
    }

    @Test("A line over the limit is an error")
    func limit() async {
        let (rows, error) = await ResponseStream("1\n22\n333\n").jsonLines(of: Int.self, limit: 2).collected()
        #expect(rows == [1, 22])
        #expect((error as? TargetKitError)?.stage == .decoding)
    }

    @Test("A body that breaks off throws what the body throws; half a line is not decoded")
    func breaksOff() async {
        let stream = ResponseStream(statusCode: 200, body: ResponseBody("1\n2", failure: Boom()))
        let (rows, error) = await stream.jsonLines(of: Int.self).collected()
        #expect(rows == [1])
        #expect(error is Boom)
    }
}
