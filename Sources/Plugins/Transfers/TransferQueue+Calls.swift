// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension TransferQueue {
    /// Changes transfers, stores the changes, and ends the calls of those that are no longer running. Returns the
    /// targets of those that had not ended and had no call.
    @discardableResult
    func change(_ ids: [UUID], _ change: (inout Transfer<Target>) -> Void) -> [Target] {
        let (records, handles, idle) = update { content in
            var records: [StoredTransfer<Target>] = []
            var handles: [(handle: RequestHandle, isPaused: Bool)] = []
            var idle: [Target] = []
            for id in ids {
                guard var item = content.items[id] else { continue }
                if item.call == nil, !item.transfer.state.hasEnded { idle.append(item.transfer.target) }
                change(&item.transfer)
                content.items[id] = item
                records.append(content.record(of: item))
                if !item.transfer.state.isRunning, let handle = item.handle {
                    handles.append((handle, item.transfer.state.isPaused))
                }
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

    func save(_ records: [StoredTransfer<Target>]) {
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
}
