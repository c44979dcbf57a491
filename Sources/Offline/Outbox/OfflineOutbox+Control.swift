// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import _TargetKitStorage

extension OfflineOutbox {
    /// Makes a call, or keeps it and sends it later if there is no network connection.
    ///
    /// The call is kept without an attempt if there is no network, or if entries of its group are waiting. If the task
    /// is cancelled during the first attempt, the call is cancelled and isn't kept. The order of concurrent calls is
    /// unspecified.
    ///
    /// - Returns: The response, or the identifier of the entry, which is on permanent storage.
    /// - Throws: The error of a call that isn't kept, by its `CallOptions.outboxPolicy`. If a call couldn't be kept,
    ///   for example on a full disk, its `underlying` error is an ``OutboxError``.
    public func send(_ target: Target) async throws(TargetKitError) -> OutboxResult {
        if provider.options(options, of: target).outboxPolicy == .never {
            return .sent(try await provider.request(target, options: options))
        }
        let (id, epoch, count) = (UUID(), content.value.epoch, CredentialSession.count)
        var call = await newCall(of: target, as: id)
        defer { content.update { $0.newCalls[id] = nil } }
        var firstError: TargetKitError?
        if isNetworkUsable, await !hasWaiting(in: call.accountGroup) {
            let sender = Locked<Requester?>(nil)
            let gate: SendingGate = { [call, servers] _, context in
                // The call belongs to the user who made it.
                let requester = Requester(context)
                let isOwner = call.owner.map { $0 == requester.identifier }
                let isOfOtherServer = servers.isOther(for: id, requester, isElsewhere: false)
                guard isOwner ?? (requester.session == nil || requester.isUnchanged(since: count)),
                    !isOfOtherServer || requester.isSession(call.session, of: call.owner)
                else { throw CredentialError.ofOtherOwner }
                sender.withLock { $0 = requester }
            }
            let options = options(of: call).setting(\.sendingGate, gate)
            let result = await firstAttempt(target, options: options, epoch: epoch)
            // The server may have processed the call for this user.
            if let sender = sender.withLock(\.self), sender.isKnown {
                call.setOwner(sender)
                call.isOwnerUncertain = nil
            }
            switch result {
            case .success(let response):
                callSucceeded()
                return .sent(response)
            case .failure(let error):
                guard call.policy.keeps(error) else { throw error }
                firstError = error
                update { $0.delays.addNoResponse(nil, at: elapsed.current) }
            }
        }
        do {
            let isKept = try await keep(target, call: call, as: id, count: count, epoch: epoch, after: firstError)
            if isKept { return .kept(id) }
        } catch {
            throw TargetKitError(stage: .transport, target: target, underlying: error)
        }
        // The account changed.
        throw TargetKitError(stage: .cancelled, target: target, underlying: CancellationError())
    }

    /// Adds a call to the outbox without a first attempt, regardless of its policy.
    ///
    /// - Returns: The identifier of the entry, which is on permanent storage.
    /// - Throws: ``OutboxError/full``, ``OutboxError/unencodableTarget(type:)``, or
    ///   ``OutboxError/unusableFile(path:reason:)`` if it can't be stored, for example on a full disk.
    @discardableResult
    public func keep(_ target: Target) async throws(OutboxError) -> UUID {
        let (id, count) = (UUID(), CredentialSession.count)
        defer { content.update { $0.newCalls[id] = nil } }
        _ = try await keep(target, call: await newCall(of: target, as: id), as: id, count: count)
        return id
    }

    /// Sends the waiting entries immediately, including those that need a sign-in. Call it after a sign-in and when the
    /// app becomes active, but not between a change of ``account`` and the sign-in.
    public func sendNow() {
        update { $0.confirm() }
        startSending()
    }

