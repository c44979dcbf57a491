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
        atStart
        #endif
    }

    /// Read once: the environment is copied whole each time that it is asked for, and is the same from start to end.
    private static let atStart = posix(ProcessInfo.processInfo.environment)

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
