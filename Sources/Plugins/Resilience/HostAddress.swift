// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// One of the hosts between which calls are moved.
struct HostAddress: Sendable {
    /// As the app has named it.
    let url: URL
    /// `https://b.example:8443`, byte for byte.
    private let start: String

    /// `nil` for a URL that cannot be called.
    init?(_ url: URL) {
        guard ServerOrigin(url) != nil else { return nil }
        self.url = url
        let text = url.absoluteString
        start = String(text[..<Self.endOfAuthority(in: text)])
    }

    /// A URL at this host, with path and query byte for byte as they were; `nil` when it has no host to be replaced.
    func moving(_ url: URL) -> URL? {
        let text = url.absoluteString
        let end = Self.endOfAuthority(in: text)
        guard end > text.startIndex else { return nil }
        return URL(escaped: start + text[end...])
    }

    /// Where the path begins (RFC 3986 §3.2); the start of a text without an authority.
    private static func endOfAuthority(in text: String) -> String.Index {
        guard let slashes = text.range(of: "://") else { return text.startIndex }
        return text[slashes.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
    }
}

extension HostAddress: CustomStringConvertible, CustomReflectable {
    var description: String { RedactedURL(url).description }
    var customMirror: Mirror { Mirror(describing: self) }
}
