// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl
import TargetKit

/// Compresses bytes (RFC 1951) with zlib, which libcurl has loaded.
final class Deflater {
    private struct Library: Sendable {
        let start: ccurl_deflate_init
        let deflate: ccurl_deflate
        let end: ccurl_deflate_change

        static let loaded: Library? = {
            guard let library = LoadedLibrary("libz.so.1"),
                let start: ccurl_deflate_init = library.function("deflateInit2_"),
                let deflate: ccurl_deflate = library.function("deflate"),
                let end: ccurl_deflate_change = library.function("deflateEnd")
            else { return nil }
            return Library(start: start, deflate: deflate, end: end)
        }()
    }

    static var isAvailable: Bool { Library.loaded != nil }

    private let library: Library
    /// Not stored in this object, because zlib stores its address.
    private let stream: UnsafeMutablePointer<ccurl_z_stream>

    /// - Returns: `nil` if zlib isn't loaded, or has no memory.
    init?() {
        guard let library = Library.loaded else { return nil }
        self.library = library
        stream = .allocate(capacity: 1)
        stream.initialize(to: ccurl_z_stream())
        // `Z_DEFLATED` with zlib's defaults for level, memory and strategy, and a window without a header.
        guard library.start(stream, -1, 8, -15, 8, 0, "1", Int32(MemoryLayout<ccurl_z_stream>.size)) == 0 else {
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
        // `Z_FINISH` or `Z_NO_FLUSH`; the result is `Z_STREAM_END` at the end.
        let result = library.deflate(stream, isLast ? 4 : 0)
        return (Int(readable - stream.pointee.avail_in), Int(space - stream.pointee.avail_out), result == 1)
    }
}
#endif
