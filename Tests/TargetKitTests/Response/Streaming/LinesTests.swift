// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("ResponseStream: lines", .throttled, .timeLimit(.minutes(3)))
struct LinesTests {
    struct Row: Sendable {
        let bytes: [UInt8]
        let lines: [String]

        init(_ text: String, _ lines: String...) {
            bytes = Array(text.utf8)
            self.lines = lines
        }

        init(_ bytes: [UInt8], _ lines: String...) {
            self.bytes = bytes
            self.lines = lines
        }
    }

    static let rows: [Row] = [
        Row(""), Row("a", "a"), Row("a\n", "a"), Row("a\nb", "a", "b"), Row("a\nb\n", "a", "b"),
        Row("\n", ""), Row("\n\n", "", ""), Row("a\n\nb\n", "a", "", "b"), Row("\na", "", "a"),
        Row("a\r\nb\r\n", "a", "b"), Row("a\rb\r", "a", "b"), Row("\r", ""), Row("\r\r", "", ""),
        Row("\r\n\r\n", "", ""),
        Row("\n\r", "", ""), Row("a\r\r\nb", "a", "", "b"), Row("a\r\n\nb", "a", "", "b"), Row("a\n\rb", "a", "", "b"),
        Row("a\rb\nc\r\nd", "a", "b", "c", "d"), Row("\r\n\n\r\r\n", "", "", "", ""),
        Row("\u{FEFF}"), Row("\u{FEFF}\n", ""), Row("\u{FEFF}a\n", "a"), Row("\u{FEFF}a", "a"),
        Row("\u{FEFF}\u{FEFF}a", "\u{FEFF}a"), Row("a\u{FEFF}", "a\u{FEFF}"), Row("a\n\u{FEFF}b", "a", "\u{FEFF}b"),
        Row("\n\u{FEFF}b", "", "\u{FEFF}b"), Row([0xEF, 0xBB], "\u{FFFD}"), Row([0xEF, 0xBB, 0x0A], "\u{FFFD}"),
        Row([0x61, 0xFF, 0x62], "a\u{FFFD}b"), Row([0xE2, 0x82, 0x0A, 0x61], "\u{FFFD}", "a"),
        Row([0xC3], "\u{FFFD}"), Row([0x0A, 0xED, 0xA0, 0x80], "", "\u{FFFD}\u{FFFD}\u{FFFD}"),
        Row("a\0b\n\0", "a\0b", "\0"), Row("  a \t\n", "  a \t"),
        Row("a\u{2028}b\u{2029}c\u{85}d\u{0B}e\u{0C}f\n", "a\u{2028}b\u{2029}c\u{85}d\u{0B}e\u{0C}f"),
        Row("žluťoučký\r\n👩‍👩‍👧\r\n", "žluťoučký", "👩‍👩‍👧"),
    ]

    @Test("A body gives its lines, wherever its bytes are cut", arguments: rows)
    func lines(row: Row) async {
        for pieces in Data(row.bytes).cuttings {
            let stream = ResponseStream(statusCode: 200, body: ResponseBody(pieces: pieces))
            let (lines, error) = await stream.lines().collected()
            #expect(lines.map { Array($0.utf8) } == row.lines.map { Array($0.utf8) }, "cut \(pieces.map(\.count))")
            #expect(error == nil)
        }
    }

    @Test(
        "Bytes made and cut at random give the lines that a plain loop finds",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func random(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let alphabet: [UInt8] = [0x0A, 0x0D, 0x61, 0x62, 0xC3, 0xA9]
            let bytes = (0..<200).map { _ in alphabet[Int.random(in: 0..<6, using: &generator)] }
            let body = ResponseBody(pieces: Data(bytes).cut(with: &generator))
            let (lines, _) = await ResponseStream(statusCode: 200, body: body).lines().collected()
            #expect(lines == Self.reference(bytes), "\(bytes)")
        }
    }

    private static func reference(_ bytes: [UInt8]) -> [String] {
        var lines: [[UInt8]] = [[]]
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 0x0A where index > 0 && bytes[index - 1] == 0x0D: break
            case 0x0A, 0x0D: lines.append([])
            default: lines[lines.count - 1].append(byte)
            }
        }
        if lines.last == [] { lines.removeLast() }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "A line over the limit is an error that says which, after the lines before it",
        arguments: [("1234\n12345\nx", 2), ("\r\n\r\n12345", 3), ("12345\n", 1), ("é1234", 1)]
    )
    func limit(text: String, number: Int) async throws {
        for pieces in Data(text.utf8).cuttings {
            let stream = ResponseStream(statusCode: 200, body: ResponseBody(pieces: pieces))
            let (lines, error) = await stream.lines(limit: 4).collected()
            #expect(lines.count == number - 1)
            let failure = try #require(error as? TargetKitError)
            #expect(failure.stage == .decoding)
            #expect(failure.description.hasSuffix("(HTTP 200): line \(number) is longer than the limit of 4 bytes"))
        }
    }

    @Test(
        "Lines of the size of the limit pass; any limit is fine",
        arguments: [(0, "\n\n"), (3, "123\n\r123"), (.max, "1")]
    )
    func withinLimit(limit: Int, text: String) async {
        let (_, error) = await ResponseStream(text).lines(limit: limit).collected()
        #expect(error == nil)
        #expect(await ResponseStream("1").lines(limit: .min).collected().1 is TargetKitError)
    }

    @Test("A line without an end does not fill the memory, and its body is let go of")
    func endless() async throws {
        let (size, freed) = (Tally(), Tally())
        var lines: ResponseStream.Elements<String>.Iterator
        do {
            let token = LifetimeProbe(freed)
            let body = ResponseBody {
                size.add()
                return withExtendedLifetime(token) { Data(count: 1 << 10) }
            }
            lines = ResponseStream(statusCode: 200, body: body).lines().makeAsyncIterator()
        }
        await #expect(throws: TargetKitError.self) { try await lines.next() }
        #expect(size.value == 1025)
        #expect(freed.value == 1)
        #expect(try await lines.next() == nil)
    }

    @Test("A body that breaks off throws after the whole lines that have come")
    func breaksOff() async throws {
        var lines = ResponseStream(statusCode: 200, body: ResponseBody("a\nb", failure: Boom())).lines()
            .makeAsyncIterator()
        #expect(try await lines.next() == "a")
        await #expect(throws: Boom.self) { try await lines.next() }
        #expect(try await lines.next() == nil)
    }

    @Test("A piece is asked for when there is no whole line left, and not before")
    func backPressure() async throws {
        let asked = Tally()
        let body = ResponseBody {
            asked.add()
            return Data("a\nb\r".utf8)
        }
        var lines = ResponseStream(statusCode: 200, body: body).lines().makeAsyncIterator()
        #expect(asked.value == 0)
        for round in 1...10 {
            #expect(try await lines.next() == "a")
            #expect(try await lines.next() == "b")
            #expect(asked.value == round)
        }
    }

    @MainActor
    @Test("Lines can be read on an actor")
    func onActor() async throws {
        var count = 0
        for try await line in ResponseStream("a\nb\nc").lines() { count += line.count }
        #expect(count == 3)
    }
}
