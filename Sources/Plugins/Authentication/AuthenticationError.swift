// SPDX-License-Identifier: MIT
import TargetKit

/// The reason why an ``AuthenticationPlugin`` ended a call, other than an error of the refresh itself.
package enum AuthenticationError: Error, Sendable, Hashable {
    /// The refresh limit was reached, because the server rejects new credentials or issues credentials that expire
    /// immediately.
    case tooManyRefreshes(RefreshLimit)
    /// The refresh was cancelled together with all calls of its provider.
    case refreshCancelled
    /// The refresh took longer than the limit.
    case refreshTimedOut(Duration)
    /// Another process that uses the store signed out.
    case signedOutElsewhere
    /// The user signed out, or another user signed in, while the call waited. It ends with stage `.cancelled`.
    case signedOut
}

extension AuthenticationError: DescribedError, ErrorWithKind {
    /// The error kind of the waiting call. A cancelled refresh doesn't mean that the call was cancelled.
    package var kind: TargetKitError.Kind? {
        switch self {
        case .tooManyRefreshes, .signedOutElsewhere: .unauthorized
        case .refreshTimedOut: .timedOut
        case .refreshCancelled: .unknown
        case .signedOut: .cancelled
        }
    }

    /// The problem and its solution in one line.
    package var redactedDescription: String {
        switch self {
        case .tooManyRefreshes(let limit):
            "the credential was refreshed \(limit.count) times in \(limit.interval); check why the server rejects it"
        case .refreshCancelled:
            "the refresh of the credential was cancelled; use a separate provider for it"
        case .refreshTimedOut(let limit):
            "the refresh of the credential took longer than \(limit); give its requests a shorter timeout"
        case .signedOutElsewhere: "another process that uses the credential store signed out"
        case .signedOut: "the session of the call ended while it waited for a credential"
        }
    }
}

/// The reason why there is no credential for a call.
enum RefreshFailure: Error, Sendable {
    /// The refresh failed permanently, and the session ended.
    case ended(any Error)
    /// The refresh failed transiently.
    ///
    /// - Parameter isEarly: Whether the refresh started before the server rejected the credential.
    case passing(any Error, isEarly: Bool)
    /// The call's session ended because the user signed out or signed in again.
    case signedOut
}

extension RefreshFailure {
    /// Returns the error for the caller.
    ///
    /// - Parameter response: The response that rejected the call; `nil` if it wasn't sent.
    func error(request: URLRequest?, rejected response: Response? = nil) -> TargetKitError {
        var failure = failure(request: request, rejected: response)
        // The texts of the other errors name the refresh.
        if !(failure.underlying is AuthenticationError) { failure.mark(.ofRefresh) }
        return failure
    }

    private func failure(request: URLRequest?, rejected response: Response?) -> TargetKitError {
        switch self {
        case .signedOut:
            return TargetKitError(stage: .cancelled, request: request, underlying: AuthenticationError.signedOut)
        case .ended(let error):
            let rejection = response ?? Response(statusCode: 401, request: request)
            let isInBody = (200...299).contains(rejection.statusCode)
            var failure = TargetKitError(
                stage: isInBody ? .envelope : .status,
                request: request,
                response: rejection,
                underlying: error
            )
            failure.mark(.endedSession)
            failure.mark(.unsent, response == nil)
            return failure
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
    /// The error without the refresh's request and response, because these contain secrets. Only the status of the
    /// response remains.
    var withoutExchange: any Error {
        guard var error = self as? TargetKitError else { return self }
        error.target = nil
        error.request = nil
        error.response = error.response.map { Response(statusCode: $0.statusCode) }
        error.underlying = error.underlying?.withoutExchange
        return error
    }

    /// Whether the refresh received no response.
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
    /// Whether the error is a cancellation.
    package var isCancellation: Bool {
        switch self {
        case is CancellationError: true
        case let error as TargetKitError: error.stage == .cancelled
        default: (self as? URLError)?.code == .cancelled
        }
    }
}
