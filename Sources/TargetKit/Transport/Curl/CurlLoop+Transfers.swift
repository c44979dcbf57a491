// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

// MARK: - Starting and ending transfers
extension CurlLoop {
    /// The maximum number of idle handles for reuse.
    private static let spareLimit = 256
    /// The maximum delay in noticing that a waiting call has timed out, in nanoseconds.
    private static let checkInterval: UInt64 = 10_000_000
    /// The maximum number of retries of a refused call while the server responds to other requests.
    ///
    /// A server that closes each connection after 10 requests refuses 90 of 100 concurrent requests. The oldest
    /// requests are retried first.
    private static let refusalLimit = 100
    /// The weight of a refusal if the server didn't respond to another request since the previous refusal.
    private static let fruitlessRefusalWeight = 25

    func take(_ pending: CurlPendingCall) {
        var pending = pending
        guard !pending.call.isCancelled.load(ordering: .acquiring) else { return pending.fail(with: .cancelled) }
        if pending.call.timeoutMilliseconds > 0 {
            let deadline = clock.now + UInt64(pending.call.timeoutMilliseconds) * 1_000_000
            pending.deadline = deadline
            clock.setAlarm(deadline)
        }
        if case .upgrade = pending.call.destination { return openConnection(for: pending) }
        queue.add(pending, for: settings.hostKey(of: pending.call))
    }

    func startQueuedCalls() {
        while let (pending, host) = queue.next() { begin(pending, at: host) }
    }

    private func begin(_ pending: CurlPendingCall, at host: CurlConnectionQueue.Host) {
        guard let transfer = spareTransfer() else {
            queue.release(host)
            return pending.fail(with: .unavailable)
        }
        do {
            try transfer.begin(pending, at: host)
        } catch {
            queue.release(host)
            transfer.end(with: .failure(error))
            keep(transfer)
            return CurlCompletion(pending: pending, outcome: .failure(error), channel: nil, queue: nil).deliver()
        }
        runningCount += 1
        guard multi.add(transfer) else { return interrupt(transfer, with: .failure(TransportFailure.unavailable)) }
        if pending.deadline == nil {
            clock.setAlarm(clock.now + settings.configuration.idleTimeout.curlNanoseconds)
        }
    }

    /// Passes on received bytes, and ends the exchanges that libcurl finished.
    func finishCompleted() {
        arrivals.flush()
        connections?.finishConnecting()
        noteGoAways()
        var result = CURLE_OK
        var refused: [CurlPendingCall] = []
        while let easy = ccurl_multi_next_done(multi.handle, &result) {
            guard let transfer = ccurl_private(easy)?.object(CurlTransfer.self) else { continue }
            if transfer.current == nil {
                abandonedCount -= 1
                remove(transfer, with: .failure(TransportFailure.cancelled))
            } else if let pending = transfer.refused(result), pending.refusals < Self.refusalLimit {
                refused.append(withdraw(pending, of: transfer))
            } else {
                end(transfer, after: result)
            }
        }
        // They precede the waiting calls, in the order in which they were sent.
        for pending in refused.reversed() { queue.add(pending, for: settings.hostKey(of: pending.call), isFirst: true) }
        // All at once. Otherwise, the first would wake a thread that handles it and sleeps again before the second
        // arrives.
        for transfer in finished {
            transfer.completion.take()?.deliver()
            keep(transfer)
        }
        finished.removeAll(keepingCapacity: true)
    }

    private func noteGoAways() {
        for goAway in goAways.take() {
            for case let transfer? in transfers where transfer.current != nil { transfer.note(goAway) }
        }
    }

    /// Ends the transfer of a refused call, and returns the call for a retry.
    private func withdraw(_ pending: CurlPendingCall, of transfer: CurlTransfer) -> CurlPendingCall {
        var pending = pending
        let responses = transfer.host?.responseCount ?? 0
        pending.refusals += responses == pending.responsesBefore ? Self.fruitlessRefusalWeight : 1
        pending.responsesBefore = responses
        remove(transfer, with: .failure(TransportFailure.cancelled))
        transfer.completion = nil
        return pending
    }

    @inline(never)
    func end(_ transfer: CurlTransfer, after result: CURLcode) {
        noteGoAways()
        remove(transfer, with: Result { try transfer.outcome(result) })
    }

    /// Removes an unfinished transfer from libcurl.
    @inline(never)
    func interrupt(_ transfer: CurlTransfer, with outcome: Result<TransportResponse, any Error>) {
        if transfer.lookupDue != nil { return abandon(transfer, with: outcome) }
        // Otherwise, the server would continue to work on an unused response. The connection is closed unless another
        // stream shares it.
        if CurlLibrary.delaysStreamResets { transfer.forbidReuse() }
        remove(transfer, with: outcome)
    }

    /// Ends the call of a transfer that looks up a name. It counts as one of its host's until the lookup ends, so that
    /// the number of lookups is limited.
    private func abandon(_ transfer: CurlTransfer, with outcome: Result<TransportResponse, any Error>) {
        abandonedCount += 1
        transfer.abandon(with: outcome)
        transfer.completion.take()?.deliver()
    }

    /// Removes the transfer from libcurl; its call is notified at the end of the round.
    @inline(never)
    private func remove(_ transfer: CurlTransfer, with outcome: Result<TransportResponse, any Error>) {
        multi.remove(transfer)
        runningCount -= 1
        if let host = transfer.host { queue.release(host) }
        transfer.end(with: outcome)
        finished.append(transfer)
    }

    func endAll(with failure: TransportFailure) {
        for pending in queue.removeAll() { pending.fail(with: failure) }
        for case let transfer? in transfers where transfer.current != nil { remove(transfer, with: .failure(failure)) }
        connections?.endAll(with: failure)
    }

    private func openConnection(for pending: CurlPendingCall) {
        let connections = connections ?? CurlConnections(self)
        self.connections = connections
        connections.begin(pending)
    }

    /// Ends the exchanges that libcurl doesn't end: exchanges that timed out, and exchanges with a complete response
    /// before the request is sent.
    func endTimedOut() {
        clock.clearAlarm()
        for case let transfer? in transfers where transfer.current != nil {
            if transfer.canEndEarly() {
                let outcome = Result { try transfer.outcome(CURLE_OK) }
                if transfer.isBodyUnsent { interrupt(transfer, with: outcome) } else { remove(transfer, with: outcome) }
            } else if transfer.due <= clock.now {
                interrupt(transfer, with: .failure(transfer.describingUnsentBody(transfer.timeoutFailure)))
            } else {
                clock.setAlarm(transfer.due)
            }
        }
        connections?.endTimedOut()
        let (overdue, next) = queue.removeOverdue(at: clock.now)
        for pending in overdue { pending.fail(with: .timedOut) }
        // Each check takes time proportional to the number of running transfers.
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
