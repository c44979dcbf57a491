// SPDX-License-Identifier: MIT
#if canImport(Compression)
import Compression
import Foundation

/// Compresses bytes (RFC 1951) with the system's Compression framework.
final class Deflater {
    static var isAvailable: Bool { true }

    /// Not stored in this object, because the framework stores its address.
    private let stream: UnsafeMutablePointer<compression_stream>

    /// - Returns: `nil` if the system has no memory.
    init?() {
        stream = .allocate(capacity: 1)
        // `COMPRESSION_ZLIB` has neither zlib's header nor its checksum.
        guard compression_stream_init(stream, COMPRESSION_STREAM_ENCODE, COMPRESSION_ZLIB) == COMPRESSION_STATUS_OK
        else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        compression_stream_destroy(stream)
        stream.deallocate()
    }

    /// Compresses some of the input into the output. After the last input, call it until it is at the end.
    func deflate(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        into output: UnsafeMutableRawBufferPointer
    ) -> (readCount: Int, writtenCount: Int, isAtEnd: Bool) {
        guard let target = output.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return (0, 0, false) }
        // Without input, the framework still reads the pointer's value.
        stream.pointee.src_ptr = input.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafePointer(target)
        stream.pointee.src_size = input.count
        stream.pointee.dst_ptr = target
        stream.pointee.dst_size = output.count
        let flags = isLast ? Int32(COMPRESSION_STREAM_FINALIZE.rawValue) : 0
        let status = compression_stream_process(stream, flags)
        return (
            input.count - stream.pointee.src_size, output.count - stream.pointee.dst_size,
            status == COMPRESSION_STATUS_END
        )
    }
}
#endif
