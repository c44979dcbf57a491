// SPDX-License-Identifier: MIT

/// One exchange. The first response, error, timeout or cancellation settles it, which resumes the caller or ends the
/// body that the caller reads.
///
/// URLSession's events arrive one after another on the session's callback queue. A cancellation or timeout can occur at
/// any time.
final class URLSessionExchange: Sendable {
    struct State: Sendable {
        var continuation: CheckedContinuation<TransportResponse, any Error>?
        var isSettled = false
        /// Whether the caller received the response and reads the body.
        var isHeadDelivered = false
        var isTaskSuspended = false
        var task: URLSessionTask?
        var timer: Task<Void, Never>?
        var body: URLSessionBody
        var head: ResponseHead?
        /// The destination of the body; `nil` while it is being written to, so that it has one owner and no lock is
        /// held during disk access.
        var bodyWriter: URLSessionBodyWriter?
        /// Whether bytes are being written.
        var isWriting = false
        /// The outcome of an exchange that ended during a write. The caller is resumed after the write, when the partial
        /// file is removed.
        var outcome: Result<TransportResponse, any Error>?
        var upload = PacedProgress(.upload)
        var download = PacedProgress(.download)
        var metrics: Boxed<TransportMetrics>?
        var restarts = 0
        /// Whether the server or a proxy responded with a challenge, and processed nothing.
        var isChallenged = false
    }

    let call: URLSessionCall
    /// The queue on which the task is suspended, resumed and cancelled.
    let queue: DispatchQueue
    /// Used only by the extensions of this class.
    let state: Locked<State>
    private let streaming: URLSessionStreaming

    /// Creates an exchange that uses its tasks on a serial queue.
    init(_ call: URLSessionCall, queue: DispatchQueue, streaming: URLSessionStreaming) {
        self.call = call
        self.streaming = streaming
        self.queue = queue
        state = Locked(State(body: URLSessionBody(call.body), bodyWriter: call.bodyWriter))
    }

    var isSettled: Bool { state.withLock { $0.isSettled } }

    /// The request's body; `.none` until a source is read.
    var body: URLSessionBody { state.withLock { $0.body } }

    /// Stores the caller's continuation and starts the timeout; returns `false` if the call was cancelled before.
    func open(_ continuation: CheckedContinuation<TransportResponse, any Error>) -> Bool {
        let isSettled = state.withLock { state in
            if !state.isSettled { state.continuation = continuation }
            return state.isSettled
        }
        if isSettled { continuation.resume(throwing: TransportFailure.cancelled.error(for: call.url)) }
        if !isSettled { startTimer() }
        return !isSettled
    }

    func keep(_ body: URLSessionBody) {
        state.withLock { $0.body = body }
    }

    /// Sets the task of the exchange.
    func attach(_ task: URLSessionTask) {
        let isSettled = state.withLock { state in
            state.task = task
            return state.isSettled
        }
        if isSettled { task.cancel() }
    }

    /// Prepares to send the body again from its start; returns `false` if the exchange ended, or ends it if the request
    /// must not be sent twice.
    func prepareToSendAgain() -> Bool {
        guard call.request.isRepeatable() || isUnprocessed else {
            let words = "the connection was closed before a response arrived, and the request isn't safe to retry"
            fail(TransportFailure(.networkConnectionLost, message: words))
            return false
        }
        let isOver = state.withLock { state in
            state.upload.completed = 0
            state.head = nil
            state.restarts += 1
            // libcurl gives up after five connections that closed during the request.
            return state.restarts > 5 || state.isHeadDelivered
        }
        let words = "the connection was closed repeatedly during the request"
        if isOver { fail(TransportFailure(.networkConnectionLost, message: words)) }
        return !isSettled
    }

    /// Notes that the request has to be sent again with a credential.
    func noteChallenge() {
        state.withLock { $0.isChallenged = true }
    }

    /// Whether the server can't have processed the request.
    private var isUnprocessed: Bool {
        #if canImport(FoundationNetworking)
        // libcurl may have sent the head, which a server can process.
        false
        #else
        state.withLock { $0.isChallenged || $0.upload.completed == 0 }
        #endif
    }

    /// Ends the exchange, unless it already ended, and reports its outcome to the caller or the reader of the body.
    func settle(_ outcome: Result<TransportResponse, any Error>) {
        let (isFirst, isStreamed, ended) = state.withLock { state in
            let isFirst = !state.isSettled
            state.isSettled = true
            if isFirst, state.isWriting { state.outcome = outcome }
            let continuation = state.isWriting ? nil : state.continuation.take()
            let ended = (state.task.take(), state.timer.take(), state.bodyWriter.take(), continuation)
            return (isFirst, state.isHeadDelivered, ended)
        }
        let (task, timer, _, continuation) = ended
        timer?.cancel()
        if case .failure = outcome, let task { queue.async { task.cancel() } }
        if isFirst, isStreamed { call.bodyWriter.channel?.finish(outcome.map { _ in }) }
        continuation?.resume(with: outcome)
    }

    /// Ends the exchange with a failure.
    func fail(_ failure: TransportFailure) {
        settle(.failure(failure.error(for: call.url)))
    }

    private func startTimer() {
        guard let timeout = call.timeout else { return }
        let timer = Task.detached { [weak self] in
            // Foundation's own timeouts are whole seconds on Linux.
            guard (try? await ContinuousClock().wait(for: timeout)) != nil else { return }
            self?.fail(.timedOut)
        }
        let isSettled = state.withLock { state in
            state.timer = timer
            return state.isSettled
        }
        if isSettled { timer.cancel() }
    }
}

// MARK: - Streamed bodies

extension URLSessionExchange {
    /// Returns the response to the caller, once, if the body is streamed.
    func deliver(_ head: ResponseHead) {
        guard let channel = call.bodyWriter.channel else { return }
        let continuation = state.withLock { state -> CheckedContinuation<TransportResponse, any Error>? in
            guard !state.isSettled, !state.isHeadDelivered else { return nil }
            state.isHeadDelivered = true
            defer { state.continuation = nil }
            return state.continuation
        }
        guard let continuation else { return }
        let body = ResponseBody(from: channel) {
            self.updateSuspension()
        } cancel: {
            if !self.isSettled { self.fail(TransportFailure(.cancelled, message: "the body was released")) }
        }
        continuation.resume(returning: TransportResponse(head: head, body: .stream(body)))
    }

    /// Suspends the task while the channel is full, and resumes it otherwise.
    ///
    /// The delegate and the reader call it in any order, so it reads the channel's state on the queue each time.
    func updateSuspension() {
        guard streaming == .paced, let channel = call.bodyWriter.channel else { return }
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
