// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

// MARK: - What an app does with transfers

extension TransferQueue {
    /// Adds a transfer. When this returns, it is on permanent storage, if the queue has a file.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - priority: Which of the waiting transfers starts first; default: normal.
    /// - Returns: The identifier of the transfer.
    /// - Throws: ``TransferQueueError/unusableFile(path:reason:)`` if it cannot be stored, for example on a full disk.
    @discardableResult
    public func add(_ target: Target, priority: TransferPriority = .normal) async throws(TransferQueueError) -> UUID {
        let number = content.update { content in
            defer { content.nextNumber += 1 }
            return content.nextNumber
        }
        let transfer = Transfer(id: UUID(), target: target, priority: priority, state: .waiting, progress: nil)
        if let store { try await store.write(StoredTransfer(transfer, number: number)) }
        update { content in
            content.items[transfer.id] = Item(transfer: transfer, number: number)
            // Another call can have stored a later number first.
            let place = content.order.lastIndex { (content.items[$0]?.number ?? 0) < number }.map { $0 + 1 } ?? 0
            content.order.insert(transfer.id, at: place)
        }
        startWaiting()
        return transfer.id
    }

    /// Pauses a transfer that is waiting or running. Of one that can be continued, what was transferred stays.
    public func pause(_ id: UUID) {
        change([id], Self.pause)
    }

    /// Lets a transfer that was paused, has failed, or was cancelled wait for its start again.
    public func resume(_ id: UUID) {
        change([id], Self.resume)
    }

    /// Cancels a transfer that has not ended. It stays in ``transfers`` until it is removed, but not in the file.
    public func cancel(_ id: UUID) {
        change([id], Self.cancel)
    }

    /// Pauses all transfers that are waiting or running.
    public func pauseAll() {
        change(content.value.order, Self.pause)
    }

    /// Lets all transfers that were paused, and those that have failed, wait for their start again.
    public func resumeAll() {
        change(content.value.order) { transfer in
            if case .cancelled = transfer.state { return }
            Self.resume(&transfer)
        }
    }

    /// Cancels all transfers that have not ended.
    public func cancelAll() {
        change(content.value.order, Self.cancel)
    }

    /// Changes the priority of a transfer. A running transfer goes on.
    public func setPriority(_ priority: TransferPriority, of id: UUID) {
        change([id]) { $0.priority = priority }
    }

    /// Removes a transfer from the queue, after cancelling it if it has not ended. The files of a transfer that is finished stay.
    public func remove(_ id: UUID) {
        remove([id])
    }

    /// Removes the transfers that are finished, have failed, or were cancelled.
    public func removeEnded() {
        remove(content.value.transfers.filter(\.state.hasEnded).map(\.id))
    }

    private static func pause(_ transfer: inout Transfer<Target>) {
        switch transfer.state {
        case .waiting, .running: transfer.state = .paused
        case .paused, .finished, .failed, .cancelled: break
        }
    }

    private static func cancel(_ transfer: inout Transfer<Target>) {
        if !transfer.state.hasEnded { transfer.state = .cancelled }
    }

    private static func resume(_ transfer: inout Transfer<Target>) {
        switch transfer.state {
        case .paused, .failed, .cancelled: transfer.state = .waiting
        case .waiting, .running, .finished: break
        }
    }

    private func remove(_ ids: [UUID]) {
        let removed = update { content in
            ids.compactMap { id -> (UUID, RequestHandle?)? in
                guard let item = content.items.removeValue(forKey: id) else { return nil }
                content.order.removeAll { $0 == id }
                return (id, item.handle)
            }
        }
        for (_, handle) in removed { handle?.cancel() }
        save(removed.map { StoredTransfer.removed($0.0) })
        startWaiting()
    }
}

// MARK: - Changes and calls

