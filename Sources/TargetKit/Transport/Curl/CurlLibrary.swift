// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl
import Foundation

/// The installed libcurl.
enum CurlLibrary {
    /// Whether libcurl has been initialized; does so on first use.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Blocks `SIGPIPE` on the calling thread: before 7.87, libcurl's TLS writes without `MSG_NOSIGNAL`.
    static func blockBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// The version number; 0x075801 is 7.88.1.
    private static let number = curl_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0

    /// Whether libcurl reports when it starts to send a request.
    static let reportsSending = number >= 0x075000

    /// Whether libcurl delays the reset of an HTTP/2 stream until it next sends on the connection.
    static let delaysStreamResets = (0x075800..<0x080100).contains(number)

    /// Whether a request that the server refuses by GOAWAY ends with `CURLE_HTTP2` and no message when no other stream
    /// continues.
    static let reportsRefusedStreams = number < 0x080100

    static let userAgent = "TargetKit/0.1 (libcurl)"

    /// The encodings that libcurl can decode, as the value of `Accept-Encoding` (RFC 9110 §12.5.3).
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
