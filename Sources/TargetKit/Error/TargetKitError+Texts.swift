// SPDX-License-Identifier: MIT

extension TargetKitError {
    /// What happened, for the user, in the language of ``ErrorTexts/current``.
    public var errorDescription: String? { text(.description) }

    /// Why it happened, for the user, in the language of ``ErrorTexts/current``.
    public var failureReason: String? { text(.failureReason) }

    /// The steps to resolve the failure, for the user, in the language of ``ErrorTexts/current``.
    public var recoverySuggestion: String? { text(.recoverySuggestion) }

    /// A sentence about this failure for the user; ``description`` is for the developer.
    ///
    /// - Parameters:
    ///   - piece: The sentence; default: what happened.
    ///   - texts: The language, or the app's own texts; default: ``ErrorTexts/current``.
    public func text(_ piece: ErrorTexts.Piece = .description, in texts: ErrorTexts = .current) -> String {
        texts.text(piece, of: self)
    }

    /// Whether an error written for the user describes the failure.
    var speaksForItself: Bool { ownText(.description) != nil }

    /// The text of an error written for the user: the app's own error, the server's message, or an error that the app's
    /// closure, plugin or transport threw.
    func ownText(_ piece: ErrorTexts.Piece) -> String? {
        let isMeant = !(underlying is TargetKitError || underlying is any DeveloperError) && stage != .cancelled
        let thrown = isMeant ? underlying as? any LocalizedError : nil
        let error = (appError as? any LocalizedError) ?? thrown
        let text =
            switch piece {
            case .description: error?.errorDescription
            case .failureReason: error?.failureReason
            case .recoverySuggestion: error?.recoverySuggestion
            case .summary: String?.none
            }
        return text?.isEmpty == true ? nil : text
    }
}

extension TargetKitError {
    /// `TargetKitError`.
    public static var errorDomain: String { "TargetKitError" }

    /// The number of the ``kind``, which is stable across versions.
    public var errorCode: Int { Kind.allCases.firstIndex(of: kind) ?? 0 }

    /// The failing URL, without user, query and fragment, which can contain secrets; the underlying error; and the
    /// sentences of ``ErrorTexts/current``. An error by the app, a closure or a plugin is represented by its domain and
    /// code, because its values can be secrets. ``appError`` and ``underlying`` contain the error itself.
    public var errorUserInfo: [String: Any] {
        // If an error has this property, Foundation on Linux (Swift 6.3.1) reads the texts only from here.
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: text(.description),
            NSLocalizedFailureReasonErrorKey: text(.failureReason),
            NSLocalizedRecoverySuggestionErrorKey: text(.recoverySuggestion),
        ]
        if let url = request?.url ?? response?.request?.url { info[NSURLErrorFailingURLErrorKey] = url.redacted }
        if let error = appError ?? underlying { info[NSUnderlyingErrorKey] = RedactedError.underlying(error) }
        return info
    }
}
