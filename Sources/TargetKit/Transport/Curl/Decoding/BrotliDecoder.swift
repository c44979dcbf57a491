// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// Decodes brotli (RFC 7932).
final class BrotliDecoder: ContentDecoder {
    private struct Library: Sendable {
        let create: ccurl_brotli_create
        let decode: ccurl_brotli_decode
        let destroy: ccurl_brotli_destroy

        static let loaded: Library? = {
            guard let library = LoadedLibrary("libbrotlidec.so.1"),
                let create: ccurl_brotli_create = library.function("BrotliDecoderCreateInstance"),
                let decode: ccurl_brotli_decode = library.function("BrotliDecoderDecompressStream"),
                let destroy: ccurl_brotli_destroy = library.function("BrotliDecoderDestroyInstance")
            else { return nil }
            return Library(create: create, decode: decode, destroy: destroy)
        }()
    }

    /// `BrotliDecoderResult`.
    private enum Code {
        static let error: Int32 = 0
        static let success: Int32 = 1
    }

    private let library: Library
    private let decoder: UnsafeMutableRawPointer
    private(set) var isAtEnd = false

    /// - Returns: `nil` if brotli isn't loaded.
    init?() {
        guard let library = Library.loaded, let decoder = library.create(nil, nil, nil) else { return nil }
        self.library = library
        self.decoder = decoder
    }

    deinit {
        library.destroy(decoder)
    }

    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> Int {
        guard !isAtEnd else {
            guard input.isEmpty else { throw .bytesAfterCoding }
            return 0
        }
        var inputCount = input.count
        var next = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var room = output.count
        var end = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = library.decode(decoder, &inputCount, &next, &room, &end, nil)
        input.skip(input.count - inputCount)
        guard result != Code.error else { throw .invalid(.brotli) }
        isAtEnd = result == Code.success
        return output.count - room
    }
}
#endif
