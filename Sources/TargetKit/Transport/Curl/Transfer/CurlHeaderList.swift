// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl
import Foundation

/// The header fields of a request, in libcurl's spelling.
struct CurlHeaderList: ~Copyable {
    private var list: UnsafeMutablePointer<curl_slist>?

    deinit {
        curl_slist_free_all(list)
    }

    /// Hands out the list, which the taker frees.
    consuming func release() -> UnsafeMutablePointer<curl_slist>? {
        let released = list
        list = nil
        return released
    }

    /// Adds `Name: value`.
    ///
    /// - Throws: when name or value holds a line break or a NUL, which would end the field and begin another.
    mutating func add(_ name: String, _ value: String) throws(CurlFailure) {
        guard !name.isEmpty, !name.endsHeaderField, !value.endsHeaderField else {
            throw CurlFailure(
                .badURL,
                "the header field \(name.debugDescription) holds a line break or a NUL, or has no name"
            )
        }
        // libcurl takes `Name:` for "leave the field out", and `Name;` for a field without a value.
        append(value.isEmpty ? name + ";" : name + ": " + value)
    }

    /// Adds `Name: value`, unless the caller has a field of that name.
    mutating func add(_ name: String, _ value: String, unlessIn fields: [String: String]) throws(CurlFailure) {
        if !fields.keys.contains(where: { $0.equalsIgnoringASCIICase(name) }) { try add(name, value) }
    }

    /// Takes back what libcurl adds to a request with a body: the wait for `100 Continue`, and a content type of its own.
    mutating func suppressDefaults(unless fields: [String: String]) {
        append("Expect:")
        if !fields.keys.contains(where: { $0.equalsIgnoringASCIICase("Content-Type") }) { append("Content-Type:") }
    }

    private mutating func append(_ line: String) {
        // On failure the list is as it was, and the system out of memory.
        list = curl_slist_append(list, line) ?? list
    }
}
#endif
