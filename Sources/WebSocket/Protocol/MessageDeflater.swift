// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// Compresses messages (RFC 7692 §7.2.1).
final class MessageDeflater {
    private let library: DeflateLibrary
    private let isContextKept: Bool
    /// Allocated outside this object, because zlib stores its address.
    private let stream: UnsafeMutablePointer<ccurl_z_stream>

    /// `Z_DEFLATED`, and zlib's defaults.
    private enum Parameter {
        static let method: Int32 = 8
        static let level: Int32 = -1
        static let memoryLevel: Int32 = 8
        static let defaultStrategy: Int32 = 0
        /// Disables references to the window, so that its size doesn't matter.
        static let huffmanOnly: Int32 = 2
    }

    /// - Returns: `nil` when zlib isn't loaded, or has no memory.
    init?(windowBits: Int, isContextKept: Bool) {
        guard let library = DeflateLibrary.loaded else { return nil }
        self.library = library
        self.isContextKept = isContextKept
        stream = .allocate(capacity: 1)
        stream.initialize(to: ccurl_z_stream())
        // zlib can't compress with a window of 256 bytes.
        let strategy = windowBits < 9 ? Parameter.huffmanOnly : Parameter.defaultStrategy
        let status = library.startDeflate(
            stream,
            Parameter.level,
            Parameter.method,
            -Int32(max(9, windowBits)),
            Parameter.memoryLevel,
            strategy,
            "1",
            DeflateLibrary.streamSize
        )
        guard status == DeflateLibrary.Code.ok else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        _ = library.endDeflate(stream)
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
        output.removeLast(min(DeflateLibrary.tail.count, output.count))
        if !isContextKept { _ = library.resetDeflate(stream) }
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
                _ = library.deflate(stream, DeflateLibrary.Code.syncFlush)
                return Int(stream.pointee.avail_out)
            }
            output.removeLast(left)
            isFull = left == 0
        } while isFull
    }
}
#endif
