// SPDX-License-Identifier: MIT
#if os(Linux)

/// A content coding (RFC 9110 §8.4.1) whose end can be detected.
///
/// TargetKit decodes bodies itself, with the libraries that libcurl uses, because libcurl (7.68 to 8.16) reports
/// success for a coding that ends early.
enum ContentCoding: String, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// Creates the coding with a lowercase name; `nil` if it is unknown.
    init?(named name: some StringProtocol) {
        // RFC 9110 §8.4.1.3.
        self.init(rawValue: name == "x-gzip" ? "gzip" : String(name))
    }

    /// The codings that can be decoded, as the value of `Accept-Encoding` (RFC 9110 §12.5.3).
    static let accepted: String = {
        let names = allCases.filter { $0.makeDecoder() != nil }.map(\.rawValue)
        return names.isEmpty ? "identity" : names.joined(separator: ", ")
    }()

    /// Creates a decoder; `nil` if libcurl didn't load the library.
    func makeDecoder() -> (any ContentDecoder)? {
        switch self {
        case .gzip: ZlibDecoder(isGzip: true)
        case .deflate: ZlibDecoder(isGzip: false)
        case .brotli: BrotliDecoder()
        case .zstd: ZstdDecoder()
        }
    }
}

/// Decodes a body with one coding.
protocol ContentDecoder: AnyObject {
    /// Whether the coding ended. More bytes may follow, because gzip members and zstd frames can be concatenated.
    var isAtEnd: Bool { get }

    /// Decodes bytes, and removes the decoded bytes from the start of the input.
    ///
    /// - Returns: The size of the output in bytes. If it is 0 and the input is empty, the decoder needs more input.
    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> Int
}

extension TransportFailure {
    static func invalid(_ coding: ContentCoding) -> Self {
        quotable(.cannotDecodeContentData, "the body's \(coding.rawValue) coding is invalid")
    }

    static let bytesAfterCoding = quotable(.cannotDecodeRawData, "bytes follow the end of the encoded body")
    static let codingCutOff = quotable(.cannotDecodeContentData, "the body ended before the end of its coding")
}

extension UnsafeRawBufferPointer {
    /// Removes bytes at the start.
    mutating func skip(_ byteCount: Int) {
        self = UnsafeRawBufferPointer(rebasing: dropFirst(byteCount))
    }
}
#endif
