// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension OfflineOutbox {
    /// Makes a call. If it fails because there is no network, it is kept, and sent later.
    ///
    /// It is kept without a try if there is no network, and if entries of its group wait. If the waiting task is
    /// cancelled during the first try, the call is cancelled and not kept. Calls that you make at the same time have no
    /// order.
    ///
    /// - Returns: The response, or the identifier of the entry, which is on permanent storage.
    /// - Throws: The error of a call that is not kept, by its `CallOptions.outboxPolicy`. If a call could not be kept,
    ///   for example on a full disk, its `underlying` error is an ``OutboxError``.
    public func send(_ target: Target) async throws(TargetKitError) -> OutboxResult {
        let call = newCall(of: target)
        if call.policy == .never { return .sent(try await provider.request(target, options: options)) }
        if isNetworkUsable, await !hasWaiting(in: call.line) {
            do {
                let response = try await provider.request(target, options: options(of: call))
                networkHasReturned()
                return .sent(response)
            } catch {
                guard call.policy.keeps(error) else { throw error }
                update { $0.delays.addUnanswered(nil, at: elapsed.current) }
            }
        }
        do {
            return .kept(try await keep(target, call))
        } catch {
            throw TargetKitError(stage: .transport, target: target, underlying: error)
        }
    }

    /// Keeps a call without a first try, and sends it in its order.
    ///
    /// - Returns: The identifier of the entry, which is on permanent storage.
    /// - Throws: ``OutboxError/full``, or ``OutboxError/unusableFile(path:reason:)`` if it cannot be stored, for example
    ///   on a full disk.
    @discardableResult
    public func keep(_ target: Target) async throws(OutboxError) -> UUID {
        try await keep(target, newCall(of: target))
    }

    /// Sends the waiting entries without further delay, also those that waited for a sign-in. Call it after a sign-in,
    /// and when the app becomes active.
    public func sendNow() {
        update { content in
            content.unauthorized = nil
            content.delays.removeAll()
        }
        startSending()
    }

    /// Sends an entry again that has failed or expired. Its age counts from now on; its `Idempotency-Key` is the same.
    /// Does nothing if there is no such entry.
    ///
    /// - Throws: ``OutboxError`` if the change cannot be written.
    public func retry(_ id: UUID) async throws(OutboxError) {
        let now = now()
        try await store.transaction { [self] transaction throws(OutboxError) in
            guard transaction.current.items[id]?.hasEnded == true else { return }
            try transaction.write([OutboxRecord(change: .waiting, id: id, date: now)])
            update { $0.errors[id] = nil }
            report(id)
        }
        startSending()
    }

    /// Moves an entry before another one, or to the end. Does nothing if there is no such entry.
    ///
    /// - Parameter next: The entry before which it is moved; default `nil`: to the end.
    /// - Throws: ``OutboxError`` if the change cannot be written.
    public func move(_ id: UUID, before next: UUID? = nil) async throws(OutboxError) {
        try await store.transaction { [self] transaction throws(OutboxError) in
            let items = transaction.current.items
            guard items[id] != nil, next == nil || next.flatMap({ items[$0] }) != nil else { return }
            try transaction.write([OutboxRecord(change: .moved, id: id, next: next)])
            update { _ in }
            report(id)
        }
    }

    /// Removes an entry, and cancels its call if it is in progress, which the server may process nevertheless.
    ///
    /// - Throws: ``OutboxError`` if the change cannot be written. This process then does not send the entry, but the
    ///   next launch does, unless it can be written later.
    public func remove(_ id: UUID) async throws(OutboxError) {
        try await remove { $0.id == id }
    }

    /// Removes all entries of the account, including those that this version of the app cannot decode.
    ///
    /// - Throws: ``OutboxError``, like ``remove(_:)``.
    public func removeAll() async throws(OutboxError) {
        let account = account
        try await remove { $0.call.account == account }
    }

    private func remove(_ isMeant: @escaping @Sendable (OutboxItems<Target>.Item) -> Bool) async throws(OutboxError) {
        try await store.transaction(isRequired: false) { [self] transaction throws(OutboxError) in
            let content = transaction.current
            let items = content.items.all.filter(isMeant)
            let failure = try transaction.write(items.map { OutboxRecord(change: .ended, id: $0.id) })
            let task = update { content in
                for item in items { content.errors[item.id] = nil }
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
    /// The call of a target, without its JSON.
    private func newCall(of target: Target) -> StoredCall {
        let resolved = provider.resolved(options, for: target)
        let policy = resolved.outboxPolicy
        let own = resolved.idempotencyKey ?? resolved.headers[.idempotencyKey] ?? target.headers[.idempotencyKey]
        return StoredCall(
            target: "",
            key: own ?? (policy == .ifUnsent ? nil : UUID().uuidString),
            account: account,
            group: resolved.outboxGroup,
            policy: policy,
            date: now()
        )
    }

    /// Reports the state of an entry.
    func report(_ id: UUID) {
        if let entry = content.value.entry(id) { readers.send(entry) }
    }

    /// The options of an entry's call.
    func options(of call: StoredCall) -> CallOptions {
        var options = options.setting(\.waitsForConnectivity, false)
        guard let key = call.key else { return options }
        options.idempotencyKey = key
        options.headers[.idempotencyKey] = key
        return options
    }

    /// Whether entries of a line wait, as far as the file can be read.
    private func hasWaiting(in line: OutboxLine) async -> Bool {
        let result = try? await store.transaction(isRequired: false) { transaction throws(OutboxError) in
            transaction.current.hasWaiting(in: line)
        }
        return result ?? false
    }

    private func keep(_ target: Target, _ call: StoredCall) async throws(OutboxError) -> UUID {
        var call = call
        call.target = try StoredCall.encoded(target)
        let (id, limits) = (UUID(), limits)
        try await store.transaction { [self, call] transaction throws(OutboxError) in
            let content = transaction.current
            let dropped = try content.items.ended(toMakeRoomFor: call, limits)
            let kept = OutboxRecord(change: .kept, id: id, call: call)
            try transaction.write(dropped.map { OutboxRecord(change: .ended, id: $0.id) } + [kept])
            for item in dropped { if let entry = content.entry(item) { readers.send(entry.with(.removed)) } }
            update { content in for item in dropped { content.errors[item.id] = nil } }
            report(id)
        }
        startSending()
        return id
    }
}

extension OutboxItems {
    /// The entries that have failed or expired and make room for a call.
    ///
    /// - Throws: ``OutboxError/full`` if there are not enough of them.
    fileprivate func ended(toMakeRoomFor call: StoredCall, _ limits: OutboxLimits) throws(OutboxError) -> [Item] {
        var (count, byteCount) = (order.count + 1, byteCount + call.target.utf8.count)
        var dropped: [Item] = []
        for item in all where item.hasEnded && (count > limits.count || byteCount > limits.byteCount) {
            dropped.append(item)
            count -= 1
            byteCount -= item.call.target.utf8.count
        }
        guard count <= limits.count, byteCount <= limits.byteCount else { throw .full }
        return dropped
    }
}
