// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ErrorTexts {
    /// A language that there are sentences in.
    package enum Language: Sendable, Hashable, CaseIterable {
        case english
        case simplifiedChinese

        /// The first of these languages that there are sentences in; English if there is none.
        ///
        /// - Parameter tags: Language tags (RFC 5646) or locale identifiers, the preferred first: `zh-Hans-CN`,
        ///   `en_GB`. Chinese is simplified unless the script or the region is that of Traditional Chinese.
        package init(preferred tags: some Sequence<String>) {
            self = tags.lazy.compactMap(Self.init(tag:)).first { _ in true } ?? .english
        }

        private init?(tag: String) {
            let parts = tag.lowercased().split { $0 == "-" || $0 == "_" || $0 == "." || $0 == "@" }
            switch parts.first {
            case "en": self = .english
            case "zh" where parts.contains("hans"): self = .simplifiedChinese
            case "zh" where !parts.contains { ["hant", "tw", "hk", "mo"].contains($0) }: self = .simplifiedChinese
            default: return nil
            }
        }

        /// The language of the app's interface, if there are sentences in it; else English.
        package static var system: Self { Self(preferred: PreferredLanguages.app) }

        func sentences(about error: TargetKitError) -> ErrorSentences {
            if error.kind == .insecureConnection, !error.isOfCertificate { return table.sentences(table.handshake) }
            // If the error's own text lacks this piece, the fallback must not blame the program.
            let kind = error.kind == .invalidRequest && error.speaksForItself ? .unknown : error.kind
            let status = error.response?.statusCode
            let described = status ?? (error.underlying as? any ErrorWithKind)?.statusCode
            return table.sentences(about: kind, status: described, isAnswered: status != nil)
        }

        private var table: ErrorSentenceTable {
            switch self {
            case .english: .english
            case .simplifiedChinese: .simplifiedChinese
            }
        }
    }
}

extension TargetKitError {
    /// Whether the server's certificate was evaluated and refused, which an incorrect device date can cause.
    fileprivate var isOfCertificate: Bool {
        switch (underlying as? URLError)?.code {
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid:
            true
        default: false
        }
    }
}

/// The languages that the person prefers.
package enum PreferredLanguages {
    /// The languages of the device's or the process's settings: language tags (RFC 5646), the preferred first.
    package static var system: [String] {
        #if canImport(Darwin)
        Locale.preferredLanguages
        #else
        // Foundation returns `en-001` regardless of the environment (Linux, Swift 6.3.1).
        environment
        #endif
    }

    /// Those of them that the app is localized in, so that its error texts are in the language of its other texts.
    package static var app: [String] {
        #if canImport(Darwin)
        Bundle.main.preferredLocalizations
        #else
        // A program has no localizations: `preferredLocalizations` is `["en"]` (Linux, Swift 6.3.1).
        environment
        #endif
    }

    /// Read once: each access copies the whole environment, which does not change.
    private static let environment = posix(ProcessInfo.processInfo.environment)

    /// The languages in the environment of a POSIX process: `LANGUAGE`, a list separated by colons, and the first of
    /// `LC_ALL`, `LC_MESSAGES` and `LANG` that is set. If that is `C` or `POSIX`, there are none.
    static func posix(_ environment: [String: String]) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let language = tag(locale) else { return [] }
        let list = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(String($0)) }
        return (list + [language]).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// `zh_CN.UTF-8` as `zh-CN`; `nil` if the identifier is not a language tag.
    package static func tag(_ identifier: String) -> String? {
        let name = identifier.prefix { $0 != "." && $0 != "@" }.replacingOccurrences(of: "_", with: "-")
        let isTag = !name.isEmpty && name.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0.isLetterOrDigit }
        return isTag && name != "C" && name != "POSIX" ? name : nil
    }
}
