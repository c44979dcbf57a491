// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What URLSession reports of an exchange's task.
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
        do throws(URLSessionFailure) {
            try head.checkForTrailers()
            if let limit = call.sink.limit, let total, total > limit { throw URLSessionFailure.overLimit(limit) }
        } catch {
            return settle(.failure(error.error(for: call.url)))
        }
        deliver(head)
    }

    /// Takes bytes of the response's body, decoded.
    func receive(_ data: Data) {
        let written = write(data)
        let told = state.withLock { state in
            state.isWriting = false
            return state.told.take()
        }
        if let (continuation, outcome) = told { return continuation.resume(with: outcome) }
        switch written {
        case .success(let report): if let report { call.progress?(report) }
        case .failure(let error): settle(.failure(error.error(for: call.url)))
        }
    }

    /// Writes the bytes, and says what there is to report. A file that nobody wants any more is gone when this returns.
    private func write(_ data: Data) -> Result<TransferProgress?, URLSessionFailure> {
        guard var sink = takeSink() else { return .success(nil) }
        do {
            if try !sink.append(data) { keepPace() }
        } catch {
            sink.discard()
            return .failure(error)
        }
        let isReporting = call.progress != nil
        let (isWanted, report) = state.withLock { [sink] state -> (Bool, TransferProgress?) in
            guard !state.isSettled else { return (false, nil) }
            state.sink = sink
            state.isWriting = false
            state.download.completed += Int64(data.count)
            return (true, isReporting ? state.download.due() : nil)
        }
        if !isWanted { sink.discard() }
        return .success(report)
    }

    /// Moves the sink out of the state. A second reference would cause a copy of its bytes for each piece.
    private func takeSink() -> URLSessionSink? {
        state.withLock { state in
            state.isWriting = state.sink != nil
            return state.sink.take()
        }
    }

    /// Counts bytes of the request's body that have gone out.
    func addSent(_ count: Int64) {
        let isReporting = call.progress != nil
        let report = state.withLock { state -> TransferProgress? in
            guard !state.isSettled else { return nil }
            state.upload.completed += count
            if state.upload.total == nil { state.upload.total = state.body.length }
            return isReporting ? state.upload.due() : nil
        }
        if let report { call.progress?(report) }
    }

    func keep(_ metrics: TransportMetrics) {
        state.withLock { $0.metrics = metrics }
    }

    /// Ends the exchange as its task has ended.
    func complete(response: URLResponse?, error: (any Error)?) {
        let (isSettled, known, metrics) = state.withLock { ($0.isSettled, $0.head, $0.metrics) }
        guard !isSettled else { return }
        if let error {
            return settle(.failure(URLSessionFailure.error(error, hasHead: known != nil, for: call.url)))
        }
        do throws(URLSessionFailure) {
            let received = if let known { known } else { try head(of: response) }
            let head = received.spoken(metrics)
            deliver(head)
            finish(head, metrics)
        } catch {
            settle(.failure(error.error(for: call.url)))
        }
    }

    /// Ends the exchange with its response. From here on it cannot be cancelled or time out: its file is moved into
    /// place.
    private func finish(_ head: ResponseHead, _ metrics: TransportMetrics?) {
        guard let ended = end(with: nil) else { return }
        let sink = ended.sink ?? call.sink
        do throws(URLSessionFailure) {
            let body = try sink.finish()
            reportEnd()
            tell(ended, .success(TransportResponse(head: head, body: body, metrics: metrics)))
        } catch {
            sink.discard()
            tell(ended, .failure(error.error(for: call.url)))
        }
    }

    /// Linux gives neither head nor body of a redirect status without Location to the delegate; the task has the head.
    private func head(of response: URLResponse?) throws(URLSessionFailure) -> ResponseHead {
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

    private func reportEnd() {
        guard let progress = call.progress else { return }
        let reports = state.withLock { state -> [TransferProgress] in
            let upload = state.body.isPresent ? state.upload.last(total: state.body.length) : nil
            return [upload, state.download.last(total: state.download.completed)].compactMap(\.self)
        }
        reports.forEach(progress)
    }
}

/// Counts the bytes of one direction, and says when they are worth a report.
struct URLSessionProgress: Sendable {
    private static let pause = Duration.milliseconds(50)

    let direction: TransferProgress.Direction
    var completed: Int64 = 0
    var total: Int64?
    private var reported: TransferProgress?
    private var reportedAt: ContinuousClock.Instant?

    init(direction: TransferProgress.Direction) {
        self.direction = direction
    }

    /// A report, unless there was a recent one. Completion is always reported: there may be no further report for a
    /// long time.
    mutating func due() -> TransferProgress? {
        let now = ContinuousClock.now
        if let reportedAt, completed != total, now - reportedAt < Self.pause { return nil }
        reportedAt = now
        return report()
    }

    /// The report at the end, unless it has been made; the total is known now.
    mutating func last(total: Int64?) -> TransferProgress? {
        self.total = total
        return report()
    }

    private mutating func report() -> TransferProgress? {
        let report = TransferProgress(completed: completed, total: total, direction: direction)
        guard report != reported else { return nil }
        reported = report
        return report
    }
}
