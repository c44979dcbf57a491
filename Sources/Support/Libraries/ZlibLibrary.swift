// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The functions of zlib that decompress. libcurl loads the library.
package struct ZlibLibrary: Sendable {
    /// Allocate it outside an object, because zlib stores its address.
    package typealias Stream = ccurl_z_stream

    private let beginInflate: ccurl_inflate_init
    package let inflate: ccurl_inflate
    package let resetInflate: ccurl_inflate_change
    /// Resets the stream without clearing the window; `nil` in variants of zlib that lack it.
    package let continueInflate: ccurl_inflate_change?
    package let endInflate: ccurl_inflate_change

    /// `nil` if zlib isn't loaded.
    package static let loaded: ZlibLibrary? = {
        guard let library = LoadedLibrary("libz.so.1"),
            let beginInflate: ccurl_inflate_init = library.function("inflateInit2_"),
            let inflate: ccurl_inflate = library.function("inflate"),
            let resetInflate: ccurl_inflate_change = library.function("inflateReset"),
            let endInflate: ccurl_inflate_change = library.function("inflateEnd")
        else { return nil }
        return ZlibLibrary(
            beginInflate: beginInflate,
            inflate: inflate,
            resetInflate: resetInflate,
            continueInflate: library.function("inflateResetKeep"),
            endInflate: endInflate
        )
    }()

    /// The results of zlib.
    package enum Code {
        package static let ok: Int32 = 0
        package static let streamEnd: Int32 = 1
        /// No progress is possible with the input and output.
        package static let noProgress: Int32 = -5
    }

    /// How much of the input is written.
    package enum Flush {
        package static let none: Int32 = 0
        package static let sync: Int32 = 2
    }

    package static let streamSize = Int32(MemoryLayout<Stream>.size)

    /// Returns whether zlib has the memory to decompress.
    ///
    /// - Parameter windowBits: 8–15 for a stream with zlib's header, 16 more for gzip, and the negative number for one
    ///   without a header.
    package func startInflate(_ stream: UnsafeMutablePointer<Stream>, windowBits: Int32) -> Bool {
        beginInflate(stream, windowBits, "1", Self.streamSize) == Code.ok
    }
}
#endif
