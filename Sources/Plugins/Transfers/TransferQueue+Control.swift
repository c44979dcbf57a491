// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

// MARK: - What an app does with transfers

extension TransferQueue {
    /// Adds a transfer and, if the queue has a file, writes it to permanent storage before returning.
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
        if let store { try await store.add(StoredTransfer(transfer, number: number, revision: 0)) }
        update { content in
            content.items[transfer.id] = Item(transfer: transfer, number: number)
            // Another call can have stored a later number first.
            let place = content.order.lastIndex { (content.items[$0]?.number ?? 0) < number }.map { $0 + 1 } ?? 0
            content.order.insert(transfer.id, at: place)
        }
        startWaiting()
        return transfer.id
    }

    /// Pauses a waiting or running transfer. A resumable transfer keeps what was transferred.
    public func pause(_ id: UUID) {
        change([id], Self.pause)
    }

    /// Returns a paused, failed or cancelled transfer to the waiting state.
    public func resume(_ id: UUID) {
        change([id], Self.resume)
    }

    /// Cancels a transfer that has not ended, and removes its partial download. It stays in ``transfers`` until you remove
    /// it, and is not restored at the next launch.
    public func cancel(_ id: UUID) {
        cancel([id])
    }

    /// Pauses all transfers that are waiting or running.
    public func pauseAll() {
        change(content.value.order, Self.pause)
    }

    /// Returns all paused and failed transfers to the waiting state; cancelled ones stay cancelled.
    public func resumeAll() {
        change(content.value.order) { transfer in
            if case .cancelled = transfer.state { return }
            Self.resume(&transfer)
        }
    }

    /// Cancels all transfers that have not ended.
    public func cancelAll() {
        cancel(content.value.order)
    }

    /// Changes the priority of a transfer. Does not affect a running transfer.
    public func setPriority(_ priority: TransferPriority, of id: UUID) {
        change([id]) { $0.priority = priority }
    }

    /// Removes a transfer from the queue, after cancelling it if it has not ended. The file of a download that is finished
    /// stays.
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

    private func cancel(_ ids: [UUID]) {
        let idle = change(ids) { if !$0.state.hasEnded { $0.state = .cancelled } }
        for target in idle { provider.removePart(of: target) }
    }

    private static func resume(_ transfer: inout Transfer<Target>) {
        switch transfer.state {
        case .paused, .failed, .cancelled: transfer.state = .waiting
        case .waiting, .running, .finished: break
        }
    }

    private func remove(_ ids: [UUID]) {
        let (removed, revision) = update { content in
            let gone = Set(ids)
            content.order.removeAll(where: gone.contains)
            content.revision += 1
            return (ids.compactMap { content.items.removeValue(forKey: $0) }, content.revision)
        }
        for item in removed {
            item.handle?.cancel()
            if item.call == nil, !item.transfer.state.isFinished { provider.removePart(of: item.transfer.target) }
        }
        save(removed.map { StoredTransfer.removed($0.transfer.id, revision: revision) })
        startWaiting()
    }
}

// MARK: - Changes and calls

extension TransferQueue {
    /// Changes transfers, stores the changes, and ends the calls of those that are no longer running. Returns the targets of
    /// those that had no call.
    @discardableResult
    private func change(_ ids: [UUID], _ change: (inout Transfer<Target>) -> Void) -> [Target] {
        let (records, handles, idle) = update { content in
            var records: [StoredTransfer<Target>] = []
            var handles: [(handle: RequestHandle, isPaused: Bool)] = []
            var idle: [Target] = []
            for id in ids {
                guard var item = content.items[id] else { continue }
                change(&item.transfer)
                content.items[id] = item
                records.append(content.record(of: item))
                if !item.transfer.state.isRunning, let handle = item.handle {
                    handles.append((handle, item.transfer.state.isPaused))
                }
                if item.call == nil { idle.append(item.transfer.target) }
            }
            return (records, handles, idle)
        }
        for (handle, isPaused) in handles {
            if isPaused { handle.cancelKeepingTransfer() } else { handle.cancel() }
        }
        save(records)
        startWaiting()
        return idle
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
            completion: { self.end(transfer, $0) }
        )
        let isWanted = content.update { content in
            // The call may have ended already.
            guard case .starting? = content.items[id]?.call else { return content.items[id] != nil }
            content.items[id]?.call = .started(handle)
            return content.items[id]?.transfer.state.isRunning == true
        }
        if !isWanted { handle.cancelKeepingTransfer() }
    }

    /// Records the result of a transfer's call. For a paused transfer, only a success is recorded.
    private func end(_ transfer: Transfer<Target>, _ result: Result<Response, TargetKitError>) {
        let waits = if case .failure(let error) = result { waitsAfter(error) } else { false }
        let failure: String? = if case .failure(let error) = result { error.description } else { nil }
        let (record, isGivenUp) = update { content -> (StoredTransfer<Target>?, Bool) in
            content.callCount -= 1
            guard var item = content.items[transfer.id] else { return (nil, true) }
            item.call = nil
            switch (result, item.transfer.state) {
            case (_, .cancelled): break
            case (.success(let response), _): item.transfer.state = .finished(response)
            case (.failure(let error), .running):
                item.transfer.state = waits ? .waiting : .failed(error)
                item.failure = failure
            case (.failure, _): break
            }
            content.items[transfer.id] = item
            let isCancelled = if case .cancelled = item.transfer.state { true } else { false }
            return (content.record(of: item), isCancelled)
        }
        if isGivenUp { provider.removePart(of: transfer.target) }
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

    var isPaused: Bool {
        if case .paused = self { true } else { false }
    }

    var isFinished: Bool {
        if case .finished = self { true } else { false }
    }
}
