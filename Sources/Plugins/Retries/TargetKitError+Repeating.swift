// SPDX-License-Identifier: MIT
import TargetKit

/// The meaning of a call's failure for an outbox or queue that retries it.
extension TargetKitError {
    /// Whether the server responded that it is unavailable.
    package var isUnavailable: Bool {
        guard let status = rejectedStatusCode else { return false }
        return RetryAfter.statuses.contains(status) || (500...599).contains(status)
    }

    /// Whether no attempt of the call can have reached the server.
    package var isUnsent: Bool {
        guard previousAttempts.allSatisfy({ $0.statusCode == nil && $0.kind.isUnsent }) else { return false }
        let outcome = AttemptOutcome(.failure(self))
        if outcome.isBehindRedirect { return false }
        if stage == .request { return true }
        return stage == .transport && response == nil
            && (kind == .offline || outcome.code.map(\.isUnsent) ?? false)
    }
}

extension TargetKitError.Kind {
    fileprivate var isUnsent: Bool { self == .offline || self == .cannotConnect || self == .insecureConnection }
}
