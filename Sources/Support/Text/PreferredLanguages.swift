// SPDX-License-Identifier: MIT

/// The languages that the user prefers.
package enum PreferredLanguages {
    /// The preferred languages in which the app is localized, so that error texts match its other texts.
    package static var app: [String] {
        #if canImport(Darwin)
        Bundle.main.preferredLocalizations
        #else
        // A program has no localizations, so `preferredLocalizations` is `["en"]` (Linux, Swift 6.3.1).
        environment
        #endif
    }

    /// Read once, because each access copies the whole environment.
    private static let environment = posix(ProcessInfo.processInfo.environment)

    /// The languages in the environment of a POSIX process: `LANGUAGE`, a colon-separated list, and the first of
    /// `LC_ALL`, `LC_MESSAGES` and `LANG` that is set. Empty if the latter is `C` or `POSIX`.
    static func posix(_ environment: [String: String]) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let language = tag(locale) else { return [] }
        let list = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(String($0)) }
        return (list + [language]).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The language tag of an identifier, for example `zh-CN` for `zh_CN.UTF-8`; `nil` if it has none.
    package static func tag(_ identifier: String) -> String? {
        let name = identifier.prefix { $0 != "." && $0 != "@" }.replacingOccurrences(of: "_", with: "-")
        let isTag = !name.isEmpty && name.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0.isLetterOrDigit }
        return isTag && name != "C" && name != "POSIX" ? name : nil
    }
}
