// SPDX-License-Identifier: MIT
import TargetKit

extension UploadSession {
    /// Records that the exchange of a step failed.
    ///
    /// - Parameter error: The reason, if there is no response.
    func noteFailure(of step: UploadStep, error: (any Error)? = nil) {
        let record = state.withLock { state -> UploadRecord? in
            switch step.kind {
            case .delete: advance(&state, to: firstPhase(state))
            case .create, .append: if state.record != nil { state.phase = .query }
            case .query: return noteUnreachable(error as? URLError, in: &state)
            case .discover, .plain: break
            }
            return nil
        }
        if let record { store.writeSoon(record) }
    }

    /// Starts over if the upload's server can't be reached and isn't the target's. The old record stays until the
    /// target's server has created a new upload, because the device may be offline.
    ///
    /// - Returns: The record, if it has changed.
    private func noteUnreachable(_ error: URLError?, in state: inout State) -> UploadRecord? {
        guard let error, let record = state.record, upload.url == nil, record.url.origin != original.url?.origin,
            !state.mayBeComplete, state.restarts < Self.restartLimit
        else { return nil }
        switch TargetKitError(stage: .transport, underlying: error).kind {
        case .cannotConnect, .insecureConnection: break
        case .timedOut where error.userInfo[FailureMark.wholeCall] == nil:
            // After a single timeout, the server may just be busy.
            guard (record.timeouts ?? 0) > 0 else {
                state.record?.timeouts = 1
                return state.record
            }
        default: return nil
        }
        state.restarts += 1
        state.record = nil
        state.offset = 0
        advance(&state, to: firstPhase(state))
        return nil
    }

    /// Records that the server responded with an error.
    func refuse(_ step: UploadStep, response: UploadResponse, result: ExchangeResult) async {
        noteFailure(of: step)
        let isRejected = !isTus && step.isCompleting
        if response.isFinal, response.status != 403, step.kind == .append || isRejected {
            // A rejected upload must not count as complete later, and the server doesn't continue the upload.
            await forget()
            if isRejected { noteProcessing(of: result, by: step) }
        } else if isRejected {
            let record = state.withLock { state -> UploadRecord? in
                guard state.record != nil else { return nil }
                state.rejection = result
                state.record?.isRejected = true
                return state.record
            }
            if let record { await store.write(record) }
        }
    }

    /// Takes the error response to the request that completed the upload, if a later response reports that the upload
    /// can't be continued. A later call starts over.
    func takeRejection(after outcome: UploadOutcome) async -> ExchangeResult? {
        let (rejection, mayBeComplete) = state.withLock { ($0.rejection, $0.mayBeComplete) }
        guard let rejection, outcome == .complete || outcome == .gone && mayBeComplete else { return nil }
        await forget()
        noteProcessing(of: rejection, by: nil)
        return rejection
    }

    /// Records that the server processed and rejected the whole content. The next attempt sends the target's request
    /// again.
    ///
    /// - Parameter step: The step that was rejected; `nil` for an earlier one.
    func noteProcessing(of result: ExchangeResult, by step: UploadStep?) {
        let request = result.request
        // The request that created the upload had no content, and so no idempotency key.
        let isWhole = step.map(isOneRequest) ?? (request.httpMethod == original.httpMethod)
        var target = isWhole ? request : original
        if !isWhole { target.setValue(nil, forHTTPHeaderField: HTTPHeaderName.idempotencyKey.rawValue) }
        state.withLock { state in
            state.decision = .end
            state.processedRequest = target
        }
    }
}
