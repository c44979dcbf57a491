// SPDX-License-Identifier: MIT
import Foundation

@testable import TargetKitWebSocket

/// A frame as bytes, valid or not (RFC 6455 §5.2). It shares no code with the library's writer.
struct RawFrame {
    var first: UInt8
    var payload: [UInt8]
    var key: [UInt8]?
    /// The number of bytes that encode the length, 1, 2 or 8; default: the fewest.
    var lengthSize: Int?
    /// The length that the header states; default: the payload's.
    var statedLength: UInt64?

    init(_ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0, key: [UInt8]? = nil) {
        first = (isFinal ? 0x80 : 0) | reserved << 4 | opcode
        self.payload = payload
        self.key = key
    }

    static func text(_ text: String, isFinal: Bool = true) -> Self { Self(1, Array(text.utf8), isFinal: isFinal) }
    static func binary(_ bytes: [UInt8], isFinal: Bool = true) -> Self { Self(2, bytes, isFinal: isFinal) }
    static func more(_ bytes: [UInt8], isFinal: Bool = true) -> Self { Self(0, bytes, isFinal: isFinal) }
    static func close(_ code: UInt16, _ reason: [UInt8] = []) -> Self {
        Self(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
    }
    static func ping(_ bytes: [UInt8] = []) -> Self { Self(9, bytes) }
    static func pong(_ bytes: [UInt8] = []) -> Self { Self(10, bytes) }

    var bytes: [UInt8] {
        let length = statedLength ?? UInt64(payload.count)
        let size = lengthSize ?? (length < 126 ? 1 : length < 65536 ? 2 : 8)
        let masked: UInt8 = key == nil ? 0 : 0x80
        var bytes = [first, masked | (size == 1 ? UInt8(length & 0x7F) : size == 2 ? 126 : 127)]
        if size > 1 {
            for index in (0..<size).reversed() { bytes.append(UInt8(length >> (UInt64(index) * 8) & 0xFF)) }
        }
        guard let key else { return bytes + payload }
        bytes += key
        for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index % 4]) }
        return bytes
    }
}

/// What a reader returned for some bytes.
struct ReadResult: Equatable, CustomStringConvertible {
    var events: [WebSocketEvent] = []
    var failure: WebSocketError.Reason?

    var description: String {
        "\(events.map { String(describing: $0).prefix(60) }) \(failure.map { "\($0)" } ?? "")"
    }
}

extension WebSocketReader {
    /// Reads pieces, each from memory of its own.
    mutating func result(of pieces: [ArraySlice<UInt8>]) -> ReadResult {
        var result = ReadResult()
        for piece in pieces {
            do {
                try Array(piece).withUnsafeBufferPointer { (bytes) throws(WebSocketError) in
                    try read(UnsafeRawBufferPointer(bytes)) { result.events.append($0) }
                }
            } catch {
                result.failure = error.reason
                return result
            }
        }
        return result
    }

    mutating func result(of bytes: [UInt8]) -> ReadResult { result(of: [bytes[...]]) }
}
