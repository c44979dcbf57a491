// SPDX-License-Identifier: MIT
import Foundation

extension URL {
    /// The URL of a text that is escaped already, which is kept to the byte; `nil` when it is no URL (RFC 3986).
    package init?(escaped text: String) {
        // The plain initializer escapes a text that is not valid, and then every `%` of it again.
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) {
            self.init(string: text, encodingInvalidCharacters: false)
        } else {
            self.init(string: text)
        }
    }
}
