// SPDX-License-Identifier: MIT
import TargetKit

extension ResumableUpload {
    /// The time limit of the request that deletes a cancelled upload.
    private static let deletionTimeout = Duration.seconds(10)

    /// Creates or continues the upload, and sends its content in as many requests as necessary.
    ///
    /// - Throws: The `TargetKitError` of the failed request.
    public func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        // A stub responds to the target's request.
        if exchanges.isStubbed { return try await exchanges.send(request) }
        let session = try await session(of: request, exchanges: exchanges)
        while true {
            let step = try await session.nextStep()
            var (response, failure): (Response?, TargetKitError?)
            do {
                response = try await exchanges.send(step)
            } catch is UploadOfOtherUser {
                continue
            } catch let error as TargetKitError {
                failure = error
            }
            exchanges.context.transfer = session.transferState
            let needsAnother = session.continues(afterFailure: failure != nil)
            if failure?.stage != .request, needsAnother { continue }
            if let response { return response }
            throw failure ?? TargetKitError(stage: .transport, target: exchanges.context.target)
        }
    }

    /// Closes the state of the upload, and deletes a cancelled upload from the server if the options request it.
    public func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async {
        exchanges.onPause(nil)
        guard let session = exchanges.context[UploadSessionKey.self] else { return }
        let isKept = exchanges.context.options.keepsUpload?.withLock(\.self) == true
        // Breaks the reference cycle: the session has a reference to the exchanges.
        exchanges.context[UploadSessionKey.self] = nil
        // Excludes an exchange that the transport cancelled.
        let isCancelled = exchanges.isInterrupted && result.isCancelled
        guard let request = await session.end(isCancelled: isCancelled && !isKept) else { return }
        var deletion = TransportRequest(urlRequest: request, timeout: Self.deletionTimeout)
        deletion.isCrossOrigin = request.url?.origin != session.original.url?.origin
        exchanges.sendInBackground(deletion)
    }

    /// The session of the call's upload. The first attempt opens it.
    private func session(of original: URLRequest, exchanges: CallExchanges) async throws -> UploadSession {
        if let session = exchanges.context[UploadSessionKey.self] { return session }
        if exchanges.isStreamed {
            throw InvalidRequest.notResumable("its response is streamed; use request instead of stream")
        }
        let session = try await UploadSession(self, of: original, over: exchanges)
        exchanges.context[UploadSessionKey.self] = session
        return session
    }
}

extension Result<Response, TargetKitError> {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error.stage == .cancelled } else { false }
    }
}

/// The upload on the server belongs to another user, and the session starts over.
private struct UploadOfOtherUser: Error {}

/// The session of a call's upload.
private enum UploadSessionKey: RequestContextKey { typealias Value = UploadSession }

extension CallExchanges {
    /// Sends a request of a resumable upload.
    fileprivate func send(_ step: UploadStep) async throws -> Response {
        let secretNames = context.secretHeaders
        let restriction: @Sendable (URLRequest) -> URLRequest = { step.restricted($0, secretNames: secretNames) }
        var request =
            if let body = step.body {
                try await prepare(step.request, body: body, restriction: restriction)
            } else {
                try await prepare(step.request)
            }
        if await step.session.forget(ofOtherUser: step, owner: context.credentialOwner) { throw UploadOfOtherUser() }
        request.progress = step.progress(progress)
        if step.isCrossOrigin { request.isCrossOrigin = true }
        let session = step.session
        // An interim response can make the call pausable.
        session.pauses.setPossible(session.isRepeatable, over: self)
        let failure = Locked<UploadFailure?>(nil)
        session.note(&request, of: step, failure)
        do {
            return try await session.pauses.run { [self, request] in
                try await send(request) { result in
                    try session.pauses.takeResponse()
                    do {
                        var received = try await session.receive(result, to: step)
                        received.validation = session.isTargetResponse(step) ? context.target.validation : .successCodes
                        return received
                    } catch let error as UploadFailure {
                        failure.withLock { $0 = error }
                        throw error
                    }
                }
            }
        } catch let error as TargetKitError {
            if let failure = failure.withLock(\.self) {
                await session.forget(after: failure)
            } else if error.stage != .status, error.stage != .request {
                session.noteFailure(of: step, error: error.isMarked(.ofPlugin) ? nil : error.underlying)
            }
            throw error
        }
    }
}

extension UploadSession {
    /// Notifies the session when the request and its content are sent, and of interim responses.
    fileprivate func note(
        _ request: inout TransportRequest,
        of step: UploadStep,
        _ failure: Locked<UploadFailure?>
    ) {
        let isSent = Locked(false)
        let isCompleting = step.isCompleting && step.kind != .plain && !step.range.isEmpty
        var isReadLater = false
        if isCompleting {
            // A signing plugin may read the body before it is sent.
            isReadLater = request.body.reportsReading { if isSent.withLock(\.self) { self.noteSentCompletely() } }
        }
        request.onSend = { [isReadLater] sent in
            isSent.withLock { $0 = true }
            self.note(sent, of: step)
            if isCompleting, !isReadLater { self.noteSentCompletely() }
        }
        if isOneRequest(step) || step.kind == .append {
            request.interimResponse = { head, url in
                let reason = self.receiveInterim(head, to: step, from: url)
                if let reason { failure.withLock { $0 = reason } }
                return reason
            }
        }
    }
}

extension UploadSession {
    /// Stores the last request before redirects, because a deletion needs its fields.
    fileprivate func note(_ request: URLRequest, of step: UploadStep) {
        guard step.kind == .create || step.kind == .query || step.kind == .append else { return }
        state.withLock { $0.lastRequest = request }
    }
}

extension TransportRequest.Body {
    /// Reports when the whole body of a request that completes an upload was read, because the upload can then be
    /// complete without a response. Returns `false` for a body in memory, whose reading can't be observed.
    fileprivate mutating func reportsReading(_ report: @escaping @Sendable () -> Void) -> Bool {
        guard case .stream(let source) = self, var part = source as? FilePartSource else { return false }
        part.didReadAll = report
        self = .stream(part)
        return true
    }
}
