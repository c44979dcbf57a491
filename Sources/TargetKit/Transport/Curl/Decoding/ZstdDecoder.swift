// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// Decodes zstd (RFC 8878), a sequence of frames.
final class ZstdDecoder: ContentDecoder {
    private struct Library: Sendable {
        let create: ccurl_zstd_create
        let set: ccurl_zstd_set
        let decode: ccurl_zstd_decode
        let isError: ccurl_zstd_is_error
        let free: ccurl_zstd_free

        static let loaded: Library? = {
            guard let library = LoadedLibrary("libzstd.so.1"),
                let create: ccurl_zstd_create = library.function("ZSTD_createDStream"),
                let set: ccurl_zstd_set = library.function("ZSTD_DCtx_setParameter"),
                let decode: ccurl_zstd_decode = library.function("ZSTD_decompressStream"),
                let isError: ccurl_zstd_is_error = library.function("ZSTD_isError"),
                let free: ccurl_zstd_free = library.function("ZSTD_freeDStream")
            else { return nil }
            return Library(create: create, set: set, decode: decode, isError: isError, free: free)
        }()
    }

    /// `ZSTD_d_windowLogMax`, and the maximum window of 8 MiB (RFC 9659 §3).
    private static let windowLimit: (parameter: Int32, bits: Int32) = (100, 23)

    private let library: Library
    private let decoder: UnsafeMutableRawPointer
    private(set) var isAtEnd = false

    /// - Returns: `nil` if zstd isn't loaded.
    init?() {
        guard let library = Library.loaded, let decoder = library.create() else { return nil }
        self.library = library
        self.decoder = decoder
        _ = library.set(decoder, Self.windowLimit.parameter, Self.windowLimit.bits)
    }

    deinit {
        _ = library.free(decoder)
    }

    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> Int {
        // Without input, it would wait for another frame.
        if isAtEnd, input.isEmpty { return 0 }
        var source = ccurl_zstd_in(start: input.baseAddress, size: input.count, position: 0)
        var target = ccurl_zstd_out(start: output.baseAddress, size: output.count, position: 0)
        let result = library.decode(decoder, &target, &source)
        input.skip(source.position)
        guard library.isError(result) == 0 else {
            throw isAtEnd ? TransportFailure.bytesAfterCoding : TransportFailure.invalid(.zstd)
        }
        isAtEnd = result == 0
        return target.position
    }
}
#endif
