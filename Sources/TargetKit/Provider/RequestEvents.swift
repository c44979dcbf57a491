// SPDX-License-Identifier: MIT

/// An event of a call.
public enum RequestEvent: Sendable {
    /// A part of the request's body was sent.
    case uploadProgress(TransferProgress)
    /// A part of the response's body was received.
    case downloadProgress(TransferProgress)
    /// The response, which is the last event.
    case response(Response)

    init(_ step: TransferProgress) {
        switch step.direction {
        case .upload: self = .uploadProgress(step)
        case .download: self = .downloadProgress(step)
        }
    }
}

/// The events of a call: its progress, then its response.
///
/// Each iteration makes a call of its own. Ending the iteration cancels the call.
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
/// The iteration throws a ``TargetKitError`` if the call fails. All progress comes before the response.
public struct RequestEvents: AsyncSequence, Sendable {
    /// An event of the call.
    public typealias Element = RequestEvent

    /// Makes the call and reads its events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: AsyncThrowingStream<RequestEvent, any Error>.Iterator
        fileprivate let handle: RequestHandle
        private var isOver = false

        fileprivate init(events: AsyncThrowingStream<RequestEvent, any Error>.Iterator, handle: RequestHandle) {
            self.events = events
            self.handle = handle
        }

        /// The next event; `nil` after the response.
        ///
        /// - Throws: ``TargetKitError``.
        public mutating func next() async throws -> RequestEvent? {
            if isOver { return nil }
            do {
                if let event = try await events.next() {
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

    private let start:
        @Sendable (
            _ progress: @escaping @Sendable (TransferProgress) -> Void,
            _ completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
        ) -> RequestHandle

    /// Creates the events of the call that the closure starts.
    init(
        start:
            @escaping @Sendable (
                _ progress: @escaping @Sendable (TransferProgress) -> Void,
                _ completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
            ) -> RequestHandle
    ) {
        self.start = start
    }

    /// Makes the call.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: RequestEvent.self)
        let handle = start {
            continuation.yield(RequestEvent($0))
        } _: { result in
            switch result {
            case .success(let response):
                continuation.yield(.response(response))
                continuation.finish()
            case .failure(let error):
                continuation.finish(throwing: error)
            }
        }
        // Cancelling a call that has ended has no effect.
        continuation.onTermination = { _ in handle.cancel() }
        return Iterator(events: stream.makeAsyncIterator(), handle: handle)
    }
}

extension Provider {
    /// Returns the events of a call: its progress, then its response. The call starts when iteration starts.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    public func events(for target: Target, options: CallOptions = CallOptions()) -> RequestEvents {
        RequestEvents { progress, completion in
            self.start(target, options, on: nil, progress, Self.envelopeCheck, completion)
        }
    }
}
