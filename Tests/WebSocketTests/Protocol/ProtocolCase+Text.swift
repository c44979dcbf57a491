// SPDX-License-Identifier: MIT
import Foundation

@testable import TargetKitWebSocket

/// UTF-8 (section 6). The sequences are those of Markus Kuhn's decoder test
/// (http://www.cl.cam.ac.uk/~mgk25/ucs/examples/UTF-8-test.txt).
extension ProtocolCase {
    /// κόσμε, a surrogate, and more text.
    static let surrogate = bytes("cebae1bdb9cf83cebcceb5 eda080 656469746564")
    /// κόσμε, a code point above U+10FFFF, and more text. The byte at index 12 is the first wrong one.
    static let tooHigh = ["cebae1bdb9cf83cebcceb5", "f4908080", "656469746564"].map(bytes)

    static let text: [ProtocolCase] = {
        let greeting = "Hello-µ@ßöäüàá-UTF-8!!"
        let octets = { (bytes: [UInt8]) in
            bytes.enumerated()
                .map { index, byte in
                    RawFrame(index == 0 ? 1 : 0, [byte], isFinal: index == bytes.count - 1)
                }
        }
        let empty = RawFrame(1, isFinal: false)
        let middle = RawFrame.more(Array("middle frame payload".utf8), isFinal: false)
        let high = tooHigh
        return [
            ProtocolCase("6.1.1", [.text("")], [.text("")]),
            ProtocolCase("6.1.2", [empty, .more([], isFinal: false), .more([])], [.text("")]),
            ProtocolCase("6.1.3", [empty, middle, .more([])], [.text("middle frame payload")]),
            ProtocolCase("6.2.1", [.text(greeting)], [.text(greeting)]),
            ProtocolCase(
                "6.2.2",
                [.text("Hello-µ@ßöä", isFinal: false), .more(Array("üàá-UTF-8!!".utf8))],
                [.text(greeting)]
            ),
            ProtocolCase("6.2.3", octets(Array(greeting.utf8)), [.text(greeting)]),
            ProtocolCase("6.2.4", octets(bytes("cebae1bdb9cf83cebcceb5")), [.text("κόσμε")]),
            ProtocolCase("6.3.1", [RawFrame(1, surrogate)], fails: .invalidUTF8),
            ProtocolCase("6.3.2", octets(surrogate), fails: .invalidUTF8),
            ProtocolCase(
                "6.4.1",
                [RawFrame(1, high[0], isFinal: false), .more(high[1], isFinal: false), .more(high[2])],
                fails: .invalidUTF8
            ),
            ProtocolCase(
                "6.4.2",
                [RawFrame(1, high[0] + [0xF4], isFinal: false), .more([0x90], isFinal: false), .more([0x80, 0x80])],
                fails: .invalidUTF8
            ),
            ProtocolCase("6.4.3 and 6.4.4", [RawFrame(1, high.flatMap { $0 })], fails: .invalidUTF8),
        ] + sequences
    }()

    /// Sections 6.5 to 6.23: sequences that are whole messages. A minus marks an invalid one.
    private static let sequences: [ProtocolCase] = sections.enumerated()
        .flatMap { section, line in
            line.split(separator: " ").enumerated()
                .map { index, sequence in
                    let id = "6.\(section + 5).\(index + 1)"
                    guard sequence.hasPrefix("-") else {
                        let payload = bytes(String(sequence))
                        return ProtocolCase(
                            id,
                            [RawFrame(1, payload)],
                            [.text(String(decoding: payload, as: UTF8.self))]
                        )
                    }
                    return ProtocolCase(id, [RawFrame(1, bytes(String(sequence.dropFirst())))], fails: .invalidUTF8)
                }
        }

