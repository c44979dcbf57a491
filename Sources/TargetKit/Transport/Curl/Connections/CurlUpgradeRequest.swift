// SPDX-License-Identifier: MIT
#if os(Linux)

/// The head of an upgrade request over HTTP/1.1 (RFC 9112 §3).
enum CurlUpgradeRequest {
    /// - Throws: An error if the request has a body, or a field contains a line break.
    static func head(of call: CurlCall) throws(CurlFailure) -> [UInt8] {
        guard !call.hasBody else {
            throw CurlFailure(.badURL, message: "a request for another protocol can't have a body")
        }
        var text = "\(call.method) \(call.address.target) HTTP/1.1\r\n"
        if !call.hasField("Host") { text += "Host: \(call.address.authority)\r\n" }
        for field in call.fields {
            guard !field.name.isEmpty, !field.name.endsHeaderField, !field.value.endsHeaderField else {
                throw .lineBreak(in: field.name)
            }
            text += "\(field.name): \(field.value)\r\n"
        }
        if !call.hasField("User-Agent") { text += "User-Agent: \(CurlLibrary.userAgent)\r\n" }
        return FieldOctets.octets(text + "\r\n")
    }
}

extension CurlAddress {
    /// The path and query (RFC 9112 §3.2.1).
    fileprivate var target: String {
        let rest = text.utf8.dropFirst(origin.utf8.count).prefix { $0 != UInt8(ascii: "#") }
        let path = String(rest) ?? ""
        return path.hasPrefix("/") ? path : "/" + path
    }

    /// The host, and the port unless it is the scheme's default (RFC 9110 §7.2).
    fileprivate var authority: String {
        let authority = origin.dropFirst(isSecure ? "https://".count : "http://".count)
        let port = isSecure ? ":443" : ":80"
        return authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : String(authority)
    }
}
#endif
