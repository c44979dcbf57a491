// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import TargetKitWebSocket

/// A case of section 9 of the public list of the Autobahn test suite: large messages, and many small ones. Its bytes
/// are generated when it runs.
struct LoadCase: CustomTestStringConvertible, Sendable {
    /// The number in the list, for example `9.3.1`.
    var id: String
    var isText: Bool
    /// The size of each message in bytes.
    var size: Int
    /// The payload of each frame; default: the whole message.
    var fragmentSize = Int.max
    /// The number of bytes that arrive at a time; default: what the transport reads at a time.
    var chopSize = 64 << 10
    var count = 1

    var testDescription: String { id }

    /// The message, in which each 64-byte block differs.
    var message: WebSocketEvent {
        var bytes = [UInt8](repeating: 0x2A, count: size)
        for start in stride(from: 0, to: size, by: 64) {
            for (index, digit) in String(start).utf8.enumerated() where start + index < size {
                bytes[start + index] = digit
            }
        }
        return isText ? .text(String(decoding: bytes, as: UTF8.self)) : .data(Data(bytes))
    }

    /// The frames of a message, as a server sends them.
    func frames(of message: WebSocketEvent) -> [UInt8] {
        let payload: [UInt8] =
            switch message {
            case .text(let text): Array(text.utf8)
            case .data(let data): Array(data)
            default: []
            }
        guard size > fragmentSize else { return RawFrame(isText ? 1 : 2, payload).bytes }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: size, by: fragmentSize) {
            let end = min(size, start + fragmentSize)
            let frame = RawFrame(start > 0 ? 0 : isText ? 1 : 2, Array(payload[start..<end]), isFinal: end == size)
            bytes += frame.bytes
        }
        return bytes
    }
}

extension LoadCase {
    static let all = [true, false]
        .flatMap { isText in wholes(isText) + fragments(isText) + chops(isText) + masses(isText) }

    /// Cases whose number has a section for text, and the next one for data.
    private static func numbered(
        _ section: Int,
        _ isText: Bool,
        _ sizes: [Int],
        _ make: (_ id: String, _ size: Int) -> Self
    ) -> [Self] {
        sizes.enumerated().map { make("9.\(isText ? section : section + 1).\($0.offset + 1)", $0.element) }
    }

    /// One frame (9.1 and 9.2).
    private static func wholes(_ isText: Bool) -> [Self] {
        numbered(1, isText, [64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20, 16 << 20]) { id, size in
            Self(id: id, isText: isText, size: size)
        }
    }

    /// 4 MiB in fragments (9.3 and 9.4).
    private static func fragments(_ isText: Bool) -> [Self] {
        numbered(3, isText, (0..<9).map { 64 << (2 * $0) }) { id, size in
            Self(id: id, isText: isText, size: 4 << 20, fragmentSize: size)
        }
    }

    /// 1 MiB that arrives in small parts (9.5 and 9.6).
    private static func chops(_ isText: Bool) -> [Self] {
        numbered(5, isText, (0..<6).map { 64 << $0 }) { id, size in
            Self(id: id, isText: isText, size: 1 << 20, chopSize: size)
        }
    }

    /// 1,000 small messages (9.7 and 9.8).
    private static func masses(_ isText: Bool) -> [Self] {
        numbered(7, isText, [0, 16, 64, 256, 1024, 4096]) { id, size in
            Self(id: id, isText: isText, size: size, count: 1000)
        }
    }
}
