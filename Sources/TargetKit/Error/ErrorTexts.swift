// SPDX-License-Identifier: MIT

/// The sentences that a person reads when a call has failed: what happened, why, and what to do about it.
///
/// ```swift
/// ErrorTexts.current = .simplifiedChinese                  // for the process; default: the system's language
/// alert.title = error.localizedDescription                 // in that language
/// alert.title = error.text(in: .english)                   // this one in another
/// ErrorTexts.current = .custom { error, piece in           // the app's own where it has one
///     error.kind == .offline && piece == .description ? String(localized: "offline.title") : nil
/// }
/// ```
///
/// The sentences are in the code, not in a resource bundle: on Linux the accessor of a bundle ends the process when the
/// program was moved away from where it was built, and an app that has texts of its own gives them by ``custom(or:_:)``.
///
/// No sentence quotes a URL, a header field or a body. Errors written for the person keep their own text: a
/// ``ServerDefinedError`` with its message, and an app's `LocalizedError` that an ``ErrorMappingTarget`` has created or
/// that a closure, a plugin or a transport has thrown.
public struct ErrorTexts: Sendable {
    /// Which of the sentences about one failure.
    public enum Piece: Sendable, Hashable, CaseIterable {
        /// What happened; `errorDescription`.
        case description
        /// Why it happened; `failureReason`.
        case failureReason
        /// What the person can do; `recoverySuggestion`.
        case recoverySuggestion
    }

    private let source: @Sendable (TargetKitError, Piece) -> String

    /// The sentences of one language.
    public init(_ language: Language) {
        source = { error, piece in error.ownText(piece) ?? language.sentences(about: error).text(piece) }
    }

    private init(source: @escaping @Sendable (TargetKitError, Piece) -> String) {
        self.source = source
    }

    /// English.
    public static let english = Self(.english)

    /// Simplified Chinese.
    public static let simplifiedChinese = Self(.simplifiedChinese)

    /// The first of the person's languages that there are sentences in, looked up each time; English when there is none.
    public static let system = Self { Self(Language.system).source($0, $1) }

    /// The app's own texts.
    ///
    /// - Parameters:
    ///   - fallback: Where the other texts come from; default: ``system``.
    ///   - text: The text for an error; `nil`: that of the fallback. It may be called from any thread.
    public static func custom(
        or fallback: Self = .system,
        _ text: @escaping @Sendable (_ error: TargetKitError, _ piece: Piece) -> String?
    ) -> Self {
        Self { text($0, $1) ?? fallback.source($0, $1) }
    }

    /// What `errorDescription`, `failureReason` and `recoverySuggestion` say in this process; default: ``system``.
    public static var current: Self {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }

    private static let box = Locked(Self.system)

    /// The sentence about an error.
    public func text(_ piece: Piece = .description, of error: TargetKitError) -> String {
        source(error, piece)
    }
}

/// The sentences about one failure.
struct ErrorSentences {
    var description: String
    var reason: String
    var suggestion: String

    init(_ description: String, _ reason: String, _ suggestion: String) {
        self.description = description
        self.reason = reason
        self.suggestion = suggestion
    }

    func text(_ piece: ErrorTexts.Piece) -> String {
        switch piece {
        case .description: description
        case .failureReason: reason
        case .recoverySuggestion: suggestion
        }
    }
}
