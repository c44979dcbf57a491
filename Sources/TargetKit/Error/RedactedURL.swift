// SPDX-License-Identifier: MIT
import Foundation

/// A URL for a text that people read: without user, password, query and fragment, which may be secrets.
package struct RedactedURL: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ url: URL) {
        self.init(url.absoluteString)
    }

    package init(_ text: String) {
        var text = text[...]
        if let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[..<end] }
        guard let scheme = text.range(of: "://") else {
            description = String(text)
            return
        }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else {
            description = String(text)
            return
        }
        description = String(text[..<scheme.upperBound] + text[text.index(after: at)...])
    }
}