    /// Resends a failed or expired entry with the same `Idempotency-Key`. Its age is measured from now. Does nothing if
    /// there is no such entry.
    ///
    /// - Throws: ``OutboxError`` if the change can't be written.
    public func retry(_ id: UUID) async throws(OutboxError) {
        let now = now()
        try await store.transaction { [self] transaction throws(OutboxError) in
            guard transaction.current.items[id]?.isFailedOrExpired == true else { return }
            try transaction.write([OutboxRecord(change: .waiting, id: id, date: now)])
            update { $0.errors[id] = nil }
            report(id)
        }
        startSending()
    }

    /// Moves an entry before another one, or to the end. Does nothing if there is no such entry.
    ///
    /// - Parameters:
    ///   - id: The identifier of the entry.
    ///   - next: The entry before which it is moved; default `nil`: to the end.
    /// - Throws: ``OutboxError`` if the change can't be written.
    public func move(_ id: UUID, before next: UUID? = nil) async throws(OutboxError) {
        try await store.transaction { [self] transaction throws(OutboxError) in
            let items = transaction.current.items
            guard items[id] != nil, next == nil || next.flatMap({ items[$0] }) != nil else { return }
            try transaction.write([OutboxRecord(change: .moved, id: id, next: next)])
            update { _ in }
            report(id)
        }
    }

    /// Removes an entry. If its call is in progress, the call is cancelled; the server may still process it.
    ///
    /// - Throws: ``OutboxError`` if the change can't be written. This process doesn't send the entry, but it is sent
    ///   after the next launch unless a later write succeeds.
    public func remove(_ id: UUID) async throws(OutboxError) {
        try await remove { $0.id == id }
    }

    /// Removes all entries of the account, including those that this version of the app can't decode.
    ///
    /// - Throws: ``OutboxError``, like ``remove(_:)``.
    public func removeAll() async throws(OutboxError) {
        let (account, firstAttempts) = update { content in
            content.epoch += 1
            return (content.account, Array(content.firstAttempts.values))
        }
        for task in firstAttempts { task.cancel() }
        try await remove { $0.call.account == account }
    }

    private func remove(_ shouldBeRemoved: @escaping @Sendable (OutboxItems<Target>.Item) -> Bool)
        async throws(OutboxError)
    {
        try await store.transaction(isRequired: false) { [self] transaction throws(OutboxError) in
            let content = transaction.current
            let items = content.items.all.filter(shouldBeRemoved)
            let failure = try transaction.write(items.map { OutboxRecord(change: .ended, id: $0.id) })
            let task = update { content in
                for item in items { (content.errors[item.id], content.unreadCounts[item.id]) = (nil, nil) }
                return items.contains { $0.id == content.sending } ? content.task : nil
            }
            task?.cancel()
            for item in items { if let entry = content.entry(item) { readers.send(entry.with(.removed)) } }
            if let failure { throw failure }
        }
        startSending()
    }
}

// MARK: - Keeping

extension OfflineOutbox {
    /// The call of a target, without its JSON. Until it is an entry, ``OutboxContent/newCalls`` contains it.
    private func newCall(of target: Target, as id: UUID) async -> StoredCall {
        let firstURL = provider.baseURL(of: target)
        let (account, epoch) = content.update { content in
            content.newCalls[id] = (target, firstURL)
            return (content.account, content.epoch)
        }
        let resolved = provider.options(options, of: target)
        let policy = resolved.outboxPolicy
        let requester = try? await provider.authenticated(target, options: options, read: Requester.init)
        // Read again, because the credential can be the one of a server that was selected in the meantime.
        let baseURL = provider.baseURL(of: target)
        let keys = [resolved.idempotencyKey, resolved.headers[.idempotencyKey], target.headers[.idempotencyKey]]
        // An empty key isn't sent.
        let own = keys.compactMap(\.self).first { !$0.allSatisfy(\.isWhitespace) }
        let call = StoredCall(
            target: "",
            key: own ?? (policy == .ifUnsent ? nil : UUID().uuidString),
            account: account,
            // Until it is known.
            isOwnerUncertain: true,
            group: resolved.outboxGroup,
            baseURL: baseURL,
            policy: policy,
            date: now()
        )
        return content.update { content in
            var call = call
            content.newCalls[id] = (target, baseURL)
            // After a change of the account, it may be the credential of the next one.
            if let requester, content.epoch == epoch { content.setOwner(requester, of: &call) }
            return call
        }
    }

