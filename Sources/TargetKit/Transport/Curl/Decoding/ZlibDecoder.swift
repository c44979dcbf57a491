// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// Decodes gzip (RFC 1952) and deflate (RFC 1950). zlib verifies their checksums.
final class ZlibDecoder: ContentDecoder {
    private struct Library: Sendable {
        let start: ccurl_inflate_init
        let inflate: ccurl_inflate
        let reset: ccurl_inflate_change
        let end: ccurl_inflate_change

        static let loaded: Library? = {
            guard let library = LoadedLibrary("libz.so.1"),
                let start: ccurl_inflate_init = library.function("inflateInit2_"),
                let inflate: ccurl_inflate = library.function("inflate"),
                let reset: ccurl_inflate_change = library.function("inflateReset"),
                let end: ccurl_inflate_change = library.function("inflateEnd")
            else { return nil }
            return Library(start: start, inflate: inflate, reset: reset, end: end)
        }()
    }

    private enum Code {
        static let ok: Int32 = 0
        static let streamEnd: Int32 = 1
        /// No progress is possible with the input and output.
        static let noProgress: Int32 = -5
    }

    private let library: Library
    private let isGzip: Bool
    /// Not stored in this object, because zlib stores its address.
    private let stream: UnsafeMutablePointer<ccurl_z_stream>
    private var isStarted = false
    private(set) var isAtEnd = false
    /// The number of bytes that are ignored after the end.
    private var ignoredCount = 0

    /// - Returns: `nil` if zlib isn't loaded.
    init?(isGzip: Bool) {
        guard let library = Library.loaded else { return nil }
        self.library = library
        self.isGzip = isGzip
        stream = .allocate(capacity: 1)
        stream.initialize(to: ccurl_z_stream())
    }

    deinit {
        if isStarted { _ = library.end(stream) }
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
        let result = library.inflate(stream, 0)
        input.skip(input.count - Int(stream.pointee.avail_in))
        switch result {
        case Code.ok, Code.noProgress: break
        case Code.streamEnd: isAtEnd = true
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
        let size = Int32(MemoryLayout<ccurl_z_stream>.size)
        guard library.start(stream, windowBits, "1", size) == Code.ok else {
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
        guard isGzip, first == 0x1F, library.reset(stream) == Code.ok else { throw .bytesAfterCoding }
        isAtEnd = false
    }
}
#endif
