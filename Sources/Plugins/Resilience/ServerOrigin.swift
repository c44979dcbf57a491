// SPDX-License-Identifier: MIT
import Foundation

/// Scheme, host and port of a URL (RFC 9110 §4.3.1): what makes two URLs the same server.
struct ServerOrigin: Sendable, Hashable, CustomStringConvertible {
    /// `https://shop.example`, in lower case, without the port that the scheme implies.
    let description: String

    /// `nil` for a URL that is not http or https, or has no host.
    init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty
        else { return nil }
        let isAddress = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[")
        var text = scheme + "://" + (isAddress ? "[\(host)]" : host)
        if let port = url.port, port != (scheme == "https" ? 443 : 80) { text += ":\(port)" }
        description = text
    }
}
