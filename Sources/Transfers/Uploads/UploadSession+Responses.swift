// SPDX-License-Identifier: MIT
import TargetKit

extension UploadSession {
    /// The maximum number of times that a lost upload is created again.
    static let restartLimit = 2
    /// The maximum number of consecutive requests without progress.
    private static let stallLimit = 3
    /// The size of a short part in bytes.
    private static let shortPart: Int64 = 64 << 10
    /// The maximum number of requests of which the server stores only a short part.
    private static let shortPartLimit = 100
    /// The maximum number of consecutive times that the same bytes are sent again after a checksum mismatch.
    private static let damageLimit = 3
    /// The smallest change of the expiry that is stored, in seconds.
    private static let expiryStep: Int64 = 600

    /// Processes the response to a step.
    ///
    /// - Returns: The response, which is the caller's if the upload is complete.
    /// - Throws: The ``UploadFailure`` of the exchange.
    func receive(_ result: ExchangeResult, to step: UploadStep) async throws -> ExchangeResult {
        let response = UploadResponse(result.response)
        let url = state.withLock(\.record?.url)
        let sentMethod = result.request.httpMethod
        if step.kind != .plain, !isOneRequest(step), sentMethod != step.request.httpMethod {
            throw UploadFailure.unsupported("the server redirects its \(step.request.httpMethod ?? "") to a GET")
        }
        let outcome =
            isTus
            ? TusUpload.outcome(response, of: step.kind, range: step.range, length: length)
            : HTTPUpload.outcome(response, of: step, length: length)
        if step.kind == .query {
            if let rejection = await takeRejection(after: outcome) { return rejection }
            if outcome == .complete, state.withLock(\.record?.isRejected) == true {
                // An earlier call completed the upload. This one hasn't sent anything.
                try await restart()
                return result
            }
        }
        try await apply(outcome, result: result, step: step, response: response)
        var headers = result.response.head.headers
        let uploadURL = step.kind == .create ? createdURL(in: headers, of: result) : url
        guard isTus, let uploadURL, state.withLock(\.isComplete) else { return result }
        headers[.location] = uploadURL.absoluteString
        var complete = result
        complete.response.head = ResponseHead(
            statusCode: response.status,
            headers: headers,
            httpVersion: result.response.head.httpVersion
        )
        return complete
    }

    /// Whether a step is the target's request, whose response the target validates.
    func isTargetResponse(_ step: UploadStep) -> Bool {
        switch step.kind {
        case .plain: true
        case .create: isOneRequest(step)
        case .append: !isTus && state.withLock(\.isComplete)
        case .discover, .delete, .query: false
        }
    }

    /// Records that all bytes of the content have been sent.
    func noteSentCompletely() { state.withLock { $0.mayBeComplete = true } }

    private func apply(
        _ outcome: UploadOutcome,
        result: ExchangeResult,
        step: UploadStep,
        response: UploadResponse
    ) async throws {
        switch outcome {
        case .supported(let support):
            state.withLock { state in
                state.support = support
                state.limits = support.limits
                advance(&state, to: .create)
            }
        case .notSupported: state.withLock { advance(&$0, to: .plain) }
        case .created(let location, let offset, let limits, let expiry):
            try await create(location, offset: offset, limits: limits, expiry: expiry, result: result, step: step)
        case .deleted:
            await store.remove()
            state.withLock { state in
                state.oldRecord = nil
                advance(&state, to: firstPhase(state))
            }
        case .stored(let offset, let limits, let expiry):
            try await stored(offset, limits: limits, expiry: expiry, step: step)
        case .unknownOffset(let limits): try await askForOffset(limits)
        case .gone: try await restart()
        case .damaged:
            let count = state.withLock { state in
                state.damages += 1
                // The server discarded the sent bytes.
                advance(&state, to: .append)
                return state.damages
            }
            if count > Self.damageLimit {
                throw UploadFailure.invalidResponse("it repeatedly rejected the checksum of the same bytes")
            }
        case .complete:
            await complete()
            if !response.isSuccess { noteProcessing(of: result, by: step) }
        case .refused: await refuse(step, response: response, result: result)
        case .failed(let failure): throw failure
        }
    }

    func advance(_ state: inout State, to phase: UploadStep.Kind) {
        state.phase = phase
        state.decision = .next
    }

    func firstPhase(_ state: State) -> UploadStep.Kind { Self.firstPhase(of: upload, isCareful: state.isCareful) }

    static func firstPhase(of upload: ResumableUpload, isCareful: Bool) -> UploadStep.Kind {
        if upload.url != nil { return .query }
        return upload.uploadProtocol == .tus && upload.isDiscovered || isCareful ? .discover : .create
    }
}

