// SPDX-License-Identifier: MIT

/// A target that maps failures to the app's errors.
///
/// ```swift
/// extension Orders: ErrorMappingTarget {
///     func appError(for response: Response) -> (any Error)? {
///         switch response.statusCode {
///         case 402: OrderError.paymentNeeded
///         case 409: OrderError.soldOut
///         default: nil
///         }
///     }
/// }
/// ```
///
/// The error becomes ``TargetKitError/appError``; stage, kind, response and underlying error don't change. A
/// `LocalizedError` also provides ``TargetKitError/errorDescription``. If both methods return `nil`, nothing changes.
///
/// The methods are called once for each call, after the last attempt and before the plugins' `process`, which receives
/// the error. They aren't called for a cancelled call. A response with its body in a file or a stream has no data.
public protocol ErrorMappingTarget: TargetType {
    /// Returns the app's error for a response, or `nil`.
    ///
    /// Called for every response, even if the target's validation accepts the status. If it returns an error, the call
    /// fails with stage `.status` for a status of 400 or more, otherwise with stage `.envelope`.
    func appError(for response: Response) -> (any Error)?

    /// Returns the app's error for a failed exchange, or `nil`.
    func appError(for code: URLError.Code) -> (any Error)?
}

extension ErrorMappingTarget {
    /// Returns `nil`.
    public func appError(for response: Response) -> (any Error)? { nil }

    /// Returns `nil`.
    public func appError(for code: URLError.Code) -> (any Error)? { nil }

    /// The result with the target's error added.
    func mapped(_ result: Result<Response, TargetKitError>) -> Result<Response, TargetKitError> {
        switch result {
        case .success(let response):
            guard let appError = appError(for: response) else { return result }
            let stage: TargetKitError.Stage = response.statusCode >= 400 ? .status : .envelope
            let request = response.request
            return .failure(
                TargetKitError(stage: stage, target: self, request: request, response: response, appError: appError)
            )
        case .failure(var error):
            guard error.stage != .cancelled, error.appError == nil else { return result }
            if let response = error.response, error.stage != .transport {
                error.appError = appError(for: response)
            } else if let code = (error.underlying as? URLError)?.code {
                error.appError = appError(for: code)
            }
            return .failure(error)
        }
    }
}

/// A failure that the server reports in a response body, the `underlying` error of stage `.envelope`.
///
/// ```swift
/// catch {
///     if let refusal = error.underlying as? ServerDefinedError, refusal.code == "A0231" { showVoucherExpired() }
/// }
/// ```
public struct ServerDefinedError: Error, Sendable, Hashable {
    /// The server's code for the failure. A number is represented by its digits, for example `"401"` for `401` and
    /// `401.0`.
    public var code: String
    /// The server's message for the user, or the envelope's message if the server sent none.
    public var message: String
    /// Whether the failure means that the request has no valid credentials, so that the kind of a call's error is
    /// `.unauthorized`, and plugins refresh the credential or sign out. It has no effect if the target doesn't accept
    /// the response's status.
    public var isUnauthorized: Bool

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - code: The server's code.
    ///   - message: The server's message for the user; empty if there is none.
    ///   - isUnauthorized: Whether the request has no valid credentials; default `false`.
    public init(code: String, message: String, isUnauthorized: Bool = false) {
        self.code = code
        self.message = message
        self.isUnauthorized = isUnauthorized
    }
}

extension ServerDefinedError: LocalizedError, RedactedDescription {
    /// The code in one line, without the message, which may quote the request.
    var redactedDescription: String { "the server's code is \(code.debugDescription)" }

    /// The message; `nil` if it is empty.
    public var errorDescription: String? { message.isEmpty ? nil : message }
}