    private static let sections: [String] = [
        // 6.5: text.
        "68656c6c6f24776f726c64 68656c6c6fc2a2776f726c64 68656c6c6fe282ac776f726c64 68656c6c6ff0a4ada2776f726c64 "
            + "cebae1bdb9cf83cebcceb5",
        // 6.6: all prefixes of κόσμε.
        "-ce ceba -cebae1 -cebae1bd cebae1bdb9 -cebae1bdb9cf cebae1bdb9cf83 -cebae1bdb9cf83ce cebae1bdb9cf83cebc "
            + "-cebae1bdb9cf83cebcce cebae1bdb9cf83cebcceb5",
        // 6.7 to 6.11: boundaries.
        "00 c280 e0a080 f0908080",
        "-f888808080 -fc8480808080",
        "7f dfbf efbfbf f48fbfbf",
        "-f7bfbfbf -fbbfbfbfbf -fdbfbfbfbfbf",
        "ed9fbf ee8080 efbfbd f48fbfbf -f4908080",
        // 6.12: continuation bytes alone.
        "-80 -bf -80bf -80bf80 -80bf80bf -80bf80bf80 -80bf80bf80bf -" + (0x80..<0xBF).map(hex).joined(),
        // 6.13: first bytes alone, each followed by a space.
        [0xC0..<0xDF, 0xE0..<0xEF, 0xF0..<0xF7, 0xF8..<0xFB, 0xFC..<0xFD]
            .map { "-" + $0.map { hex($0) + "20" }.joined() }
            .joined(separator: " "),
        // 6.14 and 6.15: incomplete sequences, alone and together.
        "-c0 -e080 -f08080 -f8808080 -fc80808080 -df -efbf -f7bfbf -fbbfbfbf -fdbfbfbfbf",
        "-c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf",
        // 6.16: bytes that never occur.
        "-fe -ff -fefeffff",
        // 6.17 to 6.19: overlong sequences.
        "-c0af -e080af -f08080af -f8808080af -fc80808080af",
        "-c1bf -e09fbf -f08fbfbf -f887bfbfbf -fc83bfbfbfbf",
        "-c080 -e08080 -f0808080 -f880808080 -fc8080808080",
        // 6.20 and 6.21: surrogates.
        "-eda080 -edadbf -edae80 -edafbf -edb080 -edbe80 -edbfbf",
        "-eda080edb080 -eda080edbfbf -edadbfedb080 -edadbfedbfbf -edae80edb080 -edae80edbfbf -edafbfedb080 "
            + "-edafbfedbfbf",
        // 6.22: noncharacters, which are valid.
        "efbfbe efbfbf "
            + (1...16).flatMap { plane in [0xFFFE, 0xFFFF].map { plane << 16 | $0 } }
            .compactMap(Unicode.Scalar.init).map { String($0).utf8.map { hex(Int($0)) }.joined() }
            .joined(separator: " "),
        // 6.23: specials.
        "efbfb9 efbfba efbfbb efbfbc efbfbd efbfbe efbfbf",
    ]

    private static func hex(_ byte: Int) -> String { String(byte + 0x100, radix: 16).suffix(2).lowercased() }

    /// Bytes as hexadecimal digits; spaces are ignored.
    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// Close frames (section 7).
extension ProtocolCase {
    static let closes: [ProtocolCase] = {
        let close = RawFrame.close(1000)
        let closed = WebSocketEvent.close(.normal, "")
        let fragment = RawFrame(1, Array("fragment1".utf8), isFinal: false)
        let long = String(repeating: "*", count: 256 << 10)
        let reason = [UInt8](repeating: UInt8(ascii: "*"), count: 123)
        return [
            ProtocolCase("7.1.1", [.hello, close], [.hello, closed]),
            ProtocolCase("7.1.2", [close, close], [closed], fails: .dataAfterClose),
            ProtocolCase("7.1.3", [close, .ping()], [closed], fails: .dataAfterClose),
            ProtocolCase("7.1.4", [close, .hello], [closed], fails: .dataAfterClose),
            ProtocolCase("7.1.5", [fragment, close, .more([1])], [closed], fails: .dataAfterClose),
            ProtocolCase("7.1.6", [.text(long), close, .ping()], [.text(long), closed], fails: .dataAfterClose),
            ProtocolCase("7.3.1", [RawFrame(8)], [.close(nil, "")]),
            ProtocolCase("7.3.2", [RawFrame(8, [0x61])], fails: .invalidClosePayload),
            ProtocolCase("7.3.3", [close], [closed]),
            ProtocolCase("7.3.4", [.close(1000, Array("Hello World!".utf8))], [.close(.normal, "Hello World!")]),
            ProtocolCase("7.3.5", [.close(1000, reason)], [.close(.normal, String(decoding: reason, as: UTF8.self))]),
            ProtocolCase("7.3.6", [.close(1000, reason + [0x2A])], fails: .controlFrameTooLong),
            ProtocolCase("7.5.1", [.close(1000, surrogate)], fails: .invalidUTF8),
        ] + codes
    }()

    private static let codes: [ProtocolCase] = {
        let valid: [UInt16] = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
        let invalid: [UInt16] = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]
        let undefined: [UInt16] = [5000, 65535]
        return valid.enumerated()
            .map { index, code in
                ProtocolCase("7.7.\(index + 1)", [.close(code)], [.close(WebSocketCloseCode(rawValue: code), "")])
            }
            + invalid.enumerated()
            .map { ProtocolCase("7.9.\($0.offset + 1)", [.close($0.element)], fails: .invalidCloseCode) }
            + undefined.enumerated()
            .map { ProtocolCase("7.13.\($0.offset + 1)", [.close($0.element)], fails: .invalidCloseCode) }
    }()
}
