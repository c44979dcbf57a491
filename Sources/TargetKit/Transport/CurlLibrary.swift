// SPDX-License-Identifier: MIT
#if canImport(CCurl)
import CCurl

/// The libcurl that the process runs with.
enum CurlLibrary {
    /// Whether libcurl could be set up; done once, when first asked.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
#endif
