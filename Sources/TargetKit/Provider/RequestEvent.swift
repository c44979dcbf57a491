// SPDX-License-Identifier: MIT

/// An event of a call.
public enum RequestEvent: Sendable {
    /// A part of the request's body was sent.
    case uploadProgress(TransferProgress)
    /// A part of the response's body was received.
    case downloadProgress(TransferProgress)
    /// The response. This is the last event.
    case response(Response)

    init(_ step: TransferProgress) {
        switch step.direction {
        case .upload: self = .uploadProgress(step)
        case .download: self = .downloadProgress(step)
        }
    }
}

extension Provider {
    /// Returns the events of a call: its progress, then its response.
    ///
    /// ```swift
    /// for try await event in provider.events(for: .upload(photo)) {
    ///     switch event {
    ///     case .uploadProgress(let step): bar.fraction = step.fraction
    ///     case .downloadProgress: break
    ///     case .response(let response): show(response)
    ///     }
    /// }
    /// ```
    ///
    /// Each iteration makes its own call when it starts. Ending the iteration cancels the call. The iteration throws a
    /// ``TargetKitError`` if the call fails. All progress precedes the response.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    public func events(
        for target: Target,
        options: CallOptions = CallOptions()
    ) -> ResponseStream.Elements<RequestEvent> {
        ResponseStream.Elements {
            let (events, continuation) = AsyncThrowingStream.makeStream(of: RequestEvent.self)
            let progress = { @Sendable (step: TransferProgress) in _ = continuation.yield(RequestEvent(step)) }
            let handle = self.start(target, options: options, on: nil, progress: progress, decoding: EnvelopeCheck()) {
                result in
                switch result {
                case .success(let response):
                    continuation.yield(.response(response))
                    continuation.finish()
                case .failure(let error):
                    continuation.finish(throwing: error)
                }
            }
            // Cancelling an ended call has no effect.
            continuation.onTermination = { _ in handle.cancel() }
            return RequestEventReader(events: events, handle: handle)
        }
    }
}

/// Reads the events of a call. Releasing the reader cancels the call.
private struct RequestEventReader: ElementReader {
    let events: AsyncThrowingStream<RequestEvent, any Error>
    let handle: RequestHandle
    var isOver = false

    mutating func next(isolation actor: isolated (any Actor)?) async throws -> RequestEvent? {
        if isOver { return nil }
        do {
            for try await event in events {
                if case .response = event { isOver = true }
                return event
            }
        } catch {
            isOver = true
            throw error
        }
        // The stream of a cancelled task ends without an error; the call has the result.
        isOver = true
        return .response(try await handle.response())
    }
}
