// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl
import Foundation

// MARK: - Starting and ending transfers
extension CurlLoop {
    /// The maximum number of handles kept for reuse.
    private static let spareLimit = 256
    /// The maximum delay in noticing that a waiting call has timed out, in nanoseconds.
    private static let checkInterval: UInt64 = 10_000_000
    /// The maximum number of times a refused call is sent again, if the server responds to other requests meanwhile.
    ///
    /// A server that closes each connection after 10 requests refuses 90 of 100 that are sent at once. The first are
    /// sent first again.
    private static let refusalLimit = 100
    /// The number of times for which a refusal counts if the server has responded to no other request since the last.
    private static let fruitlessRefusalWeight = 25

    func take(_ start: consuming CurlPendingCall) {
        guard !start.call.isCancelled.load(ordering: .acquiring) else { return start.fail(with: .cancelled) }
        if start.call.timeoutMilliseconds > 0 {
            let deadline = clock.now + UInt64(start.call.timeoutMilliseconds) * 1_000_000
            start.deadline = deadline
            clock.setAlarm(deadline)
        }
        let key = settings.hostKey(of: start.call)
        if let host = queue.admit(key) { return begin(start, at: host) }
        queue.add(start, for: key)
    }

    func startQueuedCalls() {
        while let (start, host) = queue.next() { begin(start, at: host) }
    }

    private func begin(_ start: consuming CurlPendingCall, at host: CurlConnectionQueue.Host) {
        let headBuffer = start.takeHeadBuffer()
        guard let transfer = spareTransfer() else {
            queue.release(host)
            return start.fail(with: .unavailable)
        }
        do {
            try transfer.begin(start, at: host, headBuffer: headBuffer)
        } catch {
            queue.release(host)
            transfer.end(with: .failure(error))
            keep(transfer)
            return CurlCompletion(start: start, outcome: .failure(error), channel: nil, queue: nil).deliver()
        }
        runningCount += 1
        let result = curl_multi_add_handle(multi, transfer.easy)
        guard result == CURLM_OK else { return end(transfer, with: .unavailable) }
        if start.deadline == nil {
            clock.setAlarm(clock.now + settings.configuration.idleTimeout.curlNanoseconds)
        }
    }

    /// Ends the exchanges that libcurl has finished.
    func finishCompleted() {
        noteGoAways()
        var result = CURLE_OK
        var refused: [CurlPendingCall] = []
        while let easy = ccurl_multi_next_done(multi, &result) {
            guard let user = ccurl_private(easy) else { continue }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            if let start = transfer.refused(result), start.refusals < Self.refusalLimit {
                refused.append(withdraw(start, of: transfer))
            } else {
                end(transfer, after: result)
            }
        }
        // Before the calls that wait, in the order in which they were sent.
        for start in refused.reversed() { queue.add(start, for: settings.hostKey(of: start.call), isFirst: true) }
        // All at once: otherwise the first would wake a thread that handles it before the second arrives, and then
        // sleeps again.
        for transfer in finished {
            transfer.completion.take()?.deliver()
            keep(transfer)
        }
        finished.removeAll(keepingCapacity: true)
    }

    private func noteGoAways() {
        for goAway in goAways.take() {
            for case let transfer? in transfers where transfer.start != nil { transfer.note(goAway) }
        }
    }

    /// Ends the transfer of a refused call, and returns the call, to be sent again.
    private func withdraw(_ start: consuming CurlPendingCall, of transfer: CurlTransfer) -> CurlPendingCall {
        let responses = transfer.host?.responseCount ?? 0
        start.refusals += responses == start.responsesBefore ? Self.fruitlessRefusalWeight : 1
        start.responsesBefore = responses
        end(transfer, with: .failure(CurlFailure.cancelled))
        transfer.completion = nil
        return start
    }

    func end(_ transfer: CurlTransfer, with failure: CurlFailure) {
        interrupt(transfer, with: .failure(failure))
    }

    func end(_ transfer: CurlTransfer, after result: CURLcode) {
        end(transfer, with: Result { try transfer.outcome(result) })
    }

    /// Removes an unfinished transfer from libcurl.
    private func interrupt(_ transfer: CurlTransfer, with outcome: Result<TransportResponse, any Error>) {
        // Otherwise the server would continue to work on an unused response. Closing the connection, unless another
        // stream shares it, ends that.
        if CurlLibrary.delaysStreamResets { transfer.forbidReuse() }
        end(transfer, with: outcome)
    }

    /// Removes the transfer from libcurl; its call is notified at the end of the round.
    private func end(_ transfer: CurlTransfer, with outcome: Result<TransportResponse, any Error>) {
        _ = CurlLibrary.withBrokenPipesBlocked { curl_multi_remove_handle(multi, transfer.easy) }
        runningCount -= 1
        if let host = transfer.host { queue.release(host) }
        transfer.end(with: outcome)
        finished.append(transfer)
    }

    func endAll(with failure: CurlFailure) {
        for start in queue.removeAll() { start.fail(with: failure) }
        for case let transfer? in transfers where transfer.start != nil { end(transfer, with: failure) }
    }

    /// Ends the exchanges that libcurl does not end: those that have timed out, and those whose response is complete
    /// before the request has been sent.
    func endTimedOut() {
        clock.clearAlarm()
        for case let transfer? in transfers where transfer.start != nil {
            if transfer.canEndEarly() {
                let outcome = Result { try transfer.outcome(CURLE_OK) }
                if transfer.isBodyUnsent { interrupt(transfer, with: outcome) } else { end(transfer, with: outcome) }
            } else if transfer.due <= clock.now {
                end(transfer, with: transfer.describingUnsentBody(transfer.timeoutFailure))
            } else {
                clock.setAlarm(transfer.due)
            }
        }
        let (overdue, next) = queue.removeOverdue(at: clock.now)
        for start in overdue { start.fail(with: .timedOut) }
        // Each check costs time proportional to the number of running transfers.
        if let next { clock.setAlarm(max(next, clock.now + Self.checkInterval)) }
    }

    private func spareTransfer() -> CurlTransfer? {
        if let transfer = spare.popLast() { return transfer }
        let slot = freeSlots.popLast() ?? transfers.count
        let transfer = CurlTransfer(slot: slot, loop: self)
        if slot == transfers.count { transfers.append(transfer) } else { transfers[slot] = transfer }
        return transfer
    }

    private func keep(_ transfer: CurlTransfer) {
        guard transfer.mustBeDiscarded || spare.count >= Self.spareLimit else { return spare.append(transfer) }
        transfers[transfer.slot] = nil
        freeSlots.append(transfer.slot)
    }
}
#endif
