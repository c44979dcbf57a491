// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import TargetKitWebSocket

@Suite("Compressed messages", .throttled)
struct PerMessageDeflateTests {
    private let hello = ReadResult(events: [.text("Hello")])

    private func result(of hex: String, _ deflate: PerMessageDeflate = PerMessageDeflate()) -> ReadResult {
        var reader = WebSocketReader(role: .client, deflate: deflate)
        return reader.result(of: ProtocolCase.bytes(hex))
    }

    @Test(
        "The examples of RFC 7692 §7.2.3 are read, at every cut",
        arguments: [
            "c107 f248cdc9c90700",
            "4103 f248cd 8004 c9c90700",
            "c10b 000500faff48656c6c6f00",
            "c108 f348cdc9c9070000",
            "c10d f248050000 00ffffcac9c90700",
        ]
    )
    func examples(hex: String) {
        let bytes = ProtocolCase.bytes(hex)
        for cut in bytes.indices {
            var reader = WebSocketReader(role: .client, deflate: PerMessageDeflate())
            #expect(reader.result(of: [bytes[..<cut], bytes[cut...]]) == hello, "cut at \(cut)")
        }
    }

    @Test("A message refers to the one before it only if the context is kept (RFC 7692 §7.2.3.2)")
    func context() {
        let both = "c107 f248cdc9c90700 c105 f200110000"
        #expect(result(of: both).events == [.text("Hello"), .text("Hello")])
        let reset = result(of: both, PerMessageDeflate(serverNoContextTakeover: true))
        #expect(reset.events == [.text("Hello")] && reset.failure == .invalidCompressedData)
    }

    @Test("The context outlives a final block")
    func finalBlock() {
        #expect(result(of: "c108 f348cdc9c9070000 c105 f200110000").events == [.text("Hello"), .text("Hello")])
    }

    @Test("A compressed message without bytes is empty")
    func empty() {
        #expect(result(of: "c100 c10100").events == [.text(""), .text("")])
    }

    @Test(
        "Compressed data that is invalid or incomplete is refused",
        arguments: ["c101 ff", "c103 f248cd", "c107 f248cdc9c907ff", "c102 0700", "c104 000500fb", "c105 0005000048"]
    )
    func invalid(hex: String) {
        #expect(result(of: hex) == ReadResult(failure: .invalidCompressedData))
    }

    @Test(
        "Only the first frame of a message may be marked as compressed, and no control frame",
        arguments: [
            "4103 f248cd c004 c9c90700", "c900", "c800",
        ]
    )
    func marks(hex: String) {
        #expect(result(of: hex).failure == .reservedBits)
    }

    @Test("A message that expands beyond the limit is refused before its memory is allocated")
    func bomb() throws {
        // 8 MiB of zeros.
        var bomb: [UInt8] = []
        let deflater = try #require(MessageDeflater(windowBits: 15, isContextKept: true))
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for index in 0..<8 {
            zeros.withUnsafeBytes { deflater.deflate($0, isLast: index == 7, into: &bomb) }
        }
        let limits = WebSocketLimits(messageSize: 1 << 20)
        var reader = WebSocketReader(role: .client, limits: limits, deflate: PerMessageDeflate())
        #expect(bomb.count < 100_000)
        let result = reader.result(of: RawFrame(2, bomb, reserved: 4).bytes)
        #expect(result == ReadResult(failure: .messageTooLarge))
    }

    @Test("A message as large as the limit is read, one byte more is refused", arguments: [0, 1, 1000, 100_000])
    func limit(size: Int) {
        for extra in 0...1 {
            var writer = WebSocketWriter(role: .server, deflate: PerMessageDeflate(minimumSize: 1))
            var output: [UInt8] = []
            writer.write(data: Data(repeating: 7, count: size + extra), to: &output)
            let limits = WebSocketLimits(messageSize: size)
            var reader = WebSocketReader(role: .client, limits: limits, deflate: PerMessageDeflate())
            #expect(reader.result(of: output).failure == (extra == 0 ? nil : .messageTooLarge))
        }
    }

    @Test("Any limits can be set", arguments: [Int.min, -1, 0, Int.max])
    func extremeLimits(size: Int) {
        var limits = WebSocketLimits()
        (limits.messageSize, limits.frameSize) = (size, size)
        for role in [WebSocketRole.client, .server] {
            for deflate in [nil, PerMessageDeflate(minimumSize: 1)] {
                var writer = WebSocketWriter(role: role == .client ? .server : .client, deflate: deflate)
                var output: [UInt8] = []
                writer.write(text: "hello", to: &output)
                var reader = WebSocketReader(role: role, limits: limits, deflate: deflate)
                let expected =
                    size > 0
                    ? ReadResult(events: [.text("hello")]) : ReadResult(failure: .frameTooLarge)
                #expect(reader.result(of: output) == expected)
            }
        }
    }

