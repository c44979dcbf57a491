// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Call {
    /// The time limit of the request that deletes a cancelled upload.
    private static let deletionTimeout = Duration.seconds(10)

    /// Makes the attempts of a resumable upload.
    func attempts(
        of original: URLRequest,
        to target: Resolved,
        resuming upload: ResumableUpload,
        _ context: inout RequestContext
    ) async -> Result<Response, TargetKitError> {
        do {
            let session = try await session(of: upload, original, target.endpoint.task)
            let result = await attempts(of: original, to: target, upload: session, &context)
            let isContinued = session.isRepeatable
            await end(session)
            return result.mapError { error in
                var error = error
                error.isContinuedUpload = isContinued
                return error
            }
        } catch {
            return .failure(failure(error, at: .request, request: original))
        }
    }

    private func session(
        of upload: ResumableUpload,
        _ original: URLRequest,
        _ task: HTTPTask
    ) async throws -> UploadSession {
        if delivery.isStream { throw InvalidRequest.notResumable("its response is streamed: make a request of it") }
        if task.download != nil { throw InvalidRequest.notResumable("its response is stored in a file") }
        let allowsDowngrade: Bool =
            if case .follow(_, allowsDowngrade: true) = configuration.redirects.policy { true } else { false }
        let environment = UploadSession.Environment(
            handle: handle,
            reportsInterimResponses: configuration.transport.reportsInterimResponses,
            allowsDowngrade: allowsDowngrade,
            progress: progress
        )
        return try await cancellable {
            try await UploadSession(upload, of: original, task, in: environment)
        }
    }

    /// Sends a step of a resumable upload.
    func upload(_ request: TransportRequest, _ step: UploadStep, to target: Resolved) async throws -> ExchangeResult {
        let session = step.session
        // An interim response can make it possible.
        handle.setPausing(isPossible: session.isRepeatable)
        var request = request
        let isSent = Locked(false)
        let isCompleting = step.isCompleting && step.kind != .plain && !step.range.isEmpty
        var isReadLater = false
        if isCompleting {
            // A signature may read the body before it is sent.
            isReadLater = request.body.reportsReading { if isSent.withLock(\.self) { session.noteSentCompletely() } }
        }
        request.onSend = { [isReadLater] sent in
            isSent.withLock { $0 = true }
            session.note(sent, of: step)
            if isCompleting, !isReadLater { session.noteSentCompletely() }
        }
        if session.isOneRequest(step) || step.kind == .append {
            request.interimResponse = { head, url in session.receiveInterim(head, to: step, from: url) }
        }
        do {
            let result =
                step.kind == .plain
                ? try await transfer(request, to: target)
                : try await pausable { [request] in try await self.transfer(request, to: target) }
            return try await cancellable { try await session.receive(result, to: step) }
        } catch let failure as UploadFailure {
            await session.forget(after: failure)
            throw failure
        } catch {
            session.noteFailure(of: step, error)
            throw error
        }
    }

    /// Ends the session, and deletes a cancelled upload if the app wants that.
    private func end(_ session: UploadSession) async {
        guard let request = await session.end(isCancelled: interruption == .cancelled && !handle.keepsTransfer) else {
            return
        }
        let deletion = TransportRequest(urlRequest: request, timeout: Self.deletionTimeout)
        let scope = context.scope
        // The result of the call doesn't depend on this request, which its scope waits for when it is shut down.
        scope.beginExchange()
        Task.detached { [transport = configuration.transport] in
            _ = try? await transport.send(deletion)
            scope.endExchange()
        }
    }
}

extension UploadSession {
    /// Keeps the last request before redirects, whose fields a deletion needs.
    fileprivate func note(_ request: URLRequest, of step: UploadStep) {
        guard step.kind == .create || step.kind == .query || step.kind == .append else { return }
        state.withLock { $0.lastRequest = request }
    }
}

extension TransportRequest.Body {
    /// Reports when all of the body of a request that completes an upload was read: the server can then have it without
    /// a response. Returns `false` if that is not known, because the body is in memory.
    fileprivate mutating func reportsReading(_ report: @escaping @Sendable () -> Void) -> Bool {
        guard case .stream(let source) = self, var part = source as? FilePartSource else { return false }
        part.didReadAll = report
        self = .stream(part)
        return true
    }
}