    /// Reports the state of an entry.
    func report(_ id: UUID) {
        if let entry = content.value.entry(id) { readers.send(entry) }
    }

    /// The options of an entry's call.
    func options(of call: StoredCall) -> CallOptions {
        // Another call with the same request can have another owner.
        var options = options.setting(\.waitsForConnectivity, false).setting(\.sharesInFlight, false)
            .setting(\.keptBaseURL, call.baseURL)
        guard let key = call.key else { return options }
        options.idempotencyKey = key
        options.headers[.idempotencyKey] = key
        return options
    }

    /// Whether entries of a group are waiting, as far as the file can be read.
    private func hasWaiting(in group: OutboxGroup) async -> Bool {
        let result = try? await store.transaction(isRequired: false) { transaction throws(OutboxError) in
            transaction.current.hasWaiting(in: group)
        }
        return result ?? false
    }

    /// Makes the first attempt of a call.
    private func firstAttempt(
        _ target: Target,
        options: CallOptions,
        epoch: Int
    ) async -> Result<Response, TargetKitError> {
        let id = UUID()
        defer { content.update { $0.firstAttempts[id] = nil } }
        let (result, _) = await result(of: target, options: options) { content, task in
            content.firstAttempts[id] = task
            return content.epoch == epoch
        }
        return result
    }

    /// Keeps a call, unless the account changed since it was made. Returns whether the call is kept.
    ///
    /// - Parameters:
    ///   - count: The ``CredentialSession/count`` before the call was made.
    ///   - firstError: The error of its first attempt.
    private func keep(
        _ target: Target,
        call: StoredCall,
        as id: UUID,
        count: Int,
        epoch: Int? = nil,
        after firstError: TargetKitError? = nil
    ) async throws(OutboxError) -> Bool {
        var call = call
        do { call.target = try StoredTarget.json(of: target) } catch {
            throw .unencodableTarget(type: "\(type(of: target))")
        }
        let limits = limits
        let isKept = try await store.transaction { [self, call] transaction throws(OutboxError) -> Bool in
            let content = transaction.current
            if let epoch, content.epoch != epoch { return false }
            let dropped = try content.items.ended(toMakeRoomFor: call, limits: limits)
            let kept = OutboxRecord(change: .kept, id: id, call: call)
            try transaction.write(dropped.map { OutboxRecord(change: .ended, id: $0.id) } + [kept])
            for item in dropped { if let entry = content.entry(item) { readers.send(entry.with(.removed)) } }
            update { content in
                for item in dropped { (content.errors[item.id], content.unreadCounts[item.id]) = (nil, nil) }
                content.errors[id] = firstError
                if call.owner == nil, call.isOwnerUncertain == true { content.unreadCounts[id] = count }
            }
            report(id)
            return true
        }
        startSending()
        return isKept
    }
}

extension OutboxItems {
    /// The failed or expired entries to remove to make room for a call.
    ///
    /// - Throws: ``OutboxError/full`` if removing them isn't enough.
    fileprivate func ended(toMakeRoomFor call: StoredCall, limits: OutboxLimits) throws(OutboxError) -> [Item] {
        var (count, byteCount) = (order.count + 1, byteCount + call.target.utf8.count)
        var dropped: [Item] = []
        for item in all where item.isFailedOrExpired && (count > limits.count || byteCount > limits.byteCount) {
            dropped.append(item)
            count -= 1
            byteCount -= item.call.target.utf8.count
        }
        guard count <= limits.count, byteCount <= limits.byteCount else { throw .full }
        return dropped
    }
}
