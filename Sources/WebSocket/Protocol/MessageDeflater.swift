// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit
import _TargetKitFiles

/// Compresses messages (RFC 7692 §7.2.1).
final class MessageDeflater {
    private let library: ZlibCompression
    private let isContextKept: Bool
    /// Allocated outside this object, because zlib stores its address.
    private let stream: UnsafeMutablePointer<ZlibLibrary.Stream>

    /// - Returns: `nil` when zlib isn't loaded, or has no memory.
    init?(windowBits: Int, isContextKept: Bool) {
        guard let library = ZlibCompression.loaded else { return nil }
        self.library = library
        self.isContextKept = isContextKept
        stream = .allocate(capacity: 1)
        stream.initialize(to: ZlibLibrary.Stream())
        // zlib can't compress with a window of 256 bytes.
        let bits = Int32(max(9, windowBits))
        guard library.start(stream, windowBits: -bits, usesWindow: windowBits >= 9) else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        _ = library.end(stream)
        stream.deallocate()
    }

    /// The maximum input in one step, because zlib's counts have 32 bits.
    private static let maximumStep = 1 << 30

    /// Compresses a part of a message, and appends it.
    ///
    /// - Parameter isLast: Whether the part ends the message. The tail is then omitted.
    func deflate(_ part: UnsafeRawBufferPointer, isLast: Bool, into output: inout [UInt8]) {
        var rest = part[...]
        while !rest.isEmpty {
            deflateStep(UnsafeRawBufferPointer(rebasing: rest.prefix(Self.maximumStep)), into: &output)
            rest = rest.dropFirst(Self.maximumStep)
        }
        guard isLast else { return }
        output.removeLast(min(PerMessageDeflate.tail.count, output.count))
        if !isContextKept { _ = library.reset(stream) }
    }

    private func deflateStep(_ input: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(input.count)
        var isFull = false
        repeat {
            let room = max(64, Int(stream.pointee.avail_in) / 2)
            let start = output.count
            output.append(contentsOf: repeatElement(0, count: room))
            let left = output.withUnsafeMutableBytes { bytes in
                stream.pointee.next_out = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self).advanced(by: start)
                stream.pointee.avail_out = UInt32(room)
                _ = library.deflate(stream, ZlibLibrary.Flush.sync)
                return Int(stream.pointee.avail_out)
            }
            output.removeLast(left)
            isFull = left == 0
        } while isFull
    }
}
#endif
