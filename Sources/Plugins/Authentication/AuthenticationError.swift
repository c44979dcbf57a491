// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Why an ``AuthenticationPlugin`` has ended a call, where that is not the error of the refresh itself.
package enum AuthenticationError: Error, Sendable, Hashable {
    /// The credential would have to be renewed again, but has been as often as the limit allows: the server rejects what it has
    /// just given out, or gives out what is about to end.
    case tooManyRefreshes(RefreshLimit)
    /// The refresh was cancelled, by whoever cancels all calls of the provider that it went through.
    case refreshCancelled
    /// The user has signed out, or another one has signed in, while the call waited. It ends with stage `.cancelled`.
    case signedOut
}

extension AuthenticationError: DescribedError, ErrorWithKind {
    /// What it means for the call that waited. That the refresh was cancelled is not the call's own cancelling.
    package var kind: TargetKitError.Kind {
        switch self {
        case .tooManyRefreshes: .unauthorized
        case .refreshCancelled: .unknown
        case .signedOut: .cancelled
        }
    }

    /// What is wrong and what to do, in one line.
    package var description: String {
        switch self {
        case .tooManyRefreshes(let limit):
            "the credential was renewed \(limit.count) times in \(limit.interval): look at why the server rejects it"
        case .refreshCancelled:
            "the refresh of the credential was cancelled: give it a provider whose calls are not cancelled with others"
        case .signedOut: "the session of the call has ended while it waited for a credential"
        }
    }
}

/// Why there is no credential for a call.
enum RefreshFailure: Error, Sendable {
    /// The refresh has failed for good, and the session has ended with it.
    case ended(any Error)
    /// The refresh has failed, and may succeed another time.
    ///
    /// - Parameter isEarly: Whether the server has not rejected the credential.
    case passing(any Error, isEarly: Bool)
    /// The session that the call belongs to is over: the user has signed out, or in anew.
    case signedOut
}

extension RefreshFailure {
    /// The error that the caller gets.
    ///
    /// - Parameter response: What has rejected the call; `nil` when it was not sent.
    func error(request: URLRequest?, rejected response: Response? = nil) -> TargetKitError {
        switch self {
        case .signedOut:
            return TargetKitError(stage: .cancelled, request: request, underlying: AuthenticationError.signedOut)
        case .ended(let error):
            let rejection = response ?? Response(statusCode: 401, request: request)
            let isInBody = (200...299).contains(rejection.statusCode)
            return TargetKitError(
                stage: isInBody ? .envelope : .status,
                request: request,
                response: rejection,
                underlying: error
            )
        case .passing(var error as TargetKitError, _):
            error.request = request
            error.response = error.response.map { Response(statusCode: $0.statusCode, request: request) }
            return error
        case .passing(let error, _):
            let stage: TargetKitError.Stage =
                switch error {
                case is URLError: .transport
                case is DecodingError: .decoding
                default: .request
                }
            return TargetKitError(stage: stage, request: request, underlying: error)
        }
    }
}

extension Error {
    /// The error without what the refresh has sent and received, where the secrets are: of the response the status is left.
    var withoutExchange: any Error {
        guard var error = self as? TargetKitError else { return self }
        error.target = nil
        error.request = nil
        error.response = error.response.map { Response(statusCode: $0.statusCode) }
        error.underlying = error.underlying?.withoutExchange
        return error
    }

    /// Whether a refresh has failed by it before the server has said anything.
    var isWithoutAnswer: Bool {
        switch self {
        case is URLError, is CircuitOpenError: true
        case let error as TargetKitError:
            error.response == nil && [.endpoint, .request, .transport, .shutDown].contains(error.stage)
        default: false
        }
    }
}

extension Error {
    /// Cancellation in any spelling.
    var isCancellation: Bool {
        switch self {
        case is CancellationError: true
        case let error as TargetKitError: error.stage == .cancelled
        default: (self as? URLError)?.code == .cancelled
        }
    }
}
