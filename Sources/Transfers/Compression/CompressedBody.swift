// SPDX-License-Identifier: MIT
import TargetKit

/// A body that is compressed while it is read. Each reader returns the same bytes.
struct CompressedBody: BodySource {
    let source: any BodySource
    let coding: BodyCompression.Coding

    /// `nil`: known only after compressing it.
    var length: Int64? { nil }

    /// Whether the system's compression can be used.
    static var isAvailable: Bool { Deflater.isAvailable }

    func open() throws -> any BodyReader {
        guard let deflater = Deflater() else { throw URLError(.resourceUnavailable) }
        return Reader(try source.open(), deflater: deflater, coding: coding)
    }

    private final class Reader: BodyReader {
        private let reader: any BodyReader
        private let deflater: Deflater
        private var frame: CodingFrame
        private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        /// The bytes of the input that aren't compressed yet.
        private var rest: Range<Int> = 0..<0
        private var isInputAtEnd = false
        /// The bytes of the header or the trailer that weren't returned.
        private var pending: ArraySlice<UInt8>
        private var isAtEnd = false

        init(_ reader: any BodyReader, deflater: Deflater, coding: BodyCompression.Coding) {
            self.reader = reader
            self.deflater = deflater
            frame = CodingFrame(coding)
            pending = frame.header[...]
        }

        deinit {
            input.deallocate()
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            while !buffer.isEmpty {
                if !pending.isEmpty {
                    let piece = pending.prefix(buffer.count)
                    buffer.copyBytes(from: piece)
                    pending = pending.dropFirst(piece.count)
                    return piece.count
                }
                if isAtEnd { return 0 }
                if rest.isEmpty, !isInputAtEnd { try fill() }
                let bytes = UnsafeRawBufferPointer(rebasing: input[rest])
                let step = deflater.deflate(bytes, isLast: isInputAtEnd, into: buffer)
                rest = rest.lowerBound + step.readCount..<rest.upperBound
                if step.isAtEnd {
                    isAtEnd = true
                    pending = frame.trailer[...]
                }
                if step.writtenCount > 0 { return step.writtenCount }
            }
            return 0
        }

        private func fill() throws {
            // A custom reader may return too high a count.
            let count = min(try reader.read(into: input), input.count)
            rest = 0..<max(0, count)
            isInputAtEnd = count <= 0
            frame.add(UnsafeRawBufferPointer(rebasing: input[rest]))
        }
    }
}

/// What a coding puts around deflated bytes: a header, and a checksum of the original bytes.
struct CodingFrame {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }

    private let coding: BodyCompression.Coding
    private var size: UInt32 = 0
    /// CRC-32 (RFC 1952 §8), inverted.
    private var crc = UInt32.max
    /// Adler-32 (RFC 1950 §9).
    private var (low, high): (UInt32, UInt32) = (1, 0)

    init(_ coding: BodyCompression.Coding) {
        self.coding = coding
    }

    /// Counts original bytes.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        switch coding {
        case .gzip:
            size &+= UInt32(truncatingIfNeeded: bytes.count)
            crc = Self.table.withUnsafeBufferPointer { table in
                bytes.reduce(crc) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
            }
        case .deflate:
            var rest = bytes[...]
            while !rest.isEmpty {
                // The most bytes after which the sums don't overflow.
                for byte in rest.prefix(5552) {
                    low &+= UInt32(byte)
                    high &+= low
                }
                (low, high) = (low % 65_521, high % 65_521)
                rest = rest.dropFirst(5552)
            }
        }
    }

    var header: [UInt8] {
        switch coding {
        // Without a name and a time, from an unknown system (RFC 1952 §2.3).
        case .gzip: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
        // A window of 32 KiB (RFC 1950 §2.2).
        case .deflate: [0x78, 0x9C]
        }
    }

    var trailer: [UInt8] {
        switch coding {
        case .gzip: [~crc, size].flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        case .deflate: (0..<4).map { UInt8(truncatingIfNeeded: (high << 16 | low) >> (24 - 8 * $0)) }
        }
    }
}
