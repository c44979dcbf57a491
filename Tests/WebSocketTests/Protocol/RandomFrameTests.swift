// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// A stream of random frames, most of them valid, and the result that a reader must have.
private struct RandomStream {
    private(set) var bytes: [UInt8] = []
    private(set) var expected = ReadResult()
    private(set) var frameCount = 0
    private var random: SeededRandom
    private let role: WebSocketRole
    private let limits: WebSocketLimits
    /// The message that has begun: its kind and its bytes.
    private var message: (isText: Bool, bytes: [UInt8])?

    init(seed: UInt64, role: WebSocketRole, limits: WebSocketLimits) {
        random = SeededRandom(seed: seed)
        self.role = role
        self.limits = limits
        for _ in 0..<(1 + pick(20)) where expected.failure == nil {
            frameCount += 1
            if pick(12) == 0 { addBroken() } else { addValid() }
        }
    }

    mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private mutating func append(_ frame: RawFrame) {
        var frame = frame
        frame.key = role == .server ? (0..<4).map { _ in UInt8(pick(256)) } : nil
        bytes += frame.bytes
    }

    private mutating func fail(_ kind: WebSocketError.Reason, _ frame: RawFrame) {
        append(frame)
        expected.failure = kind
    }

    private mutating func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(pick(256)) } }

    /// Valid UTF-8, mostly of some characters in each of the four lengths.
    private mutating func text(_ count: Int) -> [UInt8] {
        let characters = ["a", "Z", "é", "€", "ह", "𝄞", "\u{7FF}", "\u{FFFF}", "\u{10FFFF}", "\u{0}"]
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += characters[pick(characters.count)].utf8 }
        return bytes
    }

    private mutating func addValid() {
        switch pick(8) {
        case 0:
            let payload = noise(pick(126))
            append(.ping(payload))
            expected.events.append(.ping(Data(payload)))
        case 1:
            let payload = noise(pick(126))
            append(.pong(payload))
            expected.events.append(.pong(Data(payload)))
        case 2 where pick(10) == 0:
            let reason = String(decoding: text(pick(30)), as: UTF8.self)
            let code = [1000, 1001, 1011, 3000, 4999][pick(5)]
            append(.close(UInt16(code), Array(reason.utf8)))
            expected.events.append(.close(WebSocketCloseCode(rawValue: UInt16(code)), reason))
            fail(.dataAfterClose, .ping())
        default: addMessage()
        }
    }

    /// Adds a frame of a message, whose text is cut anywhere.
    private mutating func addMessage() {
        let isText = message?.isText ?? (pick(2) == 0)
        let size = [0, 1, pick(125), 126, pick(300)][pick(5)]
        let isFirst = message == nil
        var whole = message ?? (isText, [])
        let isLast = pick(2) == 0
        var payload = isText ? text(size) : noise(size)
        if isText, !pending.isEmpty { payload = pending + payload }
        pending = []
        if isText, !isLast, let cut = payload.indices.last, pick(2) == 0 {
            pending = Array(payload[cut...])
            payload.removeSubrange(cut...)
        }
        whole.bytes += payload
        let opcode: UInt8 = isFirst ? (isText ? 1 : 2) : 0
        let frame = RawFrame(opcode, payload, isFinal: isLast)
        guard whole.bytes.count <= limits.messageSize else { return fail(.messageTooLarge, frame) }
        append(frame)
        message = isLast ? nil : whole
        guard isLast else { return }
        expected.events.append(
            isText ? .text(String(decoding: whole.bytes, as: UTF8.self)) : .data(Data(whole.bytes))
        )
    }

    /// The bytes of a character that the next fragment begins with.
    private var pending: [UInt8] = []

    private mutating func addBroken() {
        let payload = noise(pick(20))
        switch pick(12) {
        case 0: fail(.reservedBits, RawFrame(UInt8(pick(3)), payload, reserved: UInt8(1 + pick(7))))
        case 1: fail(.reservedOpcode, RawFrame(UInt8(3 + pick(5)), payload, isFinal: pick(2) == 0))
        case 2: fail(.reservedOpcode, RawFrame(UInt8(11 + pick(5)), payload))
        case 3: fail(.fragmentedControlFrame, RawFrame(UInt8(8 + pick(3)), payload, isFinal: false))
        case 4: fail(.controlFrameTooLong, RawFrame(UInt8(8 + pick(3)), noise(126 + pick(200))))
        case 5: fail(.wrongFragmentation, message == nil ? .more(payload) : RawFrame(UInt8(1 + pick(2)), payload))
        case 6: fail(.invalidClosePayload, RawFrame(8, [0x03]))
        case 7: fail(.invalidCloseCode, .close([0, 999, 1004, 1006, 1015, 2999, 5000][pick(7)]))
        case 8: fail(.invalidUTF8, .close(1000, [0x61, 0xFF]))
        case 9: breakMask()
        case 10: breakLength()
        default:
            let opcode: UInt8 = message == nil ? 1 : 0
            guard message?.isText != false else { return fail(.reservedOpcode, RawFrame(3)) }
            fail(.invalidUTF8, RawFrame(opcode, pending + text(pick(20)) + [0xC0, 0x80]))
        }
    }

    private mutating func breakMask() {
        let frame = RawFrame(9, [1], key: role == .client ? [1, 2, 3, 4] : nil)
        bytes += frame.bytes
        expected.failure = role == .client ? .maskedFrame : .unmaskedFrame
    }

    private mutating func breakLength() {
        var frame = RawFrame(message == nil ? 2 : 0, noise(pick(100)))
        switch pick(4) {
        case 0:
            frame.lengthSize = 2
            fail(.invalidLength, frame)
        case 1:
            frame.lengthSize = 8
            frame.statedLength = 65535
            fail(.invalidLength, frame)
        case 2:
            frame.statedLength = UInt64.max - UInt64(pick(1000))
            fail(.invalidLength, frame)
        default:
            frame.statedLength = UInt64(limits.frameSize) + 1 + UInt64(pick(Int(Int64.max) - limits.frameSize - 1))
            fail(.frameTooLarge, frame)
        }
    }
}

