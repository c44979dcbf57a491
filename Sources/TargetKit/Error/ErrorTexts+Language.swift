// SPDX-License-Identifier: MIT

extension ErrorTexts {
    /// A language of the error sentences.
    package enum Language: Sendable, Hashable, CaseIterable {
        case english
        case simplifiedChinese
        case traditionalChinese

        /// The first supported language; English if none is supported.
        ///
        /// - Parameter tags: Language tags (RFC 5646) or locale identifiers, in order of preference, for example
        ///   `zh-Hans-CN` or `en_GB`. Chinese is simplified unless the script or region indicates Traditional Chinese.
        package init(preferred tags: some Sequence<String>) {
            self = tags.lazy.compactMap(Self.init(tag:)).first { _ in true } ?? .english
        }

        private init?(tag: String) {
            let parts = tag.lowercased().split { $0 == "-" || $0 == "_" || $0 == "." || $0 == "@" }
            switch parts.first {
            case "en": self = .english
            case "zh" where parts.contains("hans"): self = .simplifiedChinese
            case "zh" where parts.contains { ["hant", "tw", "hk", "mo"].contains($0) }: self = .traditionalChinese
            case "zh": self = .simplifiedChinese
            default: return nil
            }
        }

        /// The language of the app's interface if it is supported; otherwise English.
        package static var system: Self { Self(preferred: PreferredLanguages.app) }

        func sentences(about error: TargetKitError) -> ErrorSentences {
            if error.kind == .insecureConnection, !error.isOfCertificate { return table.sentences(table.handshake) }
            // The sentences of `.invalidRequest` blame the program, so they don't fit an error with its own text.
            let kind = error.kind == .invalidRequest && error.speaksForItself ? .unknown : error.kind
            // A status of success isn't the reason.
            let status = error.stage == .envelope ? error.rejectedStatusCode : error.response?.statusCode
            let described = status ?? (error.underlying as? any ErrorWithKind)?.statusCode
            return table.sentences(about: kind, status: described, isAnswered: status != nil)
        }

        private var table: ErrorSentenceTable {
            switch self {
            case .english: .english
            case .simplifiedChinese: .simplifiedChinese
            case .traditionalChinese: .traditionalChinese
            }
        }
    }
}

extension TargetKitError {
    /// Whether the server's certificate was evaluated and rejected. An incorrect device date can cause this.
    fileprivate var isOfCertificate: Bool {
        switch (underlying as? URLError)?.code {
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid:
            true
        default: false
        }
    }
}

/// The languages that the user prefers.
package enum PreferredLanguages {
    /// The language tags (RFC 5646) of the device's or process's settings, in order of preference.
    package static var system: [String] {
        #if canImport(Darwin)
        Locale.preferredLanguages
        #else
        // Foundation returns `en-001` regardless of the environment (Linux, Swift 6.3.1).
        environment
        #endif
    }

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
