// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

extension OfflineOutbox {
    /// The delay before checking again whether another process is sending.
    private static var otherProcessDelay: Duration { .seconds(1) }
    /// The delay before retrying when the file can't be used.
    private static var storageDelay: Duration { .seconds(30) }

    /// Starts sending waiting entries, or notifies the task that sends them.
    func startSending() {
        let begins = content.update { content in
            if content.isRunning {
                content.hasPendingChange = true
                return false
            }
            content.isRunning = true
            return true
        }
        if begins { Task { await self.sendWaiting() } }
    }

    private func sendWaiting() async {
        var delay: Duration?
        repeat {
            await confirmCredential()
            do throws(OutboxError) {
                delay = nil
                guard try await store.acquireSendingLock() else {
                    delay = Self.otherProcessDelay
                    continue
                }
                defer { if !store.releaseSendingLock() { delay = Self.storageDelay } }
                while let item = try await next() { await send(item) }
            } catch {
                update { $0.storageError = error }
                delay = Self.storageDelay
            }
        } while content.update({ content in
            defer { (content.hasPendingChange, content.isRunning) = (false, content.hasPendingChange) }
            return content.hasPendingChange
        })
        sendLater(delay)
    }

    /// Looks at the current credential after ``sendNow()``, because another user can sign in before a call shows it.
    private func confirmCredential() async {
        let target = content.read { content in
            content.isConfirming && content.announcement != nil ? content.entries.first?.target : nil
        }
        guard let target else { return }
        let requester = try? await provider.authenticated(target, options: options, read: Requester.init)
        if let requester { content.update { $0.see(requester) } }
    }

    /// Sends entries at the end of the shortest delay, and ends entries when they expire.
    ///
    /// - Parameter delay: The delay; `nil` for the delay of the entries.
    private func sendLater(_ delay: Duration?) {
        // Under the lock, because an older state must not replace the delay of a newer one.
        delayTask.withLock { task in
            task?.cancel()
            guard let time = timeToWait(delay) else { return }
            task = Task { [weak self, clock] in
                guard (try? await clock.wait(for: time)) != nil else { return }
                self?.startSending()
            }
        }
    }

    /// The time until an entry can be sent or expires; `nil` if none is waiting.
    private func timeToWait(_ delay: Duration?) -> Duration? {
        let content = content.value
        let waits = content.items.all.filter { $0.target != nil && !$0.isFailedOrExpired }
        guard !waits.isEmpty || store.holdsSendingLock else { return nil }
        let expiry = waits.map { $0.call.date.addingTimeInterval(limits.age / .seconds(1)) }.min()
        let untilExpiry =
            expiry.map { Duration.seconds(min(max(1, $0.timeIntervalSince(now()) + 1), 1e8)) } ?? LongestWait.year
        let ownDelay = delay ?? (isNetworkUsable ? content.wait(at: elapsed.current) : nil)
        return max(.milliseconds(10), min(ownDelay ?? LongestWait.year, untilExpiry))
    }
}

// MARK: - One entry

extension OfflineOutbox {
    /// Marks the next entry as being sent; `nil` if none can be sent now.
    private func next() async throws(OutboxError) -> OutboxItems<Target>.Item? {
        let now = now()
        return try await store.transaction(isRequired: false) { [self] transaction throws(OutboxError) in
            try endAbandoned(&transaction, now: now)
            guard isNetworkUsable, let item = transaction.current.next(at: elapsed.current) else { return nil }
            if item.call.policy == .ifUnsent {
                // Without the record, the next launch could send the entry again.
                try transaction.write([OutboxRecord(change: .begun, id: item.id)], isRequired: true)
            }
            let isCurrent = update { content in
                guard content.account == item.call.account else { return false }
                content.sending = item.id
                return true
            }
            guard isCurrent else {
                try transaction.write([OutboxRecord(change: .waiting, id: item.id)])
                return nil
            }
            report(item.id)
            return item
        }
    }

    /// Ends the expired entries, and the entries whose calls were interrupted because another process was killed.
    private func endAbandoned(_ transaction: inout OutboxTransaction<Target>, now: Date) throws(OutboxError) {
        let content = transaction.current
        for item in content.items.all where item.target != nil && !item.isFailedOrExpired {
            if case .begun = item.state {
                let text = "The app ended while the call was in progress. The server may have processed it."
                try transaction.write([.failed(item.id, failure: StoredFailure(text: text))])
                report(item.id)
            } else if item.call.date.addingTimeInterval(limits.age / .seconds(1)) < now {
                try transaction.write([OutboxRecord(change: .expired, id: item.id)])
                report(item.id)
            }
        }
        update { _ in }
    }

