// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ResumableUpload {
    /// The time limit of the request that deletes a cancelled upload.
    private static let deletionTimeout = Duration.seconds(10)

    /// Creates or continues the upload, and sends its content in as many requests as that takes.
    ///
    /// - Throws: `TargetKitError` of the request that has failed.
    public func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        // A sample answers the target's request.
        if exchanges.isStubbed { return try await exchanges.send(request) }
        let session = try await session(of: request, exchanges)
        while true {
            let step = try await session.nextStep()
            var (response, failure): (Response?, TargetKitError?)
            do {
                response = try await exchanges.send(step)
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

    /// Closes the state of the upload, and deletes a cancelled upload from the server if the app wants that.
    public func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async {
        guard let session = exchanges.context[UploadSessionKey.self] else { return }
        let call = exchanges.call
        let isCancelled = call.interruption == .cancelled && !call.handle.keepsTransfer
        guard let request = await session.end(isCancelled: isCancelled) else { return }
        var step = UploadStep(kind: .delete, request: request, session: session)
        step.isCrossOrigin = request.url?.origin != session.original.url?.origin
        let secretNames = exchanges.context.secretHeaders
        var deletion = TransportRequest(urlRequest: request, timeout: Self.deletionTimeout)
        deletion.isCrossOrigin = step.isCrossOrigin
        deletion.restriction = { [step] in step.restricted($0, secretNames: secretNames) }
        exchanges.sendInBackground { [deletion] _ in deletion }
    }

    /// The upload of the call, which is opened by the first attempt.
    private func session(of original: URLRequest, _ exchanges: CallExchanges) async throws -> UploadSession {
        if let session = exchanges.context[UploadSessionKey.self] { return session }
        let (call, task) = (exchanges.call, exchanges.target.endpoint.task)
        if call.delivery.isStream {
            throw InvalidRequest.notResumable("its response is streamed: make a request of it")
        }
        let allowsDowngrade: Bool =
            if case .follow(_, allowsDowngrade: true) = call.configuration.redirects.policy { true } else { false }
        let environment = UploadSession.Environment(
            handle: call.handle,
            reportsInterimResponses: call.configuration.transport.reportsInterimResponses,
            allowsDowngrade: allowsDowngrade,
            progress: call.progress
        )
        let session = try await call.cancellable {
            try await UploadSession(self, of: original, task, in: environment)
        }
        exchanges.context[UploadSessionKey.self] = session
        return session
    }
}

/// The upload of a call.
private enum UploadSessionKey: RequestContextKey { typealias Value = UploadSession }

extension CallExchanges {
    /// Sends a request of a resumable upload.
    fileprivate func send(_ step: UploadStep) async throws -> Response {
        let secretNames = context.secretHeaders
        let restriction: @Sendable (URLRequest) -> URLRequest = { step.restricted($0, secretNames: secretNames) }
        var request = try await prepare(step.request) { [call, target] in
            try call.transportRequest(restriction($0), body: step.body, to: target)
        }
        request.restriction = restriction
        request.progress = step.progress(progress)
        if step.isCrossOrigin { request.isCrossOrigin = true }
        return try await send(request) { [target] call, request in
            let result = try await call.upload(request, step, to: target)
            let isFinal = step.session.isTargetResponse(step)
            return try call.response(result, isFinal ? call.context.target.validation : .successCodes)
        }
    }
}

extension Call {
    /// Sends a step of a resumable upload.
    fileprivate func upload(
        _ request: TransportRequest,
        _ step: UploadStep,
        to target: Resolved
    ) async throws -> ExchangeResult {
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
