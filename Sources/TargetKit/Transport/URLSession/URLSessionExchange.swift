// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One exchange from the call to its end: whoever settles it first, response, error, timeout or cancel, resumes the caller, or
/// ends the body that the caller reads.
///
/// What URLSession reports comes one after another, on the session's callback queue; cancel and timeout come at any time.
final class URLSessionExchange: Sendable {
    struct State: Sendable {
        var continuation: CheckedContinuation<TransportResponse, any Error>?
        /// What it ended with, kept only until there is somebody to tell.
        var outcome: Result<TransportResponse, any Error>?
        var isSettled = false
        /// Whether the caller has its response already, and reads the body.
        var isHeadDelivered = false
        var isTaskSuspended = false
        var task: URLSessionTask?
        var timer: Task<Void, Never>?
        var body: URLSessionBody
        var head: ResponseHead?
        /// The destination of the body; `nil` while it is being written to, so that it has one owner and no lock is
        /// held during disk access.
        var sink: URLSessionSink?
        /// Whether bytes are being written: who then ends the exchange leaves it to the writer to tell the caller, so that nothing
        /// of a file is left when the caller hears of the end.
        var isWriting = false
        /// Whom the writer has to tell, and what.
        var told: (CheckedContinuation<TransportResponse, any Error>, Result<TransportResponse, any Error>)?
        var upload = URLSessionProgress(direction: .upload)
        var download = URLSessionProgress(direction: .download)
        var metrics: TransportMetrics?
        var restarts = 0
    }

    /// The state of an ended exchange, owned by the code that ended it.
    struct Ended: Sendable {
        var continuation: CheckedContinuation<TransportResponse, any Error>?
        var task: URLSessionTask?
        var timer: Task<Void, Never>?
        var sink: URLSessionSink?
        /// Where the body goes, when the caller has had its response at the end of the head.
        var channel: BodyChannel?
    }

    let call: URLSessionCall
    /// Where its task is suspended, resumed and cancelled.
    let queue: DispatchQueue
    /// For the extensions of this class only, which hear of what happens.
    let state: Locked<State>
    private let streaming: URLSessionStreaming

    /// An exchange whose tasks are handled on that queue, which is serial.
    init(_ call: URLSessionCall, queue: DispatchQueue, streaming: URLSessionStreaming) {
        self.call = call
        self.streaming = streaming
        self.queue = queue
        state = Locked(State(body: URLSessionBody(call.body), sink: call.sink))
    }

    var isSettled: Bool { state.withLock { $0.isSettled } }

    /// The request's body as it is sent; none before a source has been read.
    var body: URLSessionBody { state.withLock { $0.body } }

    /// Takes the caller's continuation and starts the clock; `false` when the exchange is over already.
    func open(_ continuation: CheckedContinuation<TransportResponse, any Error>) -> Bool {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(with: outcome) }
        guard outcome == nil else { return false }
        startTimer()
        return true
    }

    func keep(_ body: URLSessionBody) {
        state.withLock { $0.body = body }
    }

    /// Names the task that carries the exchange.
    func attach(_ task: URLSessionTask) {
        let isSettled = state.withLock { state in
            state.task = task
            return state.isSettled
        }
        if isSettled { task.cancel() }
    }

    /// Prepares to be sent by another task; `false` when there is nothing to be sent any more.
    func beginAgain() -> Bool {
        let isHopeless = state.withLock { state in
            state.upload.completed = 0
            state.head = nil
            state.restarts += 1
            // libcurl itself gives up after five connections that were closed under the request.
            return state.restarts > 5 || state.isHeadDelivered
        }
        if isHopeless { fail(.networkConnectionLost, "the connection was closed under the request, again and again") }
        return !isSettled
    }

    /// Ends the exchange; only the first end counts.
    func settle(_ outcome: Result<TransportResponse, any Error>) {
        guard let ended = end(with: outcome) else { return }
        guard let sink = ended.sink, sink.hasFile else { return tell(ended, outcome) }
        // Removing a large file can take time, and the caller may be on the main thread.
        DispatchQueue.global().async { [self] in
            sink.discard()
            tell(ended, outcome)
        }
    }

    /// Ends the exchange and returns its state; `nil` when it has already ended.
    ///
    /// - Parameter outcome: The result for the caller; `nil` while it is unknown.
    func end(with outcome: Result<TransportResponse, any Error>?) -> Ended? {
        state.withLock { state -> Ended? in
            guard !state.isSettled else { return nil }
            var ended = Ended(continuation: state.continuation, task: state.task, timer: state.timer)
            ended.sink = state.sink.take()
            ended.channel = state.isHeadDelivered ? call.sink.channel : nil
            state.isSettled = true
            if let outcome {
                if state.continuation == nil, !state.isHeadDelivered { state.outcome = outcome }
                if state.isWriting, let continuation = ended.continuation.take() {
                    state.told = (continuation, outcome)
                }
            }
            state.continuation = nil
            state.task = nil
            state.timer = nil
            return ended
        }
    }

    /// Reports the result of the exchange to the caller or to the reader of the body.
    func tell(_ ended: Ended, _ outcome: Result<TransportResponse, any Error>) {
        ended.timer?.cancel()
        if case .failure = outcome, let task = ended.task { queue.async { task.cancel() } }
        ended.channel?.finish(outcome.map { _ in })
        ended.continuation?.resume(with: outcome)
    }

    /// Ends the exchange with an error.
    func fail(_ code: URLError.Code, _ message: String) {
        settle(.failure(URLSessionFailure.error(code, message, for: call.url)))
    }

    private func startTimer() {
        guard let timeout = call.timeout else { return }
        let timer = Task.detached { [weak self] in
            // Foundation's own timeouts are whole seconds on Linux.
            guard (try? await ContinuousClock().sleep(for: timeout)) != nil else { return }
            self?.fail(.timedOut, "the request took longer than it may")
        }
        let isSettled = state.withLock { state in
            state.timer = timer
            return state.isSettled
        }
        if isSettled { timer.cancel() }
    }
}

// MARK: - A body that is streamed

extension URLSessionExchange: BodyOrigin {
    /// Gives the caller its response when the body is streamed, once.
    func deliver(_ head: ResponseHead) {
        guard call.sink.channel != nil else { return }
        let continuation = state.withLock { state -> CheckedContinuation<TransportResponse, any Error>? in
            guard !state.isSettled, !state.isHeadDelivered else { return nil }
            state.isHeadDelivered = true
            defer { state.continuation = nil }
            return state.continuation
        }
        guard let continuation else { return }
        continuation.resume(returning: TransportResponse(head: head, body: .stream(ResponseBody(from: self))))
    }

    func next() async throws -> Data? {
        try await call.sink.channel?.next { keepPace() }
    }

    func abandon() {
        if !isSettled { fail(.cancelled, "the body is no longer wanted") }
    }

    /// Suspends the task while the reader has enough to read, and resumes it when it has not.
    ///
    /// The delegate and the reader ask for it, in no order that could be known: so it looks anew each time, one after another.
    func keepPace() {
        guard streaming == .paced, let channel = call.sink.channel else { return }
        queue.async {
            let isPaused = channel.isPaused
            let task = self.state.withLock { state -> URLSessionTask? in
                guard !state.isSettled, state.isTaskSuspended != isPaused else { return nil }
                state.isTaskSuspended = isPaused
                return state.task
            }
            if isPaused { task?.suspend() } else { task?.resume() }
        }
    }
}
