// SPDX-License-Identifier: MIT
import TargetKit

/// The scheme, host and port of a URL, which identify a server (RFC 9110 §4.3.1).
package struct ServerOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The origin in lowercase, without the scheme's default port, for example `https://shop.example`.
    package let description: String

    /// Returns `nil` for a URL that isn't http or https, or has no host.
    package init?(_ url: URL) {
        let text = url.absoluteString
        if let length = Self.lengthOfPlainOrigin(in: text), let origin = String(text.utf8.prefix(length)) {
            description = origin
            return
        }
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty
        else { return nil }
        let isAddress = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[")
        var origin = scheme + "://" + (isAddress ? "[\(host)]" : host)
        if let port = url.port, port != (scheme == "https" ? 443 : 80) { origin += ":\(port)" }
        description = origin
    }

    /// The length of the origin at the start of a URL's text, if it is in lowercase and has no user, default port or
    /// address in brackets. This is a fast path for most URLs, because reading `scheme`, `host` and `port` would create
    /// three strings.
    private static func lengthOfPlainOrigin(in text: String) -> Int? {
        guard let start = text.hasPrefix("https://") ? 8 : text.hasPrefix("http://") ? 7 : nil else { return nil }
        let length = text.utf8.withContiguousStorageIfAvailable { bytes -> Int? in
            for index in start..<bytes.count {
                switch bytes[index] {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "-"):
                    continue
                case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return index > start ? index : nil
                case UInt8(ascii: ":") where index > start: return lengthOfPort(in: bytes, after: index)
                default: return nil
                }
            }
            return bytes.count > start ? bytes.count : nil
        }
        return length ?? nil
    }

    /// The end of the port after a colon; `nil` for a port with alternative spellings, so that equal origins have equal
    /// texts.
    private static func lengthOfPort(in bytes: UnsafeBufferPointer<UInt8>, after colon: Int) -> Int? {
        let rest = bytes[(colon + 1)...]
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let first = digits.first, first != UInt8(ascii: "0"), digits.count <= 5 else { return nil }
        let port = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard port != 80, port != 443 else { return nil }
        guard digits.endIndex < bytes.endIndex else { return digits.endIndex }
        return "/?#".utf8.contains(bytes[digits.endIndex]) ? digits.endIndex : nil
    }
}
