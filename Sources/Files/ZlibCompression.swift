// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The functions of zlib that compress.
package struct ZlibCompression: Sendable {
    private let begin: ccurl_deflate_init
    package let deflate: ccurl_deflate
    package let reset: ccurl_deflate_change
    package let end: ccurl_deflate_change

    /// `nil` if zlib isn't loaded.
    package static let loaded: ZlibCompression? = {
        guard let library = LoadedLibrary("libz.so.1"),
            let begin: ccurl_deflate_init = library.function("deflateInit2_"),
            let deflate: ccurl_deflate = library.function("deflate"),
            let reset: ccurl_deflate_change = library.function("deflateReset"),
            let end: ccurl_deflate_change = library.function("deflateEnd")
        else { return nil }
        return ZlibCompression(begin: begin, deflate: deflate, reset: reset, end: end)
    }()

    /// Writes all of the input, and ends the stream.
    package static let finish: Int32 = 4

    /// Returns whether zlib has the memory to compress.
    ///
    /// - Parameters:
    ///   - windowBits: 9–15, as for decompressing.
    ///   - usesWindow: Whether the output refers to earlier bytes; default `true`. Otherwise, it can be read with any
    ///     window.
    package func start(
        _ stream: UnsafeMutablePointer<ZlibLibrary.Stream>,
        windowBits: Int32,
        usesWindow: Bool = true
    ) -> Bool {
        // `Z_DEFLATED` with zlib's defaults for level and memory, and `Z_DEFAULT_STRATEGY` or `Z_HUFFMAN_ONLY`.
        begin(stream, -1, 8, windowBits, 8, usesWindow ? 0 : 2, "1", ZlibLibrary.streamSize) == ZlibLibrary.Code.ok
    }
}
#endif
