// SPDX-License-Identifier: MIT
import Foundation

extension SetCookieField {
    /// The cookie that the field sets when it comes from there (RFC 6265 §5.3); `nil` when that origin may not set it.
    func cookie(from origin: CookieOrigin, at now: Date) -> Cookie? {
        guard origin.isSecure || !isSecure, let scope = scope(for: origin.host) else { return nil }
        let cookie = Cookie(
            name: name,
            value: value,
            domain: scope.domain.name,
            isHostOnly: scope.isHostOnly,
            path: path ?? CookiePath.defaultPath(for: origin.path),
            expires: expiry(from: now),
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            created: now
        )
        // RFC 6265bis §4.1.3.2: for `__Host-` it is not enough that the path is `/` by default.
        if path == nil, name.prefix(7).equalsIgnoringASCIICase("__Host-") { return nil }
        return cookie.keepsPrefixRules ? cookie : nil
    }

    /// Steps 4 to 6: the attribute's domain when the host lies in it, else the host alone.
    private func scope(for host: CookieHost) -> (domain: CookieHost, isHostOnly: Bool)? {
        guard let domain else { return (host, true) }
        let bare = domain.utf8.first == UInt8(ascii: ".") ? domain.dropFirst() : domain[...]
        guard !bare.isEmpty else { return (host, true) }
        guard let parent = CookieHost(bare), host.matches(parent) else { return nil }
        guard parent.isSingleLabel || parent.isAddress else { return (parent, false) }
        return parent == host ? (host, true) : nil
    }
}
