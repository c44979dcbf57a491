// SPDX-License-Identifier: MIT
import TargetKit

#if canImport(Compression)
import Compression
#endif

/// The bodies of compressed requests as text, so that recordings can redact secrets in them, and tests can compare them.
package enum ReadableBody {
    /// The maximum size of a decoded body, in bytes.
    private static let limit = 64 << 20

    /// The body without its coding (RFC 9110 §8.4.1): gzip or deflate. The unchanged body if it has no coding, another
    /// one, or several, or if it can't be decoded.
    package static func decoded(_ body: Data, headers: HTTPHeaders) -> Data {
        switch headers.values(for: "Content-Encoding").joined(separator: ",").lowercased() {
        case "gzip", "x-gzip": decoded(body, isGzip: true) ?? body
        case "deflate": decoded(body, isGzip: false) ?? body
        default: body
        }
    }

    #if os(Linux)
    private static func decoded(_ body: Data, isGzip: Bool) -> Data? {
        ZlibBody.decoded(body, isGzip: isGzip, limit: limit)
    }
    #elseif canImport(Compression)
    private static func decoded(_ body: Data, isGzip: Bool) -> Data? {
        // The framework reads neither a header nor a checksum. The fourth byte of gzip's header announces names and
        // comments (RFC 1952 §2.3.1), which our compressor doesn't write.
        // Some clients send deflate without zlib's header, whose first byte has these bits.
        let isBare = !isGzip && body.first.map { $0 & 0x8F } != 0x08
        let header = isGzip ? 10 : isBare ? 0 : 2
        guard body.count > header + 4, !isGzip || body.dropFirst(3).first == 0 else { return nil }
        let content = Data(body.dropFirst(header))
        var capacity = min(limit, 8 * content.count + 4096)
        while true {
            var result = Data(count: capacity)
            let count = result.withUnsafeMutableBytes { output in
                content.withUnsafeBytes { input in
                    guard let target = output.baseAddress?.assumingMemoryBound(to: UInt8.self),
                        let source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    else { return 0 }
                    return compression_decode_buffer(target, output.count, source, input.count, nil, COMPRESSION_ZLIB)
                }
            }
            if count < capacity { return count > 0 ? result.prefix(count) : nil }
            guard capacity < limit else { return nil }
            capacity = min(limit, capacity * 8)
        }
    }
    #else
    private static func decoded(_ body: Data, isGzip: Bool) -> Data? { nil }
    #endif
}
