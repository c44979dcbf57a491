// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import TargetKitWebSocket

@Suite("Checking UTF-8", .throttled)
struct UTF8CheckTests {
    /// Characters of each length, and sequences at the limits of what is valid (RFC 3629 §4).
    private static let sequences: [[UInt8]] =
        [
            "a", "bcdefgh", "é", "\u{80}", "\u{7FF}", "\u{800}", "日本語の文章", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "𝄞",
            "\u{10FFFF}",
        ]
        .map { Array($0.utf8) } + [
            [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
            [0xE6, 0x97], [0x80], [0xFF], [0xE6, 0x97, 0xE6],
        ]

    @Test("The first wrong byte is the same in a whole text as byte by byte")
    func firstWrongByte() {
        var random = SeededRandom(seed: 7)
        let validCount = 12
        for round in 0..<20_000 {
            // Every other text is valid.
            let kinds = round.isMultiple(of: 2) ? validCount : Self.sequences.count
            let bytes = (0..<(1 + random.next() % 12)).flatMap { _ in Self.sequences[Int(random.next() % UInt64(kinds))]
            }
            var (single, whole) = (UTF8Check(), UTF8Check())
            let expected = bytes.firstIndex { byte in
                withUnsafeBytes(of: byte) { single.firstInvalid(in: $0) } != nil
            }
            let found = bytes.withUnsafeBytes { whole.firstInvalid(in: $0) }
            #expect(found == expected, "\(bytes)")
            let isValid = Array(String(decoding: bytes, as: UTF8.self).utf8) == bytes
            #expect((found == nil && whole.isAtBoundary) == isValid, "\(bytes)")
            if isValid { #expect(whole.isASCII == bytes.allSatisfy { $0 < 0x80 }, "\(bytes)") }
        }
    }

    @Test("A text that arrives in parts is equal to the one that was sent", arguments: ["a", "日本語の", "aé😀"])
    func parts(text: String) {
        // The first one is large enough for huge pages.
        for size in [9 << 20, 100_000] {
            let sent = String(repeating: text, count: size / text.utf8.count)
            var bytes: [UInt8] = []
            var writer = WebSocketWriter(role: .server, fragmentSize: 1 << 20)
            writer.write(text: sent, to: &bytes)
            var reader = WebSocketReader(role: .client)
            var received: [WebSocketEvent] = []
            for start in stride(from: 0, to: bytes.count, by: 65_537) {
                let part = Array(bytes[start..<min(start + 65_537, bytes.count)])
                received += reader.result(of: part).events
            }
            let isEqual = received == [.text(sent)]
            #expect(isEqual)
        }
    }
}