// MARK: - What the server has

extension UploadSession {
    private func stored(_ offset: Int64, limits: UploadLimits, expiry: Date?, step: UploadStep) async throws {
        let (previous, changed) = state.withLock { state -> (Int64, UploadRecord?) in
            let previous = state.offset
            guard offset >= previous else { return (previous, nil) }
            if step.kind == .append, offset < step.range.upperBound, offset - previous < Self.shortPart {
                state.shortParts += 1
            }
            if offset > previous {
                (state.stalls, state.damages) = (0, 0)
            } else if step.kind == .append {
                state.stalls += 1
            }
            state.offset = offset
            state.mayBeComplete = false
            state.rejection = nil
            let record = state.record
            state.record?.isRejected = nil
            state.record?.timeouts = nil
            if !isTus { merge(limits, into: &state) }
            if let expiry = expiry.map({ Int64($0.timeIntervalSince1970) }),
                abs(expiry - (state.record?.expiry ?? 0)) > Self.expiryStep
            {
                state.record?.expiry = expiry
            }
            advance(&state, to: .append)
            return (previous, state.record == record ? nil : state.record)
        }
        guard offset >= previous else {
            throw UploadFailure.invalidResponse("its Upload-Offset decreased from \(previous) to \(offset)")
        }
        try await checkProgress()
        if let changed { await store.write(changed) }
        report(offset)
        if isTus, offset == length { await complete() }
    }

    func merge(_ limits: UploadLimits, into state: inout State) {
        if let size = limits.maxAppendSize { state.limits.maxAppendSize = size }
        if let size = limits.minAppendSize { state.limits.minAppendSize = size }
        state.record?.maxAppendSize = state.limits.maxAppendSize
        state.record?.minAppendSize = state.limits.minAppendSize
    }

    private func askForOffset(_ limits: UploadLimits) async throws {
        state.withLock { state in
            state.stalls += 1
            merge(limits, into: &state)
            if state.record != nil {
                advance(&state, to: .query)
            } else {
                // The server requires parts.
                state.isCareful = true
                advance(&state, to: .create)
            }
        }
        try await checkProgress()
    }

    private func checkProgress() async throws {
        let (stalls, shortParts) = state.withLock { ($0.stalls, $0.shortParts) }
        if stalls > Self.stallLimit {
            throw UploadFailure.invalidResponse("the server stored no bytes of the last \(Self.stallLimit) requests")
        }
        if shortParts > Self.shortPartLimit {
            throw UploadFailure.invalidResponse("the server stored few bytes of each of \(shortParts) requests")
        }
    }

    func restart() async throws {
        if let url = upload.url {
            await forget()
            throw UploadFailure.lost("there is none at \(RedactedURL(url))")
        }
        let (count, mayBeComplete) = state.withLock { ($0.restarts + 1, $0.mayBeComplete) }
        if mayBeComplete { throw UploadFailure.lost("it may be complete, because all bytes were sent") }
        if count > Self.restartLimit { throw UploadFailure.lost("it was created \(count) times") }
        await forget()
        state.withLock { state in
            state.restarts = count
            advance(&state, to: firstPhase(state))
        }
    }

    func complete() async {
        await forget()
        state.withLock { state in
            state.decision = .end
            state.isComplete = true
        }
        report(length)
    }

    /// Removes the record after a failure that makes the upload useless, so that a later attempt or call starts over.
    func forget(after failure: UploadFailure) async {
        state.withLock { $0.decision = .end }
        // The next call deletes the upload of the old version.
        if case .fileChanged = failure { return }
        await forget()
    }

    /// Forgets an upload that belongs to another user, so that the session starts over. Returns whether it did.
    ///
    /// A server can accept the URL of an upload as its only credential, so the request must not be sent.
    func forget(ofOtherUser step: UploadStep, owner: CredentialOwner?) async -> Bool {
        let record = state.withLock { step.kind == .delete ? $0.oldRecord : $0.record }
        guard [.query, .append, .delete].contains(step.kind), let creator = record?.owner, creator != owner?.identifier
        else { return false }
        await forget()
        return true
    }

    /// Removes the record, so that a later attempt or call starts over.
    func forget() async {
        await store.remove()
        state.withLock { state in
            state.record = givenRecord
            state.oldRecord = nil
            state.offset = 0
            state.mayBeComplete = false
            state.rejection = nil
            state.phase = state.phase == .plain ? .plain : firstPhase(state)
        }
    }

    /// Reports the server's offset as progress.
    private func report(_ offset: Int64) {
        exchanges.progress?(TransferProgress(completed: offset, total: length, direction: .upload))
    }
}
