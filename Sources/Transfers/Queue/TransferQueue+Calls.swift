// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

extension TransferQueue {
    /// Changes transfers, stores the changes, and cancels the calls of transfers that are no longer running. Returns
    /// the transfers that hadn't ended and had no call.
    @discardableResult
    func change(_ ids: [UUID], change: (inout Transfer<Target>) -> Void) -> [Item] {
        let (calls, idle) = update { content in
            var records: [StoredTransfer] = []
            var calls: [(call: StartedCall, isPaused: Bool)] = []
            var idle: [Item] = []
            for id in ids {
                guard var item = content.items[id] else { continue }
                if item.call == nil, !item.transfer.state.hasEnded { idle.append(item) }
                change(&item.transfer)
                content.replace(item)
                records.append(StoredTransfer(item))
                if !item.transfer.state.isRunning, let call = item.startedCall {
                    calls.append((call, item.transfer.state.isPaused))
                }
            }
            save(records)
            return (calls, idle)
        }
        for (call, isPaused) in calls { call.cancel(keepingUpload: isPaused) }
        ends.announce(ids)
        startWaiting()
        return idle
    }

    /// Stores changes later. Called while the content is locked, so that changes are stored in order.
    ///
    /// - Parameter completion: Called when they are stored or can't be.
    func save(_ records: [StoredTransfer], completion: @escaping @Sendable () -> Void = {}) {
        guard let store, !records.isEmpty else { return completion() }
        let content = content
        store.write(records) { error in
            defer { completion() }
            if error != content.read(\.storageError) { content.update { $0.storageError = error } }
        }
    }

    /// Starts waiting transfers up to the limit.
    func startWaiting() {
        guard isNetworkUsable else { return }
        let time = elapsed.current
        let starting = content.update { $0.startNext(at: time) }
        startLater()
        if starting.isEmpty { return }
        announce()
        for transfer in starting { start(transfer) }
    }

    /// Starts waiting transfers at the end of the shortest delay.
    private func startLater() {
        // Under the lock, because an older state must not replace the delay of a newer one.
        delayTask.withLock { task in
            let delay = content.read { $0.wait(at: elapsed.current) }
            if task == nil, delay == nil { return }
            task?.cancel()
            task = delay.map { delay in
                // A released queue continues until its transfers have ended.
                Task { [self, clock] in
                    guard (try? await clock.wait(for: max(.milliseconds(10), delay))) != nil else { return }
                    startWaiting()
                }
            }
        }
    }

    private var joining: (any JoiningTransport)? { provider.transport as? any JoiningTransport }

    private func start(_ transfer: Transfer<Target>) {
        let id = transfer.id
        let direction = transfer.target.task.transferDirection
        let keepsUpload = Locked(false)
        let item = content.read { $0.items[id] }
        let begun = BegunRequest(isEarlier: item?.isBegun == true)
        // Another call with the same request can have another owner.
        let options = options.setting(\.transferID, id.uuidString).setting(\.keepsUpload, keepsUpload)
            .setting(\.sharesInFlight, false).setting(\.sendingGate, gate(of: id, begun))
            .setting(\.keptBaseURL, item?.baseURL)
        joining?.hold(id.uuidString)
        let handle = provider.request(
            transfer.target,
            options: options,
            on: callbacks,
            progress: { progress in
                guard progress.direction == direction else { return }
                self.update { $0.setProgress(progress, of: id) }
            },
            completion: { self.end(transfer, begun, baseURL: item?.baseURL, result: $0) }
        )
        let call = StartedCall(handle: handle, keepsUpload: keepsUpload)
        let isWanted = content.update { $0.began(call, of: id) }
        if !isWanted { call.cancel(keepingUpload: true) }
    }

    /// Records the result of a transfer's call. For a paused or cancelled transfer, only a success is recorded, because
    /// the call ended before it could be cancelled.
    private func end(
        _ transfer: Transfer<Target>,
        _ begun: BegunRequest,
        baseURL: URL?,
        result: Result<Response, TargetKitError>
    ) {
        let waits =
            if case .failure(let error) = result { error.isMarked(.safeToRepeat) && waitsAfter(error) } else {
                false
            }
        let failure: StoredFailure? = if case .failure(let error) = result { StoredFailure(error) } else { nil }
        let retry: TransferRetry? =
            if case .failure(let error) = result { TransferRetry(error, now: Date()) } else { nil }
        let time = elapsed.current
        let isGivenUp = update { content -> Bool in
            content.callCount -= 1
            guard var item = content.items[transfer.id] else {
                joining?.release(transfer.id.uuidString)
                return true
            }
            item.call = nil
            // What an earlier call began stays begun, unless this one ended the transfer.
            if case .failure(let error) = result, !begun.isEarlier, error.isMarked(.safeToRepeat) {
                item.isBegun = false
            }
            var delay: TransferRetry?
            switch (result, item.transfer.state) {
            case (.success(let response), _):
                item.transfer.state = .finished(response)
                item.transfer.lastError = nil
            case (.failure(let error), .running):
                let isRepeated = retry != nil && item.interruptions.callFailed(with: item.transfer.progress, at: time)
                if isRepeated, !waits { delay = retry }
                item.transfer.state = waits || isRepeated ? .waiting : .failed(error)
                item.transfer.lastError = error
                item.failure = failure
            case (.failure, _): break
            }
            content.replace(item)
            if let delay {
                content.delay(transfer.id, after: delay, at: time)
            } else if item.transfer.state.hasEnded {
                content.endDelays(of: transfer.id)
            }
            save([StoredTransfer(item)]) { [joining] in joining?.release(transfer.id.uuidString) }
            return if case .cancelled = item.transfer.state { true } else { false }
        }
        ends.announce([transfer.id])
        if isGivenUp { provider.removePart(of: transfer.target, options: .setting(\.keptBaseURL, baseURL)) }
        startWaiting()
    }
}

// MARK: - The network

extension TransferQueue {
    /// Whether a network that transfers may use is known to be available.
    private var isNetworkUsable: Bool { reachability.serves(options) }

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
        let task = reachability.observe { [weak self] isChange in
            guard let self else { return false }
            if isChange { self.content.update { $0.endNoResponse() } }
            self.startWaiting()
            return true
        }
        networkTask.withLock { $0 = task }
    }
}

extension TransferQueue.Item {
    var startedCall: StartedCall? {
        if case .started(let call) = call { call } else { nil }
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

/// The call of a running transfer.
struct StartedCall: Sendable {
    let handle: RequestHandle
    /// Whether an upload stays on the server when the call is cancelled.
    let keepsUpload: Locked<Bool>

    func cancel(keepingUpload isKept: Bool) {
        if isKept { keepsUpload.withLock { $0 = true } }
        handle.cancel()
    }
}

extension CallOptions {
    /// Whether an upload stays on the server when its call is cancelled, regardless of
    /// ``ResumableUpload/terminatedOnCancel``.
    var keepsUpload: Locked<Bool>? {
        get { self[KeepsUploadKey.self] }
        set { self[KeepsUploadKey.self] = newValue }
    }
}

private enum KeepsUploadKey: CallOptionKey { static let defaultValue: Locked<Bool>? = nil }
