// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ErrorTexts {
    /// A language that there are sentences in.
    public enum Language: Sendable, Hashable, CaseIterable {
        /// English.
        case english
        /// Simplified Chinese.
        case simplifiedChinese

        /// The first of these languages that there are sentences in; English when there is none.
        ///
        /// - Parameter tags: Language tags (RFC 5646) or locale identifiers, the preferred first: `zh-Hans-CN`, `en_GB`. Chinese
        ///   counts as simplified unless script or region say that it is written traditionally.
        public init(preferred tags: some Sequence<String>) {
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

        /// The language of the person, as far as there are sentences in it; else English.
        public static var system: Self { Self(preferred: PreferredLanguages.system) }

        func sentences(about error: TargetKitError) -> ErrorSentences {
            if error.kind == .insecureConnection, !error.isOfCertificate { return handshakeFailed }
            // If the error's own text lacks this piece, the fallback must not blame the program.
            let kind = error.kind == .invalidRequest && error.speaksForItself ? .unknown : error.kind
            return switch self {
            case .english: .english(kind, status: error.response?.statusCode)
            case .simplifiedChinese: .simplifiedChinese(kind, status: error.response?.statusCode)
            }
        }

        private var handshakeFailed: ErrorSentences {
            switch self {
            case .english: .englishOfHandshake
            case .simplifiedChinese: .chineseOfHandshake
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