    private func send(_ item: OutboxItems<Target>.Item) async {
        guard let target = item.target else { return }
        let gate: SendingGate = { [store, servers, provider] _, context in
            let requester = Requester(context)
            let isElsewhere = item.call.baseURL.map { $0 != provider.baseURL(of: target) } ?? false
            let isOfOther = servers.isOther(for: item.id, requester, isElsewhere: isElsewhere)
            let isAdmitted = store.content.update { $0.admits(requester, for: item, isOfOtherServer: isOfOther) }
            guard isAdmitted else { throw CredentialError.ofOtherOwner }
            if item.call.isOwnerUncertain == true, requester.isKnown {
                // From now on, the server may have processed it for this user.
                let (owner, session) = (requester.identifier, requester.sessionOfUser)
                let record = OutboxRecord(change: .owned, id: item.id, owner: owner, session: session)
                try await store.transaction(isRequired: false) { transaction throws(OutboxError) in
                    _ = try transaction.write([record])
                }
            }
        }
        let options = options(of: item.call).setting(\.showsLoading, false).setting(\.showsErrors, false)
            .setting(\.sendingGate, gate)
        let couldAuthenticate = await canAuthenticate(target)
        let (result, isWanted) = await result(of: target, options: options) { content, task in
            content.task = task
            return content.account == item.call.account && content.items[item.id] != nil
        }
        var outcome = isWanted ? OutboxOutcome(result, policy: item.call.policy, now: now()) : .noResponse
        // The store's error can be any. It can be readable again by now.
        if case .failed(let error) = outcome, error.stage == .request {
            let isReadable = couldAuthenticate ? await canAuthenticate(target) : false
            if !isReadable { outcome = .otherOwner }
        }
        let error: TargetKitError? = if isWanted, case .failure(let error) = result { error } else { nil }
        // It doesn't throw, because failed writes are repeated later.
        try? await store.transaction(isRequired: false) { [self, outcome] transaction throws(OutboxError) in
            try end(item, outcome: outcome, error: error, transaction: &transaction)
        }
    }

    /// Whether the credential of a target's call can be read.
    private func canAuthenticate(_ target: Target) async -> Bool {
        (try? await provider.authenticated(target, options: options) { _ in }) != nil
    }

    /// Makes a call that starts only when an account change can cancel it, so that it never uses the credentials of
    /// another user.
    ///
    /// - Parameter register: Stores the task for cancellation. Returns whether the call is still wanted; otherwise it
    ///   is cancelled.
    func result(
        of target: Target,
        options: CallOptions,
        register: (inout OutboxContent<Target>, Task<Result<Response, TargetKitError>, Never>) -> Bool
    ) async -> (result: Result<Response, TargetKitError>, isWanted: Bool) {
        let start = SharedOutcome<Void>()
        let task = Task { [provider] in
            try? await start.value()
            return await provider.result(of: target, options: options)
        }
        let isWanted = content.update { register(&$0, task) }
        if !isWanted { task.cancel() }
        start.settle(())
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return (result, isWanted)
    }

    /// Records the outcome of an entry's call.
    private func end(
        _ item: OutboxItems<Target>.Item,
        outcome: OutboxOutcome,
        error: TargetKitError?,
        transaction: inout OutboxTransaction<Target>
    ) throws(OutboxError) {
        let isInOutbox = transaction.current.items[item.id] != nil
        switch outcome {
        case .sent: try transaction.write([OutboxRecord(change: .ended, id: item.id)])
        case .failed(let error) where isInOutbox:
            try transaction.write([.failed(item.id, failure: StoredFailure(error))])
        case .needsSignIn, .noResponse, .unavailable, .otherOwner, .failed:
            if isInOutbox, item.call.policy == .ifUnsent {
                try transaction.write([OutboxRecord(change: .waiting, id: item.id)])
            }
        }
        let time = elapsed.current
        update { $0.endCall(of: item, with: outcome, error: error, isInOutbox: isInOutbox, at: time) }
        if case .sent(let response) = outcome, let entry = content.value.entry(item) {
            readers.send(entry.with(.sent(response)))
        } else {
            report(item.id)
        }
    }
}

// MARK: - The network

extension OfflineOutbox {
    /// Whether a network that calls may use is known to be available.
    var isNetworkUsable: Bool { reachability.serves(options) }

    /// Ends delays after a successful call.
    func callSucceeded() {
        guard content.value.items.all.contains(where: { !$0.isFailedOrExpired }) else { return }
        update { content in
            content.unauthorized = nil
            content.delays.endNoResponse()
        }
        startSending()
    }

    /// Sends entries whenever the network changes.
    func observeNetwork() {
        let task = reachability.observe { [weak self] isChange in
            guard let self else { return false }
            if isChange { self.update { $0.delays.endNoResponse() } }
            self.startSending()
            return true
        }
        networkTask.withLock { $0 = task }
    }
}

extension Provider {
    /// The result of a call as a value.
    fileprivate func result(of target: Target, options: CallOptions) async -> Result<Response, TargetKitError> {
        do {
            return .success(try await request(target, options: options))
        } catch {
            return .failure(error)
        }
    }
}
