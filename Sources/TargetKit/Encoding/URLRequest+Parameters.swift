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
        guard let url, let longer = url.appending(escapedQuery: query) else {
            throw ParameterEncodingError(.invalidURL)
        }
        self.url = longer
    }

    /// Sets a form body, and the Content-Type that the WHATWG URL standard gives it unless there is one.
    mutating func setFormBody(_ bytes: [UInt8]) {
        httpBody = Data(bytes)
        setContentTypeIfAbsent(URLEncoding.contentType)
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
