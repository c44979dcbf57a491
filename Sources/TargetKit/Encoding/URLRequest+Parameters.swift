// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// Appends a query to the URL's own, which is kept byte for byte, before any fragment.
    ///
    /// - Parameter write: Returns the text it is given with the escaped query after it.
    /// - Throws: ``ParameterEncodingError`` when the request has no URL, and what `write` throws.
    mutating func appendQuery(_ write: (String) throws -> ByteBuffer) throws {
        guard let (base, fragment) = url?.openForQuery else { throw ParameterEncodingError(.invalidURL) }
        var whole = try write(base)
        guard whole.count > base.utf8.count else { return }
        whole.append(fragment)
        guard let longer = URL(escaped: whole.string) else { throw ParameterEncodingError(.invalidURL) }
        url = longer
    }

    /// Sets a form body, and the Content-Type that the WHATWG URL standard gives it unless there is one.
    mutating func setFormBody(_ data: Data) {
        httpBody = data
        setContentTypeIfAbsent(URLEncoding.contentType)
    }

    /// Sets a JSON body, and the Content-Type that RFC 8259 §11 gives it unless there is one.
    mutating func setJSONBody(_ data: Data) {
        httpBody = data
        setContentTypeIfAbsent("application/json")
    }

    private mutating func setContentTypeIfAbsent(_ type: String) {
        guard value(forHTTPHeaderField: "Content-Type") == nil else { return }
        setValue(type, forHTTPHeaderField: "Content-Type")
    }
}
