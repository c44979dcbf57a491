// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit
import _TargetKitFiles

/// Compresses bytes (RFC 1951) with zlib, which libcurl has loaded.
final class Deflater {
    static var isAvailable: Bool { ZlibCompression.loaded != nil }

    private let library: ZlibCompression
    /// Not stored in this object, because zlib stores its address.
    private let stream: UnsafeMutablePointer<ZlibLibrary.Stream>

    /// - Returns: `nil` if zlib isn't loaded, or has no memory.
    init?() {
        guard let library = ZlibCompression.loaded else { return nil }
        self.library = library
        stream = .allocate(capacity: 1)
        stream.initialize(to: ZlibLibrary.Stream())
        guard library.start(stream, windowBits: -15) else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        _ = library.end(stream)
        stream.deallocate()
    }

    /// Compresses some of the input into the output. After the last input, call it until it is at the end.
    func deflate(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into output: UnsafeMutableRawBufferPointer
    ) -> (readCount: Int, writtenCount: Int, isAtEnd: Bool) {
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let space = UInt32(clamping: output.count)
        stream.pointee.avail_out = space
        let readable = stream.pointee.avail_in
        let result = library.deflate(stream, isLast ? ZlibCompression.finish : ZlibLibrary.Flush.none)
        let isAtEnd = result == ZlibLibrary.Code.streamEnd
        return (Int(readable - stream.pointee.avail_in), Int(space - stream.pointee.avail_out), isAtEnd)
    }
}
#elseif !canImport(Compression)
/// The system has no library that compresses, so bodies are sent as they are.
final class Deflater {
    static var isAvailable: Bool { false }

    init?() { return nil }

    func deflate(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into output: UnsafeMutableRawBufferPointer
    ) -> (readCount: Int, writtenCount: Int, isAtEnd: Bool) {
        (input.count, 0, isLast)
    }
}
#endif
