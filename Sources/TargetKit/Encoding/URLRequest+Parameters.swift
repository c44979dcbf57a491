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
        guard let url else { throw ParameterEncodingError(.invalidURL) }
        var base = url.absoluteString
        var fragment = ""
        if let hash = base.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(base[hash...])
            base = String(base[..<hash])
        }
        if !base.utf8.contains(UInt8(ascii: "?")) {
            base += "?"
        } else if base.utf8.last != UInt8(ascii: "?"), base.utf8.last != UInt8(ascii: "&") {
            base += "&"
        }
        var whole = try write(base)
        guard whole.count > base.utf8.count else { return }
        whole.append(fragment)
        // `URL(string:)` alone would escape again what is escaped already, as soon as one byte needs it.
        guard let joined = URL(string: whole.string, encodingInvalidCharacters: false) else {
            throw ParameterEncodingError(.invalidURL)
        }
        self.url = joined
    }

    /// Sets a form body, and the Content-Type that the WHATWG URL standard gives it unless there is one.
    mutating func setFormBody(_ data: Data) {
        httpBody = data
        setContentTypeIfAbsent("application/x-www-form-urlencoded; charset=utf-8")
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