extension TransferQueue {
    /// Changes transfers, stores the changes, and ends the calls of those that are no longer running.
    private func change(_ ids: [UUID], _ change: (inout Transfer<Target>) -> Void) {
        let (records, handles) = update { content in
            var records: [StoredTransfer<Target>] = []
            var handles: [RequestHandle] = []
            for id in ids {
                guard var item = content.items[id] else { continue }
                change(&item.transfer)
                content.items[id] = item
                records.append(StoredTransfer(item.transfer, number: item.number))
                if !item.transfer.state.isRunning, let handle = item.handle { handles.append(handle) }
            }
            return (records, handles)
        }
        for handle in handles { handle.cancel() }
        save(records)
        startWaiting()
    }

    private func save(_ records: [StoredTransfer<Target>]) {
        guard let store, !records.isEmpty else { return }
        let content = content
        store.write(records) { error in
            if error != content.value.storageError { content.update { $0.storageError = error } }
        }
    }

    /// Starts waiting transfers while there is room.
    func startWaiting() {
        guard isNetworkUsable else { return }
        let starting = content.update { $0.startNext() }
        if starting.isEmpty { return }
        announce()
        for transfer in starting { start(transfer) }
    }

    private func start(_ transfer: Transfer<Target>) {
        let id = transfer.id
        let direction = transfer.target.task.transferDirection
        let handle = provider.request(
            transfer.target,
            options: options,
            on: callbacks,
            progress: { progress in
                guard progress.direction == direction else { return }
                self.update { $0.items[id]?.transfer.progress = progress }
            },
            completion: { self.end(id, $0) }
        )
        let isWanted = content.update { content in
            // The call may have ended already.
            guard case .starting? = content.items[id]?.call else { return content.items[id] != nil }
            content.items[id]?.call = .started(handle)
            return content.items[id]?.transfer.state.isRunning == true
        }
        if !isWanted { handle.cancel() }
    }

    /// Records the result of a transfer's call. Of one that was paused or cancelled only a success counts.
    private func end(_ id: UUID, _ result: Result<Response, TargetKitError>) {
        let record = update { content -> StoredTransfer<Target>? in
            guard var item = content.items[id] else {
                content.callCount -= 1
                return nil
            }
            item.call = nil
            content.callCount -= 1
            switch (result, item.transfer.state) {
            case (.success(let response), .running), (.success(let response), .paused),
                (.success(let response), .waiting):
                item.transfer.state = .finished(response)
            case (.failure(let error), .running):
                item.transfer.state = waitsAfter(error) ? .waiting : .failed(error)
            case (_, .cancelled), (.failure, _), (.success, _): break
            }
            content.items[id] = item
            return StoredTransfer(item.transfer, number: item.number)
        }
        if let record { save([record]) }
        startWaiting()
    }
}

// MARK: - The network

extension TransferQueue {
    /// Whether there is a network that transfers may use, as far as it is known.
    private var isNetworkUsable: Bool { reachability?.status.serves(options.refusedNetworks) ?? true }

    /// Whether a transfer waits for the network after a failure.
    private func waitsAfter(_ error: TargetKitError) -> Bool {
        guard error.stage == .transport || error.stage == .request else { return false }
        switch error.kind {
        case .offline, .cannotConnect, .connectionLost, .timedOut: return !isNetworkUsable
        default: return false
        }
    }

    /// Starts waiting transfers whenever the network changes.
    func observeNetwork() {
        guard let reachability else { return }
        reachability.start()
        let statuses = reachability.statuses
        networkTask.withLock {
            $0 = Task { [weak self] in
                for await _ in statuses { self?.startWaiting() }
            }
        }
    }
}

extension TransferQueue.Item {
    var handle: RequestHandle? {
        if case .started(let handle) = call { handle } else { nil }
    }
}

extension Transfer.State {
    var isRunning: Bool {
        if case .running = self { true } else { false }
    }

    var isWaiting: Bool {
        if case .waiting = self { true } else { false }
    }
}
