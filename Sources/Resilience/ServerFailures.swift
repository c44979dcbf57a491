// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The results that a policy counts as failures of a server.
protocol ServerFailures {
    /// The status codes.
    var statuses: Set<Int> { get }
    /// The `URLError` codes.
    var errorCodes: Set<URLError.Code> { get }
}

extension ServerFailures {
    /// - Parameter url: The requested URL.
    func verdict(on outcome: AttemptOutcome, of url: URL?) -> Verdict {
        guard !outcome.isInterrupted else { return .nothing }
        if let status = outcome.status {
            guard statuses.contains(status) else { return .worked }
        } else {
            guard let code = outcome.code, errorCodes.contains(code) else { return .nothing }
        }
        return outcome.isElsewhere(than: url) ? .worked : .failed
    }

    /// Whether the head of a stream counted as a success, but its body failed.
    func countsBodyFailure(of call: FinishedCall, from url: URL?) -> Bool {
        guard let code = call.bodyFailure, errorCodes.contains(code) else { return false }
        let head = AttemptOutcome(call.result)
        return verdict(on: head, of: url) == .worked && !head.isElsewhere(than: url)
    }
}

extension FinishedCall {
    /// The error of a stream whose body failed after its head; `nil` if there is none.
    fileprivate var bodyFailure: URLError.Code? {
        guard streamedByteCount != nil, case .failure(let error) = result, error.stage == .transport,
            error.response != nil
        else { return nil }
        return (error.underlying as? URLError)?.code
    }
}
