// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import TargetKitWebSocket

/// A case of the public list of the Autobahn test suite for WebSocket clients
/// (https://github.com/crossbario/autobahn-testsuite), written anew as frames with the outcome that it requires.
struct ProtocolCase: CustomTestStringConvertible, Sendable {
    /// The number in the list, for example `5.19`.
    var id: String
    var frames: [RawFrame]
    var expected: ReadResult

    var testDescription: String { id }

    init(_ id: String, _ frames: [RawFrame], _ events: [WebSocketEvent] = [], fails kind: WebSocketError.Reason? = nil)
    {
        self.id = id
        self.frames = frames
        expected = ReadResult(events: events, failure: kind)
    }

    /// The frames as the other end of a role sends them.
    func bytes(for role: WebSocketRole) -> [UInt8] {
        frames.flatMap { frame in
            var frame = frame
            frame.key = role == .server ? [0x37, 0xFA, 0x21, 0x3D] : nil
            return frame.bytes
        }
    }

    static let all = sizes + pings + reservedBits + opcodes + fragments + text + closes
}

extension RawFrame {
    static let hello = RawFrame.text("Hello, world!")
}

extension WebSocketEvent {
    static let hello = WebSocketEvent.text("Hello, world!")
}

// MARK: - Sections 1 to 5

extension ProtocolCase {
    /// Messages of each size (1.1 and 1.2).
    static let sizes = [0, 125, 126, 127, 128, 65535, 65536, 65536].enumerated()
        .flatMap { index, size in
            let payload = String(repeating: "*", count: size)
            let bytes = [UInt8](repeating: 0xFE, count: size)
            return [
                ProtocolCase("1.1.\(index + 1)", [.text(payload)], [.text(payload)]),
                ProtocolCase("1.2.\(index + 1)", [.binary(bytes)], [.data(Data(bytes))]),
            ]
        }

    /// Pings and pongs (2).
    static let pings: [ProtocolCase] = {
        let binary: [UInt8] = [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF]
        let long = [UInt8](repeating: 0xFE, count: 125)
        let ten = (0..<10).map { Array("payload-\($0)".utf8) }
        let unsolicited = Array("unsolicited pong payload".utf8)
        let ping = Array("ping payload".utf8)
        return [
            ProtocolCase("2.1", [.ping()], [.ping(Data())]),
            ProtocolCase("2.2", [.ping(Array("Hello, world!".utf8))], [.ping(Data("Hello, world!".utf8))]),
            ProtocolCase("2.3", [.ping(binary)], [.ping(Data(binary))]),
            ProtocolCase("2.4 and 2.6", [.ping(long)], [.ping(Data(long))]),
            ProtocolCase("2.5", [.ping(long + [0xFE])], fails: .controlFrameTooLong),
            ProtocolCase("2.7", [.pong()], [.pong(Data())]),
            ProtocolCase("2.8", [.pong(unsolicited)], [.pong(Data(unsolicited))]),
            ProtocolCase("2.9", [.pong(unsolicited), .ping(ping)], [.pong(Data(unsolicited)), .ping(Data(ping))]),
            ProtocolCase("2.10 and 2.11", ten.map { .ping($0) }, ten.map { .ping(Data($0)) }),
        ]
    }()

    /// Reserved bits (3).
    static let reservedBits: [ProtocolCase] = {
        let text = Array("Hello, world!".utf8)
        return [
            ProtocolCase("3.1", [RawFrame(1, text, reserved: 1)], fails: .reservedBits),
            ProtocolCase("3.2", [.hello, RawFrame(1, text, reserved: 2), .ping()], [.hello], fails: .reservedBits),
            ProtocolCase("3.3", [.hello, RawFrame(1, text, reserved: 3), .ping()], [.hello], fails: .reservedBits),
            ProtocolCase("3.4", [.hello, RawFrame(1, text, reserved: 4), .ping()], [.hello], fails: .reservedBits),
            ProtocolCase("3.5", [RawFrame(2, text, reserved: 5)], fails: .reservedBits),
            ProtocolCase("3.6", [RawFrame(9, text, reserved: 6)], fails: .reservedBits),
            ProtocolCase("3.7", [RawFrame(8, text, reserved: 7)], fails: .reservedBits),
        ]
    }()

    /// Reserved opcodes (4): each alone, with a payload, and after a message.
    static let opcodes: [ProtocolCase] = [(1, 3), (2, 11)]
        .flatMap { section, first in
            (0..<5)
                .map { index in
                    let opcode = UInt8(first + index)
                    let frame = RawFrame(opcode, index == 0 || index == 2 ? [] : Array("reserved opcode".utf8))
                    return ProtocolCase(
                        "4.\(section).\(index + 1)",
                        index < 2 ? [frame] : [.hello, frame, .ping()],
                        index < 2 ? [] : [.hello],
                        fails: .reservedOpcode
                    )
                }
        }

    /// Fragments (5). The cases that differ in their cuts only are one here.
    static let fragments: [ProtocolCase] = {
        let part = (1...5).map { Array("fragment\($0)".utf8) }
        let (first, rest) = (RawFrame(1, part[0], isFinal: false), RawFrame.more(part[1]))
        let joined = { (count: Int) in WebSocketEvent.text((1...count).map { "fragment\($0)" }.joined()) }
        let alone = RawFrame.more(Array("non-continuation payload".utf8))
        let open = RawFrame.more(Array("non-continuation payload".utf8), isFinal: false)
        let pings = ["pongme 1!", "pongme 2!"].map { Array($0.utf8) }
        return [
            ProtocolCase("5.1", [RawFrame(9, part[0], isFinal: false), rest], fails: .fragmentedControlFrame),
            ProtocolCase("5.2", [RawFrame(10, part[0], isFinal: false), rest], fails: .fragmentedControlFrame),
            ProtocolCase("5.3 to 5.5", [first, rest], [joined(2)]),
            ProtocolCase("5.6 to 5.8", [first, .ping(pings[0]), rest], [.ping(Data(pings[0])), joined(2)]),
            ProtocolCase("5.9 to 5.11", [alone, .hello], fails: .wrongFragmentation),
            ProtocolCase("5.12 to 5.14", [open, .hello], fails: .wrongFragmentation),
            ProtocolCase("5.15", [first, rest, open, .hello], [joined(2)], fails: .wrongFragmentation),
            ProtocolCase("5.16", [open, first, rest, open, first, rest], fails: .wrongFragmentation),
            ProtocolCase("5.17", [alone, first, rest, alone, first, rest], fails: .wrongFragmentation),
            ProtocolCase("5.18", [first, RawFrame(1, part[1])], fails: .wrongFragmentation),
            ProtocolCase(
                "5.19 and 5.20",
                [
                    first, .more(part[1], isFinal: false), .ping(pings[0]), .more(part[2], isFinal: false),
                    .more(part[3], isFinal: false), .ping(pings[1]), .more(part[4]),
                ],
                [.ping(Data(pings[0])), .ping(Data(pings[1])), joined(5)]
            ),
        ]
    }()
}
