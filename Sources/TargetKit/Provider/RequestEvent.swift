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
            let (steps, continuation) = AsyncStream.makeStream(of: TransferProgress.self)
            let handle = self.start(
                target,
                options: options,
                on: nil,
                progress: { continuation.yield($0) },
                decoding: EnvelopeCheck()
            ) { _ in continuation.finish() }
            // Cancelling an ended call has no effect.
            continuation.onTermination = { _ in handle.cancel() }
            return RequestEventReader(steps: steps, handle: handle)
        }
    }
}

/// Reads the events of a call. Releasing the reader cancels the call.
private struct RequestEventReader: ElementReader {
    let steps: AsyncStream<TransferProgress>
    let handle: RequestHandle
    var isOver = false

    mutating func next(isolation actor: isolated (any Actor)?) async throws -> RequestEvent? {
        if isOver { return nil }
        for await step in steps { return RequestEvent(step) }
        // The call ended, or the task is cancelled, which ends the call.
        isOver = true
        return .response(try await handle.response())
    }
}
