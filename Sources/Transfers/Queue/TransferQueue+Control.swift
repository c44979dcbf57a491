// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import _TargetKitStorage

extension TransferQueue {
    /// Adds a transfer and, if the queue has a file, writes it to permanent storage before returning.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - priority: Which of the waiting transfers starts first; default: normal.
    /// - Returns: The identifier of the transfer.
    /// - Throws: ``TransferQueueError/unusableFile(path:reason:)`` if it can't be stored, for example on a full disk.
    @discardableResult
    public func add(_ target: Target, priority: TransferPriority = .normal) async throws(TransferQueueError) -> UUID {
        var json = ""
        if store != nil {
            do { json = try StoredTarget.json(of: target) } catch {
                throw .unusableFile(path: "\(type(of: target))", reason: "the target can't be encoded as JSON")
            }
        }
        let number = content.update { content in
            defer { content.nextNumber += 1 }
            return content.nextNumber
        }
        let transfer = Transfer(id: UUID(), target: target, priority: priority, state: .waiting, progress: nil)
        var item = Item(transfer, json: json, number: number)
        item.sessionCount = CredentialSession.count
        item.baseURL = provider.baseURL(of: target)
        do {
            item.setOwner(try await provider.authenticated(target, options: options, read: Requester.init))
        } catch {
            item.isOwnerUncertain = true
        }
        if let store { try await store.add(StoredTransfer(item)) }
        update { [item] in $0.insert(item) }
        startWaiting()
        return transfer.id
    }

    /// Pauses a waiting or running transfer. A resumable transfer later continues where it stopped.
    public func pause(_ id: UUID) {
        change([id], change: Self.pause)
    }

    /// Returns a paused, failed or cancelled transfer to the waiting state, and ends its delay after a failure.
    ///
    /// This makes the call of a failed or cancelled transfer again even if the server may have processed it.
    public func resume(_ id: UUID) {
        content.update { content in
            content.endDelays(of: id)
            content.allowRepetition(of: id)
        }
        change([id], change: Self.resume)
    }

    /// Cancels a transfer that hasn't ended, and removes its partial download. It stays in ``transfers`` until you
    /// remove it, and isn't restored at the next launch.
    public func cancel(_ id: UUID) {
        cancel([id])
    }

    /// Pauses all transfers that are waiting or running.
    public func pauseAll() {
        change(content.value.order, change: Self.pause)
    }

    /// Returns all paused and failed transfers to the waiting state, except failed ones whose calls the server may have
    /// processed; cancelled ones stay cancelled. Ends all delays after failures: call it when the app becomes active.
    public func resumeAll() {
        let ids = content.update { content in
            for id in content.order { content.endDelays(of: id) }
            return content.order.filter { content.items[$0]?.mustStayFailed != true }
        }
        change(ids) { transfer in
            if case .cancelled = transfer.state { return }
            Self.resume(&transfer)
        }
    }

    /// Cancels all transfers that haven't ended.
    public func cancelAll() {
        cancel(content.value.order)
    }

    /// Changes the priority of a transfer. Doesn't affect a running transfer.
    public func setPriority(_ priority: TransferPriority, of id: UUID) {
        change([id]) { $0.priority = priority }
    }

    /// Removes a transfer from the queue, after cancelling it if it hasn't ended. Doesn't remove the file of a finished
    /// download.
    public func remove(_ id: UUID) {
        remove([id])
    }

    /// Removes the transfers that finished, failed, or were cancelled.
    public func removeEnded() {
        remove(content.value.transfers.filter(\.state.hasEnded).map(\.id))
    }

    private static func pause(_ transfer: inout Transfer<Target>) {
        switch transfer.state {
        case .waiting, .running: transfer.state = .paused
        case .paused, .finished, .failed, .cancelled: break
        }
    }

    private func cancel(_ ids: [UUID]) {
        let idle = change(ids) { if !$0.state.hasEnded { $0.state = .cancelled } }
        for item in idle { removePart(of: item) }
    }

    private func removePart(of item: Item) {
        provider.removePart(of: item.transfer.target, options: .setting(\.keptBaseURL, item.baseURL))
    }

    private static func resume(_ transfer: inout Transfer<Target>) {
        switch transfer.state {
        case .paused, .failed, .cancelled: transfer.state = .waiting
        case .waiting, .running, .finished: break
        }
    }

    private func remove(_ ids: [UUID]) {
        let removed = update { content in
            let removed = content.remove(ids)
            save(removed.map { .removed($0.transfer.id) })
            return removed
        }
        ends.announce(ids)
        for item in removed {
            item.startedCall?.handle.cancel()
            switch item.transfer.state {
            case .finished, .cancelled: break
            case .waiting, .running, .paused, .failed:
                if item.call == nil { removePart(of: item) }
            }
        }
        startWaiting()
    }
}
