// SPDX-License-Identifier: MIT
#if os(Linux)
/// Decodes gzip (RFC 1952) and deflate (RFC 1950). zlib verifies their checksums.
final class ZlibDecoder: ContentDecoder {
    private let library: ZlibLibrary
    private let isGzip: Bool
    /// Not stored in this object, because zlib stores its address.
    private let stream: UnsafeMutablePointer<ZlibLibrary.Stream>
    private var isStarted = false
    private(set) var isAtEnd = false
    /// The number of bytes that are ignored after the end.
    private var ignoredCount = 0

    /// - Returns: `nil` if zlib isn't loaded.
    init?(isGzip: Bool) {
        guard let library = ZlibLibrary.loaded else { return nil }
        self.library = library
        self.isGzip = isGzip
        stream = .allocate(capacity: 1)
        stream.initialize(to: ZlibLibrary.Stream())
    }

    deinit {
        if isStarted { _ = library.endInflate(stream) }
        stream.deallocate()
    }

    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> Int {
        if isAtEnd { try beginMember(&input) }
        guard !isAtEnd, try start(input) else { return 0 }
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: output.count)
        let result = library.inflate(stream, ZlibLibrary.Flush.none)
        input.skip(input.count - Int(stream.pointee.avail_in))
        switch result {
        case ZlibLibrary.Code.ok, ZlibLibrary.Code.noProgress: break
        case ZlibLibrary.Code.streamEnd: isAtEnd = true
        default: throw .invalid(isGzip ? .gzip : .deflate)
        }
        return output.count - Int(stream.pointee.avail_out)
    }

    /// Starts at the first byte; returns `false` without one.
    private func start(_ input: UnsafeRawBufferPointer) throws(TransportFailure) -> Bool {
        guard !isStarted else { return true }
        guard let first = input.first else { return false }
        // Some servers send deflate without zlib's header. Only zlib's header begins with these bits. A body without it
        // can end with a checksum.
        let isRaw = !isGzip && first & 0x8F != 0x08
        if isRaw { ignoredCount = 4 }
        let windowBits: Int32 = isGzip ? 31 : isRaw ? -15 : 15
        guard library.startInflate(stream, windowBits: windowBits) else {
            throw .invalid(isGzip ? .gzip : .deflate)
        }
        isStarted = true
        return true
    }

    /// Begins the next member after the end of one (RFC 1952 §2.2) and its padding.
    private func beginMember(_ input: inout UnsafeRawBufferPointer) throws(TransportFailure) {
        let ignored = min(ignoredCount, input.count)
        ignoredCount -= ignored
        input.skip(ignored)
        // Some encoders pad the last member with zeros; gzip(1) and browsers ignore them.
        if isGzip { input.skip(input.prefix { $0 == 0 }.count) }
        guard let first = input.first else { return }
        guard isGzip, first == 0x1F, library.resetInflate(stream) == ZlibLibrary.Code.ok else {
            throw .bytesAfterCoding
        }
        isAtEnd = false
    }
}

// MARK: - Whole bodies

/// A whole body in memory.
package enum ZlibBody {
    /// Returns the body without its coding; `nil` if it can't be decoded, isn't complete, or exceeds a limit.
    package static func decoded(_ body: Data, isGzip: Bool, limit: Int) -> Data? {
        guard let decoder = ZlibDecoder(isGzip: isGzip) else { return nil }
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { chunk.deallocate() }
        var result: [UInt8] = []
        return [UInt8](body).withUnsafeBytes { bytes in
            var input = bytes
            while true {
                guard let count = try? decoder.decode(&input, into: chunk), result.count + count <= limit else {
                    return nil
                }
                result.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<count]))
                if count == 0, input.isEmpty { return decoder.isAtEnd ? Data(result) : nil }
            }
        }
    }
}
#endif
