// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit

/// Decompresses messages (RFC 7692 §7.2.2). Its output never exceeds a limit, regardless of how far the input expands.
final class MessageInflater {
    private let library: ZlibLibrary
    private let isContextKept: Bool
    /// Allocated outside this object, because zlib stores its address.
    private let stream: UnsafeMutablePointer<ZlibLibrary.Stream>
    /// Whether the message has any input.
    private var hasInput = false
    /// Whether the last bytes ended a final block, after which the tail isn't part of the message.
    private var isAtFinalBlock = false

    /// - Returns: `nil` when zlib isn't loaded, or has no memory.
    init?(windowBits: Int, isContextKept: Bool) {
        guard let library = ZlibLibrary.loaded else { return nil }
        self.library = library
        self.isContextKept = isContextKept
        stream = .allocate(capacity: 1)
        stream.initialize(to: ZlibLibrary.Stream())
        // A negative value omits zlib's header. A larger window can read the output of a smaller one, and not all
        // variants support 8.
        let bits = Int32(max(9, windowBits))
        guard library.startInflate(stream, windowBits: -bits) else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        _ = library.endInflate(stream)
        stream.deallocate()
    }

    /// Decompresses a chunk of a message.
    ///
    /// - Parameter check: Checks the bytes that were appended.
    func inflate(
        _ input: UnsafeRawBufferPointer,
        into output: MessageBytes,
        limit: Int,
        check: (UnsafeRawBufferPointer) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        guard !input.isEmpty else { return }
        hasInput = true
        try run(input, into: output, limit: limit, check: check)
    }

    /// Ends a message, and checks that its compressed data is complete.
    func finish(
        into output: MessageBytes,
        limit: Int,
        check: (UnsafeRawBufferPointer) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        if hasInput, !isAtFinalBlock {
            try PerMessageDeflate.tail.withUnsafeBufferPointer { (tail) throws(WebSocketError) in
                try run(UnsafeRawBufferPointer(tail), into: output, limit: limit, check: check)
            }
            // The number of unused bits, 64 in a final block, and 128 between two blocks.
            guard stream.pointee.data_type & 0xFF == 128 else {
                throw WebSocketError(.invalidCompressedData, "the compressed data of a message is incomplete")
            }
        }
        hasInput = false
        isAtFinalBlock = false
        if !isContextKept { _ = library.resetInflate(stream) }
    }

    private func run(
        _ input: UnsafeRawBufferPointer,
        into output: MessageBytes,
        limit: Int,
        check: (UnsafeRawBufferPointer) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        var isFull = false
        repeat {
            let start = output.count
            // One byte more than the limit, to distinguish a message at the limit from a larger one.
            let room = min(max(1024, start, 2 * Int(stream.pointee.avail_in)), limit - start + 1, Self.maximumStep)
            try output.append(room, limit: limit + 1) { (memory) throws(WebSocketError) in try step(into: memory) }
            guard output.count <= limit else { throw .messageTooLarge(limit: limit) }
            try check(UnsafeRawBufferPointer(rebasing: output.bytes[start...]))
            isFull = output.count - start == room
        } while isFull || stream.pointee.avail_in > 0
    }

    /// The maximum output of one step, in bytes.
    private static let maximumStep = 1 << 20

    /// Fills memory as far as possible, and returns the number of bytes.
    private func step(into memory: UnsafeMutableRawBufferPointer) throws(WebSocketError) -> Int {
        if isAtFinalBlock {
            // The next block refers to the window of the last one (RFC 7692 §7.2.3.4).
            _ = (isContextKept ? library.continueInflate ?? library.resetInflate : library.resetInflate)(stream)
            isAtFinalBlock = false
        }
        stream.pointee.next_out = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: memory.count)
        switch library.inflate(stream, ZlibLibrary.Flush.sync) {
        case ZlibLibrary.Code.ok, ZlibLibrary.Code.noProgress: break
        case ZlibLibrary.Code.streamEnd: isAtFinalBlock = true
        default: throw WebSocketError(.invalidCompressedData, "the compressed data of a message is invalid")
        }
        return memory.count - Int(stream.pointee.avail_out)
    }
}
#endif
