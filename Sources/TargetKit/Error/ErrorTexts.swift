// SPDX-License-Identifier: MIT

/// The sentences that describe a failed call to the user: what happened, why, and what to do about it.
///
/// ```swift
/// ErrorTexts.current = .simplifiedChinese                  // for the process; default: the app's language
/// alert.title = error.localizedDescription                 // in that language
/// toast.text = error.text(.summary)                        // what happened and what to do, in one line
/// alert.title = error.text(in: .english)                   // in another language
/// ErrorTexts.current = .custom { error, piece in           // the app's own texts for some errors
///     error.kind == .offline && piece == .description ? String(localized: "offline.title") : nil
/// }
/// ```
///
/// The sentences are in the code because on Linux, accessing a resource bundle ends the process if the program was
/// moved after it was built. Apps provide their own texts with ``custom(or:_:)``.
///
/// No sentence contains a URL, a header field or a body. Errors written for the user provide their own text: the
/// message of a ``ServerDefinedError``, and an app's `LocalizedError` that an ``ErrorMappingTarget`` returns or that a
/// closure, plugin or transport throws.
public struct ErrorTexts: Sendable {
    /// A part of the text about a failure.
    public enum Piece: Sendable, Hashable, CaseIterable {
        /// What happened; `errorDescription`.
        case description
        /// Why it happened; `failureReason`.
        case failureReason
        /// What the user can do; `recoverySuggestion`.
        case recoverySuggestion
        /// The description and the suggestion in one line, for a toast or banner. A description by the app or the
        /// server isn't joined with a suggestion by TargetKit.
        case summary
    }

    /// Returns the text for an error; `nil` is allowed for ``Piece/summary`` only.
    private let source: @Sendable (TargetKitError, Piece) -> String?

    init(_ language: Language) {
        source = { error, piece in
            if let text = Self.summary(piece, of: { error.ownText($0) }) ?? error.ownText(piece) { return text }
            return language.sentences(about: error).text(piece)
        }
    }

    private init(source: @escaping @Sendable (TargetKitError, Piece) -> String?) {
        self.source = source
    }

    /// English.
    public static let english = Self(.english)

    /// Simplified Chinese.
    public static let simplifiedChinese = Self(.simplifiedChinese)

    /// Traditional Chinese.
    public static let traditionalChinese = Self(.traditionalChinese)

    /// The language of the app's localization that the system selects, looked up each time; English if it isn't
    /// supported. On Linux, the language of the environment (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`).
    public static let system = Self { Self(Language.system).source($0, $1) }

    /// The app's own texts.
    ///
    /// - Parameters:
    ///   - fallback: The source of the other texts; default: ``system``.
    ///   - text: Returns the text for an error, or `nil` to use the fallback. May be called from any thread.
    public static func custom(
        or fallback: Self = .system,
        _ text: @escaping @Sendable (_ error: TargetKitError, _ piece: Piece) -> String?
    ) -> Self {
        Self { error, piece in
            text(error, piece) ?? summary(piece, of: { text(error, $0) }) ?? fallback.source(error, piece)
        }
    }

    /// The texts of `errorDescription`, `failureReason` and `recoverySuggestion` in this process; default: ``system``.
    public static var current: Self {
        get { selected.withLock { $0 } }
        set { selected.withLock { $0 = newValue } }
    }

    private static let selected = Locked(Self.system)

    /// The text about an error.
    func text(_ piece: Piece = .description, of error: TargetKitError) -> String {
        source(error, piece) ?? ""
    }

    /// The summary of texts by the app or server; `nil` if they have no description, and for other pieces.
    private static func summary(_ piece: Piece, of text: (Piece) -> String?) -> String? {
        guard piece == .summary, let description = text(.description) else { return nil }
        return ErrorSentences.joined(description, suggestion: text(.recoverySuggestion))
    }
}

extension ErrorSentences {
    func text(_ piece: ErrorTexts.Piece) -> String {
        switch piece {
        case .description: description
        case .failureReason: reason
        case .recoverySuggestion: suggestion
        case .summary: Self.joined(description, suggestion: suggestion)
        }
    }

    /// Both in one line. English has two sentences; Chinese has a comma between them and no final full stop.
    static func joined(_ description: String, suggestion: String?) -> String {
        let isChinese = description.hasSuffix("。") || suggestion?.hasSuffix("。") == true
        guard isChinese else {
            guard let suggestion else { return description }
            let isSentence = description.last.map { ".!?…".contains($0) } ?? true
            return description + (isSentence ? " " : ". ") + suggestion
        }
        let parts = [description, suggestion].compactMap { $0 }
        return parts.map { $0.hasSuffix("。") ? String($0.dropLast()) : $0 }.joined(separator: "，")
    }
}

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
