// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// Appends an escaped query to the URL's own, which is kept byte for byte, before any fragment.
    ///
    /// - Throws: ``ParameterEncodingError`` when the request has no URL.
    mutating func appendQuery(_ query: String) throws {
        guard !query.isEmpty else { return }
        guard let url else { throw ParameterEncodingError(.invalidURL) }
        let whole = url.absoluteString
        let end = whole.utf8.firstIndex(of: UInt8(ascii: "#")) ?? whole.endIndex
        let base = whole[..<end]
        let separator: String
        if base.utf8.contains(UInt8(ascii: "?")) {
            let isOpen = base.utf8.last == UInt8(ascii: "?") || base.utf8.last == UInt8(ascii: "&")
            separator = isOpen ? "" : "&"
        } else {
            separator = "?"
        }
        // `URL(string:)` alone would escape again what is escaped already, as soon as one byte needs it.
        guard let joined = URL(string: base + separator + query + whole[end...], encodingInvalidCharacters: false) else {
            throw ParameterEncodingError(.invalidURL)
        }
        self.url = joined
    }

    /// Sets a form body, and the Content-Type that the WHATWG URL standard gives it unless there is one.
    mutating func setFormBody(_ bytes: [UInt8]) {
        httpBody = Data(bytes)
        setContentTypeIfAbsent("application/x-www-form-urlencoded; charset=utf-8")
    }

    /// Sets a JSON body, and the Content-Type that RFC 8259 §11 gives it unless there is one.
    mutating func setJSONBody(_ bytes: [UInt8]) {
        httpBody = Data(bytes)
        setContentTypeIfAbsent("application/json")
    }

    private mutating func setContentTypeIfAbsent(_ type: String) {
        guard value(forHTTPHeaderField: "Content-Type") == nil else { return }
        setValue(type, forHTTPHeaderField: "Content-Type")
    }
}
