// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Why an ``AuthenticationPlugin`` has ended a call, where that is not the error of the refresh itself.
public enum AuthenticationError: Error, Sendable, Hashable {
    /// The credential would have to be renewed again, but has been as often as the limit allows: the server rejects what it has
    /// just given out, or gives out what is about to end.
    case tooManyRefreshes(RefreshLimit)
    /// The refresh was cancelled, by whoever cancels all calls of the provider that it went through.
    case refreshCancelled
    /// The user has signed out, or another one has signed in, while the call waited. It ends with stage `.cancelled`.
    case signedOut
}

extension AuthenticationError: CustomStringConvertible, LocalizedError, DeveloperError, ErrorWithKind {
    /// What it means for the call that waited. That the refresh was cancelled is not the call's own cancelling.
    package var kind: TargetKitError.Kind {
        switch self {
        case .tooManyRefreshes: .unauthorized
        case .refreshCancelled: .unknown
        case .signedOut: .cancelled
        }
    }

    /// What is wrong and what to do, in one line.
    public var description: String {
        switch self {
        case .tooManyRefreshes(let limit):
            "the credential was renewed \(limit.count) times in \(limit.interval): look at why the server rejects it"
        case .refreshCancelled:
            "the refresh of the credential was cancelled: give it a provider whose calls are not cancelled with others"
        case .signedOut: "the session of the call has ended while it waited for a credential"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
