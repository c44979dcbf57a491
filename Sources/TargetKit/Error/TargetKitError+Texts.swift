// SPDX-License-Identifier: MIT
import Foundation

extension TargetKitError: LocalizedError {
    /// What happened, for the person in front of the screen, in the language of ``ErrorTexts/current``.
    public var errorDescription: String? { text(.description) }

    /// Why it happened, for the person in front of the screen, in the language of ``ErrorTexts/current``.
    public var failureReason: String? { text(.failureReason) }

    /// What the person can do about it, in the language of ``ErrorTexts/current``.
    public var recoverySuggestion: String? { text(.recoverySuggestion) }

    /// A sentence about this failure for the person in front of the screen; ``description`` is the developer's line.
    ///
    /// - Parameters:
    ///   - piece: Which sentence; default: what happened.
    ///   - texts: The language, or the app's own texts; default: those of the process.
    public func text(_ piece: ErrorTexts.Piece = .description, in texts: ErrorTexts = .current) -> String {
        texts.text(piece, of: self)
    }

    /// Whether an error written for the person describes the failure.
    var speaksForItself: Bool { ownText(.description) != nil }

    /// The text of an error written for the person: the app's own, the server's message, or the text of an error that
    /// the app's closure, plugin or transport has thrown.
    func ownText(_ piece: ErrorTexts.Piece) -> String? {
        let isMeant = !(underlying is TargetKitError || underlying is any DeveloperError) && stage != .cancelled
        let thrown = isMeant ? underlying as? any LocalizedError : nil
        let error = (appError as? any LocalizedError) ?? thrown
        let text =
            switch piece {
            case .description: error?.errorDescription
            case .failureReason: error?.failureReason
            case .recoverySuggestion: error?.recoverySuggestion
            }
        return text?.isEmpty == true ? nil : text
    }
}
