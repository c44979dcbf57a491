// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Reconnects a WebSocket, and collects its messages.
final class ReconnectionLoop: Sendable {
    struct Status: Sendable {
        var state = WebSocketState.connecting
        var socket: WebSocket?
        fileprivate var isClosing = false
        fileprivate var readers: [Int: AsyncStream<WebSocketState>.Continuation] = [:]
        fileprivate var lastReader = 0
    }

    /// The end of the loop by its scope, which can come before the loop's task.
    private struct Ending: Sendable {
        var isEnded = false
        var action: (@Sendable () -> Void)?
    }

    let status = ObservedValue(Status())
    /// Counts the changes of the network.
    private let networkChanges = ObservedValue(0)
    /// The entry in the provider's scope; `nil` if the scope is shut down.
    let entry = Locked<ScopeEntry?>(nil)
    private let ending = Locked(Ending())
    private let reconnection: WebSocketReconnection
    private let target: any TargetType
    private let clock: any Clock<Duration>
    private let elapsed: ElapsedTime
    private let onOpen: @Sendable (WebSocket) async throws -> Void
    private let open: @Sendable () async throws(TargetKitError) -> WebSocket
    private let inbox = MessageInbox()

    init(
        _ reconnection: WebSocketReconnection,
        target: any TargetType,
        clock: any Clock<Duration>,
        onOpen: @escaping @Sendable (WebSocket) async throws -> Void,
        open: @escaping @Sendable () async throws(TargetKitError) -> WebSocket
    ) {
        self.reconnection = reconnection
        self.target = target
        self.clock = clock
        elapsed = ElapsedTime(clock)
        self.onOpen = onOpen
        self.open = open
    }

    /// Runs until the WebSocket is closed permanently.
    func run() async {
        let observer = reconnection.reachability.observe { [networkChanges] isChange in
            if isChange { networkChanges.update { $0 += 1 } }
            return true
        }
        defer { observer?.cancel() }
        var failures = 0
        while true {
            await waitForNetwork()
            let changes = networkChanges.value
            let (end, openTime) = await connect()
            // A connection ends a row of failures if it was open for at least the longest next delay.
            let isStable = openTime.map { $0 >= reconnection.policy.longestDelay(before: failures) } ?? false
            failures = isStable ? 1 : failures + 1
            guard !status.value.isClosing, !Task.isCancelled,
                let delay = reconnection.delay(after: end, failures: failures)
            else { return finish(end) }
            await wait(delay, unlessNetworkChangesFrom: changes)
            if Task.isCancelled { return finish(end) }
        }
    }

    /// Opens the WebSocket, and returns its end and how long it was open; `nil`: it wasn't.
    private func connect() async -> (end: Result<WebSocketCloseCode?, TargetKitError>, openTime: Duration?) {
        if case .connecting = status.value.state {} else { set(.connecting) }
        var opening: Duration?
        do throws(TargetKitError) {
            let socket = try await open()
            do { try await onOpen(socket) } catch {
                await socket.close(.goingAway)
                throw TargetKitError(failure: error, target: target)
            }
            opening = elapsed.current
            set(.open, socket)
            defer { status.update { $0.socket = nil } }
            var messages = socket.messages.makeAsyncIterator()
            while let message = try await messages.next() { await inbox.add([message]) }
            return (.success(socket.closeCode), opening.map { elapsed.current - $0 })
        } catch {
            return (.failure(error), opening.map { elapsed.current - $0 })
        }
    }

    private func finish(_ end: Result<WebSocketCloseCode?, TargetKitError>) {
        var failure: TargetKitError?
        if case .failure(let error) = end, !status.value.isClosing { failure = error }
        if case .success = end, Task.isCancelled, !status.value.isClosing {
            failure = TargetKitError(stage: .cancelled, target: target, underlying: CancellationError())
        }
        set(.closed(failure))
        inbox.finish(failure.map(Result.failure) ?? .success(()))
        entry.withLock { $0.take() }?.end()
        status.finish()
    }
}

// MARK: - Waiting

