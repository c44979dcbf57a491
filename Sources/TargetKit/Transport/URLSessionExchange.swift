// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One exchange from the call to its end: whoever settles it first, response, error, timeout or cancel, resumes the caller.
///
/// What URLSession reports comes one after another, on the session's callback queue; cancel and timeout come at any time.
final class URLSessionExchange: Sendable {
    private struct State: Sendable {
        var continuation: CheckedContinuation<TransportResponse, any Error>?
        /// What it ended with, kept only until there is somebody to tell.
        var outcome: Result<TransportResponse, any Error>?
        var isSettled = false
        var task: URLSessionTask?
        var timer: Task<Void, Never>?
        var body: URLSessionBody
        var head: ResponseHead?
        /// Out of the state while bytes are written to it, so that the lock is not held over the disk.
        var sink: URLSessionSink?
        var upload = URLSessionProgress(direction: .upload)
        var download = URLSessionProgress(direction: .download)
        var metrics: TransportMetrics?
        var restarts = 0
    }

    private struct Ended: Sendable {
        var continuation: CheckedContinuation<TransportResponse, any Error>?
        var task: URLSessionTask?
        var timer: Task<Void, Never>?
    }

    let call: URLSessionCall
    private let queue: DispatchQueue
    private let state: Locked<State>

    /// An exchange whose tasks are cancelled on that queue.
    init(_ call: URLSessionCall, queue: DispatchQueue) {
        self.call = call
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
        let restarts = state.withLock { state in
            state.upload.completed = 0
            state.head = nil
            state.restarts += 1
            return state.restarts
        }
        // libcurl itself gives up after five connections that were closed under the request.
        if restarts > 5 { fail(.networkConnectionLost, "the connection was closed under the request, again and again") }
        return !isSettled
    }

    /// Ends the exchange; only the first end counts.
    func settle(_ outcome: Result<TransportResponse, any Error>) {
        let ended = state.withLock { state -> Ended? in
            guard !state.isSettled else { return nil }
            let ended = Ended(continuation: state.continuation, task: state.task, timer: state.timer)
            state.isSettled = true
            if state.continuation == nil { state.outcome = outcome }
            state.continuation = nil
            state.task = nil
            state.timer = nil
            state.sink = nil
            return ended
        }
        ended?.timer?.cancel()
        if case .failure = outcome, let task = ended?.task { queue.async { task.cancel() } }
        ended?.continuation?.resume(with: outcome)
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

// MARK: - What URLSession reports

extension URLSessionExchange {
    /// Takes a head. Interim ones (RFC 9110 §15.2) come before the final one.
    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let isInterim = (100..<200).contains(response.statusCode) && response.statusCode != 101
        guard !isInterim else { return }
        let total = call.expectsBody ? response.announcedBodyLength : 0
        let head = ResponseHead(response)
        state.withLock { state in
            state.head = head
            state.download.total = total
        }
        if let limit = call.sink.limit, let total, total > limit { failOverLimit(limit) }
    }

    /// Takes bytes of the response's body, decoded.
    func receive(_ data: Data) {
        let taken = state.withLock { state in
            let sink = state.sink
            state.sink = nil
            return sink
        }
        guard var sink = taken else { return }
        do {
            try sink.append(data)
        } catch {
            return settle(.failure(error.error(for: call.url)))
        }
        let isReporting = call.progress != nil
        let report = state.withLock { [sink] state -> TransferProgress? in
            guard !state.isSettled else { return nil }
            state.sink = sink
            state.download.completed += Int64(data.count)
            return isReporting ? state.download.due() : nil
        }
        if let report { call.progress?(report) }
    }

    /// Counts bytes of the request's body that have gone out.
    func addSent(_ count: Int64) {
        let isReporting = call.progress != nil
        let report = state.withLock { state -> TransferProgress? in
            guard !state.isSettled else { return nil }
            state.upload.completed += count
            state.upload.total = state.body.length
            return isReporting ? state.upload.due() : nil
        }
        if let report { call.progress?(report) }
    }

    func keep(_ metrics: TransportMetrics) {
        state.withLock { $0.metrics = metrics }
    }

    /// Ends the exchange as its task has ended.
    func complete(response: URLResponse?, error: (any Error)?) {
        let known = state.withLock { $0 }
        guard !known.isSettled else { return }
        if let error {
            return settle(.failure(URLSessionFailure.error(error, hasHead: known.head != nil, for: call.url)))
        }
        do throws(URLSessionFailure) {
            let head = try head(known, response).spoken(known.metrics)
            guard let body = try known.sink?.finish() else { return }
            reportEnd()
            settle(.success(TransportResponse(head: head, body: body, metrics: known.metrics)))
        } catch {
            settle(.failure(error.error(for: call.url)))
        }
    }

    /// Linux gives neither head nor body of a redirect status without Location to the delegate; the task has the head.
    private func head(_ state: State, _ response: URLResponse?) throws(URLSessionFailure) -> ResponseHead {
        if let head = state.head { return head }
        guard let response = response as? HTTPURLResponse else {
            throw URLSessionFailure(.badServerResponse, "the response has no head")
        }
        guard !call.expectsBody || response.announcedBodyLength == 0 else {
            throw URLSessionFailure(
                .redirectToNonExistentLocation,
                "URLSession on Linux loses the body of a redirect without a Location; CurlTransport does not"
            )
        }
        return ResponseHead(response)
    }

    private func failOverLimit(_ limit: Int) {
        settle(.failure(URLSessionFailure.overLimit(limit).error(for: call.url)))
    }

    private func reportEnd() {
        guard let progress = call.progress else { return }
        let reports = state.withLock { state -> [TransferProgress] in
            guard !state.isSettled else { return [] }
            let upload = state.body.isPresent ? state.upload.last(total: state.body.length) : nil
            return [upload, state.download.last(total: state.download.completed)].compactMap(\.self)
        }
        reports.forEach(progress)
    }
}