    /// Sections 12 and 13: the sizes, the sizes of fragments, and the parameters.
    private static let sizes = [
        (16, 0), (64, 0), (256, 0), (1024, 0), (4096, 0), (8192, 0), (16384, 0), (32768, 0), (65536, 0), (131_072, 0),
        (8192, 256), (16384, 256), (32768, 256), (65536, 256), (131_072, 256), (131_072, 1024), (131_072, 4096),
        (131_072, 32768),
    ]

    private static let parameters = [
        PerMessageDeflate(),
        PerMessageDeflate(clientNoContextTakeover: true, serverNoContextTakeover: true),
        PerMessageDeflate(clientWindowBits: 9, serverWindowBits: 9),
        PerMessageDeflate(clientWindowBits: 8, serverWindowBits: 8),
        PerMessageDeflate(clientNoContextTakeover: true, clientWindowBits: 9, serverWindowBits: 10),
        PerMessageDeflate(serverNoContextTakeover: true, clientWindowBits: 15, serverWindowBits: 8),
    ]

    @Test(
        "Messages of each size, kind and fragmentation arrive as they were sent, with each set of parameters",
        arguments: sizes,
        parameters
    )
    func roundTrips(size: (length: Int, fragment: Int), deflate: PerMessageDeflate) {
        // The largest ones are sent by the server only.
        for role in size.length < 16384 ? [WebSocketRole.client, .server] : [.server] {
            let fragment = size.fragment == 0 ? Int.max : size.fragment
            var writer = WebSocketWriter(role: role, deflate: deflate, fragmentSize: fragment)
            var reader = WebSocketReader(role: role == .client ? .server : .client, deflate: deflate)
            for (index, content) in TestContent.allCases.enumerated() {
                let data = content.data(size.length, seed: UInt64(index + size.length))
                var output: [UInt8] = []
                let event: WebSocketEvent
                if content.isText {
                    let text = String(decoding: data, as: UTF8.self)
                    event = .text(text)
                    writer.write(text: text, to: &output)
                } else {
                    event = .data(data)
                    writer.write(data: data, to: &output)
                }
                let pieces = stride(from: 0, to: output.count, by: 4099)
                    .map { output[$0..<min($0 + 4099, output.count)] }
                #expect(reader.result(of: pieces) == ReadResult(events: [event]), "\(content)")
            }
        }
    }

    @Test("A window of 256 bytes is kept, although zlib cannot compress with it")
    func smallWindow() throws {
        var output: [UInt8] = []
        var writer = WebSocketWriter(role: .server, deflate: PerMessageDeflate(serverWindowBits: 8))
        let data = TestContent.json.data(4096, seed: 1)
        for _ in 0..<2 { writer.write(data: data, to: &output) }
        // The window of this decompressor is 512 bytes, so a distance beyond it fails.
        var reader = WebSocketReader(role: .client, deflate: PerMessageDeflate(serverWindowBits: 9))
        #expect(reader.result(of: output).events == [.data(data), .data(data)])
    }

    @Test("A large message is written in slices", arguments: [true, false], [1000, Int.max])
    func slices(isCompressed: Bool, fragmentSize: Int) {
        let deflate = isCompressed ? PerMessageDeflate() : nil
        for size in [0, 1, 999, 1000, 1001, 100_000] {
            var writer = WebSocketWriter(role: .client, deflate: deflate, fragmentSize: fragmentSize)
            var reader = WebSocketReader(role: .server, deflate: deflate)
            let text = String(decoding: TestContent.json.data(size, seed: 3), as: UTF8.self)
            var result = ReadResult()
            for message in [WebSocketOutgoingMessage(.text(text)), WebSocketOutgoingMessage(.data(Data(text.utf8)))] {
                var message = message
                while !message.isWritten {
                    var output: [UInt8] = []
                    writer.write(&message, upTo: 333, to: &output)
                    let slice = reader.result(of: output)
                    result.events += slice.events
                    result.failure = result.failure ?? slice.failure
                }
                #expect(message.isAtFrameBoundary)
            }
            #expect(result == ReadResult(events: [.text(text), .data(Data(text.utf8))]))
        }
    }
}

/// Generated content like the files of section 12.
enum TestContent: CaseIterable {
    case json, text, bitmap, noise

    var isText: Bool { self == .json || self == .text }

    func data(_ size: Int, seed: UInt64) -> Data {
        var random = SeededRandom(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + 64)
        while bytes.count < size {
            switch self {
            case .json: bytes += Array(#"{"id":\#(random.next() % 10000),"name":"item","tags":["a","b"]},"#.utf8)
            case .text:
                bytes += Array(["Da steh ich nun, ", "ich armer Tor, ", "so klug "][Int(random.next() % 3)].utf8)
            case .bitmap: bytes += [UInt8](repeating: UInt8(truncatingIfNeeded: random.next() >> 60), count: 7)
            case .noise: withUnsafeBytes(of: random.next()) { bytes += $0 }
            }
        }
        return Data(bytes.prefix(size))
    }
}
#endif

/// A generator with a seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
