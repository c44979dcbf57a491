// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl
import TargetKit

/// The functions of zlib that compress messages. libcurl loads the library.
struct DeflateLibrary: Sendable {
    let startInflate: ccurl_inflate_init
    let inflate: ccurl_inflate
    let resetInflate: ccurl_inflate_change
    /// Resets the stream without clearing the window; `nil` in variants of zlib that lack it.
    let continueInflate: ccurl_inflate_change?
    let endInflate: ccurl_inflate_change
    let startDeflate: ccurl_deflate_init
    let deflate: ccurl_deflate
    let resetDeflate: ccurl_deflate_change
    let endDeflate: ccurl_deflate_change

    static let loaded: DeflateLibrary? = {
        guard let library = LoadedLibrary("libz.so.1"),
            let startInflate: ccurl_inflate_init = library.function("inflateInit2_"),
            let inflate: ccurl_inflate = library.function("inflate"),
            let resetInflate: ccurl_inflate_change = library.function("inflateReset"),
            let endInflate: ccurl_inflate_change = library.function("inflateEnd"),
            let startDeflate: ccurl_deflate_init = library.function("deflateInit2_"),
            let deflate: ccurl_deflate = library.function("deflate"),
            let resetDeflate: ccurl_deflate_change = library.function("deflateReset"),
            let endDeflate: ccurl_deflate_change = library.function("deflateEnd")
        else { return nil }
        return DeflateLibrary(
            startInflate: startInflate,
            inflate: inflate,
            resetInflate: resetInflate,
            continueInflate: library.function("inflateResetKeep"),
            endInflate: endInflate,
            startDeflate: startDeflate,
            deflate: deflate,
            resetDeflate: resetDeflate,
            endDeflate: endDeflate
        )
    }()

    /// The results and flush values of zlib.
    enum Code {
        static let ok: Int32 = 0
        static let streamEnd: Int32 = 1
        /// No progress was possible.
        static let noProgress: Int32 = -5
        static let syncFlush: Int32 = 2
    }

    static let streamSize = Int32(MemoryLayout<ccurl_z_stream>.size)
    /// The bytes at the end of a sync flush, which messages omit (RFC 7692 §7.2.1).
    static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]
}
#endif
