// SPDX-License-Identifier: MIT

extension ErrorTexts {
    /// A language of the error sentences.
    enum Language: Sendable, Hashable, CaseIterable {
        case english
        case simplifiedChinese
        case traditionalChinese

        /// The first supported language; English if none is supported.
        ///
        /// - Parameter tags: Language tags (RFC 5646) or locale identifiers, in order of preference, for example
        ///   `zh-Hans-CN` or `en_GB`. Chinese is simplified unless the script or region indicates Traditional Chinese.
        init(preferred tags: some Sequence<String>) {
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
        static var system: Self { Self(preferred: PreferredLanguages.app) }

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
