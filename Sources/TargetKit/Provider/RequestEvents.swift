// SPDX-License-Identifier: MIT

/// What happens to a call until its end.
public enum RequestEvent: Sendable {
    /// More of the request's body has gone out.
    case uploadProgress(TransferProgress)
    /// More of the response's body has come in.
    case downloadProgress(TransferProgress)
    /// The response is there: the last event.
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
/// The call starts with the iteration, and ending the iteration cancels it. A second iteration makes a second call.
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
/// The iteration throws a ``TargetKitError`` when the call fails. The last progress of a direction comes before the response.
public struct RequestEvents: AsyncSequence, Sendable {
    /// A step of the call.
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
            // The stream of a cancelled task ends without a word: the call knows what has become of it.
            isOver = true
            return .response(try await handle.response())
        }
    }

    private let start:
        @Sendable (
            _ progress: @escaping @Sendable (TransferProgress) -> Void,
            _ completion: @escaping @Sendable (Result<Response, TargetKitError>) -> Void
        ) -> RequestHandle

    /// The events of a call that the closure makes.
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
        // The end of a call that is over already cancels nothing.
        continuation.onTermination = { _ in handle.cancel() }
        return Iterator(events: stream.makeAsyncIterator(), handle: handle)
    }
}

extension Provider {
    /// The events of a call: its progress, then its response. The call is made when the events are read.
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