extension ReconnectionLoop {
    private func waitForNetwork() async {
        guard let reachability = reconnection.reachability, !reachability.status.isReachable else { return }
        set(.waiting(until: nil))
        for await status in reachability.statuses where status.isReachable { return }
    }

    /// Waits for a time, or until the network changes to a usable one.
    private func wait(_ delay: Duration, unlessNetworkChangesFrom changes: Int) async {
        guard delay > .zero else { return }
        let (seconds, attoseconds) = delay.components
        set(.waiting(until: Date(timeIntervalSinceNow: Double(seconds) + Double(attoseconds) / 1e18)))
        await withTaskGroup(of: Void.self) { [clock, networkChanges, reachability = reconnection.reachability] group in
            group.addTask { try? await clock.wait(for: delay) }
            group.addTask {
                // Without a `Reachability`, there are no changes.
                for await _ in networkChanges.changes() {
                    if networkChanges.value != changes, reachability?.isOnline == true { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }
}

// MARK: - Use

extension ReconnectionLoop {
    /// Ends the loop when its scope is shut down.
    func shutDown() {
        let socket = status.update { status in
            status.isClosing = true
            return status.socket
        }
        inbox.finish(.success(()))
        // The open WebSocket itself also belongs to the scope, which waits for its closing handshake.
        if socket == nil { cancel() }
    }

    /// Ends the loop when its scope is cancelled.
    func cancel() {
        let action = ending.withLock { ending in
            ending.isEnded = true
            return ending.action
        }
        action?()
    }

    /// Sets the closure that ends the loop, or calls it immediately if the scope has ended.
    func onEnd(_ action: @escaping @Sendable () -> Void) {
        let isEnded = ending.withLock { ending in
            ending.action = action
            return ending.isEnded
        }
        if isEnded { action() }
    }

    func close(_ code: WebSocketCloseCode, reason: String) async {
        let socket = status.update { status in
            status.isClosing = true
            return status.socket
        }
        await socket?.close(code, reason: reason)
    }

    /// Waits for an open WebSocket.
    func openSocket() async throws(TargetKitError) -> WebSocket {
        for await _ in status.changes() {
            let status = status.value
            if let socket = status.socket { return socket }
            if case .closed = status.state { break }
        }
        if Task.isCancelled {
            throw TargetKitError(stage: .cancelled, target: target, underlying: CancellationError())
        }
        if case .closed(let error?) = status.value.state { throw error }
        throw TargetKitError(stage: .transport, target: target, underlying: WebSocketError.alreadyClosed)
    }

    func receive() async throws(TargetKitError) -> WebSocketMessage? {
        do {
            return try await inbox.next()
        } catch {
            throw TargetKitError(failure: error, target: target)
        }
    }

    /// A sequence of the current state and all later states.
    func states() -> AsyncStream<WebSocketState> {
        let (stream, reader) = AsyncStream.makeStream(of: WebSocketState.self)
        let id = status.update { status in
            reader.yield(status.state)
            if case .closed = status.state { reader.finish() }
            status.lastReader += 1
            status.readers[status.lastReader] = reader
            return status.lastReader
        }
        reader.onTermination = { [status] _ in status.update { $0.readers[id] = nil } }
        return stream
    }

    private func set(_ state: WebSocketState, _ socket: WebSocket? = nil) {
        // Under the lock, so that readers receive the states in order. `yield` makes no callbacks.
        let ended = status.update { status -> [AsyncStream<WebSocketState>.Continuation] in
            status.state = state
            status.socket = socket
            for reader in status.readers.values { reader.yield(state) }
            guard case .closed = state else { return [] }
            defer { status.readers = [:] }
            return Array(status.readers.values)
        }
        for reader in ended { reader.finish() }
    }
}

extension TargetKitError {
    /// The error of a step after the handshake.
    init(failure error: any Error, target: any TargetType) {
        if let error = error as? TargetKitError {
            self = error
        } else {
            self.init(
                stage: error is CancellationError ? .cancelled : .transport,
                target: target,
                underlying: error
            )
        }
    }
}
