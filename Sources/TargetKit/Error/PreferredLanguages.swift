// SPDX-License-Identifier: MIT
import Foundation

/// The languages that the person prefers.
package enum PreferredLanguages {
    /// Language tags (RFC 5646), the preferred first.
    package static var system: [String] {
        #if canImport(Darwin)
        Locale.preferredLanguages
        #else
        // Foundation says `en-001` whatever the environment says (Linux, Swift 6.3.1).
        posix(ProcessInfo.processInfo.environment)
        #endif
    }

    /// What the environment of a POSIX process says: `LANGUAGE`, a list with colons, and the first that is set of `LC_ALL`,
    /// `LC_MESSAGES` and `LANG`. `C` and `POSIX` are no language, and switch `LANGUAGE` off.
    package static func posix(_ environment: [String: String]) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let language = tag(locale) else { return [] }
        let list = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(String($0)) }
        return (list + [language]).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// `zh_CN.UTF-8` as `zh-CN`; `nil` for what is no language tag.
    package static func tag(_ identifier: String) -> String? {
        let name = identifier.prefix { $0 != "." && $0 != "@" }.replacingOccurrences(of: "_", with: "-")
        let isTag = !name.isEmpty && name.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0.isLetterOrDigit }
        return isTag && name != "C" && name != "POSIX" ? name : nil
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
