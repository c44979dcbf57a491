// SPDX-License-Identifier: MIT

extension ErrorSentences {
    /// What happened, why, and what to do, in English.
    static func english(_ kind: TargetKitError.Kind, status: Int?) -> Self {
        englishOfTransport(kind) ?? englishOfStatus(kind, status) ?? englishOfProgram(kind)
    }

    /// The TLS handshake failed before a certificate was evaluated.
    static let englishOfHandshake = Self(
        "A secure connection is not possible.",
        "The server does not offer one that the app accepts.",
        "Try again later, or in another network."
    )

    private static func englishOfTransport(_ kind: TargetKitError.Kind) -> Self? {
        switch kind {
        case .offline:
            Self("You are offline.", "There is no connection to the network.", "Check your connection and try again.")
        case .timedOut:
            Self("The server takes too long to answer.", "No answer came in time.", "Try again in a moment.")
        case .cannotConnect:
            Self(
                "The server cannot be reached.",
                "It was not found, or does not take the connection.",
                "Check your connection, or try again later."
            )
        case .connectionLost:
            Self("The connection was lost.", "The answer came only in part, or damaged.", "Try again.")
        case .insecureConnection:
            Self(
                "A secure connection is not possible.",
                "The server could not prove who it is.",
                "Check the date of your device and the network you are in."
            )
        case .badRedirect:
            Self("The server cannot answer this.", "It sends the request in circles.", "Try again later.")
        case .tooLarge:
            Self("The answer is too large.", "It is larger than the app accepts.", "Ask for less at once.")
        case .cancelled:
            Self("This was cancelled.", "It was stopped before it was done.", "Start it again if you still need it.")
        default: nil
        }
    }

    private static func englishOfStatus(_ kind: TargetKitError.Kind, _ status: Int?) -> Self? {
        let reason = status.map { "The server answered with status \($0)." } ?? "The server did not accept the request."
        switch (kind, status) {
        case (.unauthorized, _): return Self("You are not signed in.", reason, "Sign in and try again.")
        case (.forbidden, _): return Self("You are not allowed to do this.", reason, "Ask for access, or sign in anew.")
        case (.notFound, 410): return Self("This is no longer there.", reason, "Go back and reload.")
        case (.notFound, _): return Self("This could not be found.", reason, "Go back and reload.")
        case (.conflict, _): return Self("This was changed in the meantime.", reason, "Reload and try again.")
        case (.rateLimited, _): return Self("That was too much at once.", reason, "Wait a moment and try again.")
        case (.client, 408): return Self("The request took too long.", reason, "Try again.")
        case (.client, 413): return Self("What you send is too large.", reason, "Send less at once.")
        case (.client, _): return Self("The server did not accept this.", reason, "Check what you entered.")
        case (.server, 503): return Self("The service is not available.", reason, "Try again later.")
        case (.server, 504): return Self("The server takes too long to answer.", reason, "Try again in a moment.")
        case (.server, _): return Self("Something went wrong on the server.", reason, "Try again later.")
        case (.unexpectedStatus, _): return Self("The server gave an unexpected answer.", reason, "Try again later.")
        default: return nil
        }
    }

    private static func englishOfProgram(_ kind: TargetKitError.Kind) -> Self {
        switch kind {
        case .decoding:
            Self(
                "The server's answer could not be read.",
                "It is not what the app expects.",
                "Try again later, or update the app."
            )
        case .rejected:
            Self("The server refused this.", "The server reported a failure.", "Check what you entered, or try later.")
        case .invalidRequest:
            Self("The app could not make the request.", "What it was made from does not fit.", "Update the app.")
        case .shutDown:
            Self("The app is closing.", "No new requests are made.", "Start the app again.")
        default:
            Self("Something went wrong.", "The cause is not known.", "Try again.")
        }
    }
}
