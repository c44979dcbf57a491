// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl

/// The libcurl that the process runs with.
enum CurlLibrary {
    /// Whether libcurl could be set up; done once, when first asked.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    static let userAgent = "TargetKit/0.1 (libcurl)"

    /// The encodings of a body that it can undo, as the value of `Accept-Encoding` (RFC 9110 §12.5.3).
    static let encodings: String = {
        guard let version = curl_version_info(CURLVERSION_FIRST)?.pointee else { return "identity" }
        let known = [
            (CURL_VERSION_LIBZ, "gzip"), (CURL_VERSION_LIBZ, "deflate"), (CURL_VERSION_BROTLI, "br"),
            (CURL_VERSION_ZSTD, "zstd"),
        ]
        let names = known.filter { version.features & Int32($0.0) != 0 }.map(\.1)
        return names.isEmpty ? "identity" : names.joined(separator: ", ")
    }()
}
#endif
