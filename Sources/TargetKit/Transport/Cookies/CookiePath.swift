// SPDX-License-Identifier: MIT

/// The two rules about paths (RFC 6265 §5.1.4).
enum CookiePath {
    /// The path of a cookie that names none: the request's path up to its last `/`.
    static func defaultPath(for requestPath: String) -> String {
        let bytes = requestPath.utf8
        guard bytes.first == UInt8(ascii: "/"),
            let last = bytes.lastIndex(of: UInt8(ascii: "/")), last != bytes.startIndex
        else { return "/" }
        return String(requestPath[..<last])
    }

    /// Whether a cookie of that path is for the request's path: it is the same, or it ends at a `/` of it.
    static func matches(_ requestPath: String, cookiePath: String) -> Bool {
        let request = requestPath.utf8
        let cookie = cookiePath.utf8
        guard request.starts(with: cookie) else { return false }
        if request.count == cookie.count || cookie.last == UInt8(ascii: "/") { return true }
        return request.dropFirst(cookie.count).first == UInt8(ascii: "/")
    }
}
