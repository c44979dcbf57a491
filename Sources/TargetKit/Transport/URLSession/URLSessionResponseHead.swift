// SPDX-License-Identifier: MIT

extension ResponseHead {
    /// Creates the head from Foundation's response, in which repeated fields are joined and unordered. `Set-Cookie`
    /// fields are separated again.
    package init(_ response: HTTPURLResponse) {
        var fields: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields { fields[name] = value }
        var headers = HTTPHeaders(fields)
        if let cookies = headers[.setCookie] {
            headers[.setCookie] = nil
            for field in JoinedSetCookie(cookies).fields { headers.add(.setCookie, value: field) }
        }
        self.init(statusCode: response.statusCode, headers: headers)
    }
}

extension HTTPURLResponse {
    /// The size of the decoded body in bytes; `nil` if the head doesn't declare it.
    var declaredBodyLength: Int64? {
        // These responses have no body, regardless of their Content-Length (RFC 9110 §6.4.1, §15.4.5).
        if statusCode == 204 || statusCode == 304 || (100..<200).contains(statusCode) { return 0 }
        let coding = value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
        guard coding.lowercased() == "identity" else { return nil }
        guard let text = value(forHTTPHeaderField: "Content-Length"), text.utf8.allSatisfy(\.isDigit) else {
            return nil
        }
        return Int64(text)
    }
}

/// Separates the `Set-Cookie` fields of a response, which Foundation joins with a comma and a space.
///
/// A comma within a field is part of a date (`Expires=Wed, 09 Jun …`) or a value. A comma between fields is followed by
/// a space, a name and `=`. The value of a cookie can't contain this, because it has no spaces (RFC 6265 §4.1.1).
struct JoinedSetCookie {
    let fields: [String]

    init(_ joined: String) {
        let bytes = Array(joined.utf8)
        let ends = Array("=;, \"".utf8)
        var fields: [ArraySlice<UInt8>] = []
        var start = 0
        for comma in bytes.indices where bytes[comma] == UInt8(ascii: ",") {
            let rest = bytes[(comma + 1)...]
            let name = rest.dropFirst().prefix { !ends.contains($0) }
            guard rest.first == UInt8(ascii: " "), !name.isEmpty, bytes[name.endIndex...].first == UInt8(ascii: "=")
            else { continue }
            fields.append(bytes[start..<comma])
            start = name.startIndex
        }
        fields.append(bytes[start...])
        self.fields = fields.map { String(Substring(decoding: $0, as: UTF8.self).trimmingSpaces) }
    }
}
