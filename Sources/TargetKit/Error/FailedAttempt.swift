// SPDX-License-Identifier: MIT

/// An attempt of a call after which a plugin requested another one.
///
/// ```swift
/// catch {
///     log.note("\(error.kind) after \(error.previousAttempts.count) retries")
/// }
/// ```
public struct FailedAttempt: Sendable, Hashable {
    /// The kind of the failure; for a response that the target accepts, the kind of its status code.
    public let kind: TargetKitError.Kind
    /// The status code of the response; `nil` if there was none.
    public let statusCode: Int?
    /// The delay before the next attempt.
    public let delay: Duration

    package init(_ result: Result<Response, TargetKitError>, delay: Duration) {
        switch result {
        case .success(let response):
            kind = TargetKitError.Kind(statusCode: response.statusCode)
            statusCode = response.statusCode
        case .failure(let error):
            kind = error.kind
            statusCode = error.response?.statusCode
        }
        self.delay = delay
    }
}

extension FailedAttempt: CustomStringConvertible {
    /// The kind of the failure, and the status code if there is one.
    public var description: String { statusCode.map { "\(kind) (HTTP \($0))" } ?? "\(kind)" }
}

extension Result<Response, TargetKitError> {
    /// This result with the previous attempts added to its error.
    func after(_ attempts: [FailedAttempt]) -> Self {
        guard !attempts.isEmpty, case .failure(var error) = self else { return self }
        error.previousAttempts = attempts + error.previousAttempts
        return .failure(error)
    }
}