@Suite("Random frames", .throttled)
struct RandomFrameTests {
    /// The number of frames, and the seed of the first stream (`WEBSOCKET_FRAMES=1000000 WEBSOCKET_SEED=7 swift test
    /// --filter RandomFrameTests`). A failure names the seed of its stream: with that seed, it is the first one.
    private static let frameCount = number("WEBSOCKET_FRAMES", default: 20_000)
    private static let firstSeed = UInt64(number("WEBSOCKET_SEED", default: 1))

    private static func number(_ variable: String, default value: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }.map { max(0, $0) } ?? value
    }

    private let limits = WebSocketLimits(messageSize: 2000, frameSize: 3000)

    @Test(
        "Random frames, valid and broken, have the expected result at random cuts",
        arguments: [
            WebSocketRole.client, .server,
        ]
    )
    func frames(role: WebSocketRole) {
        var count = 0
        var seed = Self.firstSeed
        while count < Self.frameCount / 2 {
            var stream = RandomStream(seed: seed, role: role, limits: limits)
            count += stream.frameCount
            seed += 1
            var pieces: [ArraySlice<UInt8>] = []
            var rest = stream.bytes[...]
            while !rest.isEmpty {
                let size = 1 + stream.pick(stream.pick(4) == 0 ? 3 : 600)
                pieces.append(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            var reader = WebSocketReader(role: role, limits: limits)
            let result = reader.result(of: pieces)
            guard result != stream.expected else { continue }
            Issue.record("WEBSOCKET_SEED=\(seed - 1), role \(role): \(result) instead of \(stream.expected)")
            return
        }
    }

    @Test(
        "Damaged streams have the same result at every cut, with and without compression",
        arguments: [
            WebSocketRole.client, .server,
        ]
    )
    func damage(role: WebSocketRole) {
        for seed in (0..<UInt64(Self.frameCount / 20)).map({ Self.firstSeed &+ $0 }) {
            var stream = RandomStream(seed: seed &* 7919, role: role, limits: limits)
            var bytes = stream.bytes
            for _ in 0...stream.pick(4) where !bytes.isEmpty {
                bytes[stream.pick(bytes.count)] ^= 1 << UInt8(stream.pick(8))
            }
            let deflate = stream.pick(2) == 0 ? nil : PerMessageDeflate()
            var whole = WebSocketReader(role: role, limits: limits, deflate: deflate)
            var cut = WebSocketReader(role: role, limits: limits, deflate: deflate)
            let middle = stream.pick(bytes.count + 1)
            let expected = whole.result(of: bytes)
            #expect(cut.result(of: [bytes[..<middle], bytes[middle...]]) == expected, "WEBSOCKET_SEED=\(seed)")
        }
    }

    @Test("After an error, a reader reads nothing more")
    func afterError() {
        var reader = WebSocketReader(role: .client)
        #expect(reader.result(of: RawFrame(3).bytes).failure == .reservedOpcode)
        #expect(reader.result(of: RawFrame.hello.bytes) == ReadResult(failure: .reservedOpcode))
        #expect(throws: WebSocketError.self) { try reader.finish() }
    }

    @Test("The end of a connection is an error unless a close frame came before")
    func end() throws {
        var reader = WebSocketReader(role: .client)
        #expect(throws: WebSocketError(.closedWithoutCloseFrame, "the connection ended without a close frame")) {
            try reader.finish()
        }
        _ = reader.result(of: [0x81])
        let message = "the connection ended in the middle of a message without a close frame"
        #expect(throws: WebSocketError(.closedWithoutCloseFrame, message)) { try reader.finish() }
        var closed = WebSocketReader(role: .client)
        _ = closed.result(of: RawFrame.close(1000).bytes)
        try closed.finish()
    }
}
