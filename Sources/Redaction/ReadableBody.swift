// SPDX-License-Identifier: MIT
import TargetKit

#if canImport(Compression)
import Compression
#endif

/// The bodies of compressed requests as text, so that recordings can redact secrets in them, and tests can compare them.
package enum ReadableBody {
    /// The maximum size of a decoded body, in bytes.
    private static let limit = 64 << 20

    /// The body without its coding (RFC 9110 §8.4.1): gzip, or deflate in the zlib format. The unchanged body if it has no
    /// coding, another one, or several, or if it can't be decoded.
    package static func decoded(_ body: Data, headers: HTTPHeaders) -> Data {
        switch headers.values(for: "Content-Encoding").joined(separator: ",").lowercased() {
        case "gzip", "x-gzip": decoded(body, isGzip: true) ?? body
        case "deflate": decoded(body, isGzip: false) ?? body
        default: body
        }
    }

    #if os(Linux)
    private static func decoded(_ body: Data, isGzip: Bool) -> Data? {
        guard let library = ZlibLibrary.loaded else { return nil }
        let stream = UnsafeMutablePointer<ZlibLibrary.Stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: ZlibLibrary.Stream())
        guard library.startInflate(stream, windowBits: isGzip ? 31 : 15) else { return nil }
        defer { _ = library.endInflate(stream) }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var result = Data()
        return body.withUnsafeBytes { input in
            stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_in = UInt32(clamping: input.count)
            while true {
                let (code, count) = chunk.withUnsafeMutableBufferPointer { output in
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(output.count)
                    let code = library.inflate(stream, ZlibLibrary.Flush.none)
                    return (code, output.count - Int(stream.pointee.avail_out))
                }
                result.append(contentsOf: chunk[..<count])
                if code == ZlibLibrary.Code.streamEnd { return result }
                guard code == ZlibLibrary.Code.ok, result.count <= limit else { return nil }
            }
        }
    }
    #elseif canImport(Compression)
    private static func decoded(_ body: Data, isGzip: Bool) -> Data? {
        // The framework reads neither a header nor a checksum. The fourth byte of gzip's header announces names and
        // comments (RFC 1952 §2.3.1), which our compressor doesn't write.
        let header = isGzip ? 10 : 2
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
