// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The thread of a server, which accepts connections, reads, writes and runs timers. It is used only on that thread.
final class ServerLoop {
    private struct Timer {
        let deadline: ContinuousClock.Instant
        let connection: Int
        let token: Int
    }

    // The tokens of the poller. The tokens of connections are their numbers, from 0.
    private static let listenerToken = -1
    private static let wakeToken = -2

    private let state: ServerState
    private let listener: Int32
    private var poller = Poller()
    private var connections: [Int: ServerConnection] = [:]
    private var connectionCount = 0
    private var timers: [Timer] = []
    private var scratch = [UInt8](repeating: 0, count: 256 << 10)
    private var isStopping = false

    init(state: ServerState, listener: Int32) {
        self.state = state
        self.listener = listener
    }

    /// Sets the name of the current thread, which debuggers show. It has up to 15 bytes.
    static func nameThread(_ name: String) {
        #if os(Linux)
        // Foundation's `Thread.name` is often lost when the thread has just started (Swift 6.3.1).
        guard let file = fopen("/proc/thread-self/comm", "w") else { return }
        fputs(name, file)
        fclose(file)
        #else
        Thread.current.name = name
        #endif
    }

    /// Runs until the server is stopped, then closes all descriptors.
    func run() {
        poller.add(listener, token: Self.listenerToken, interest: .reading)
        poller.add(state.wakeReader, token: Self.wakeToken, interest: .reading)
        while !isStopping {
            for event in poller.wait(milliseconds: millisecondsToNextTimer()) { handle(event) }
            fireTimers()
        }
        close(listener)
        for connection in connections.values {
            connection.end(isReset: false)
            state.closed.add()
        }
        state.end()
    }

    private func handle(_ event: Poller.Event) {
        switch event.token {
        case Self.wakeToken:
            for message in state.takeMessages() { handle(message) }
        case Self.listenerToken:
            acceptAll()
        default:
            guard let connection = connections[event.token] else { return }
            connection.handle(event, scratch: &scratch)
            settle(connection)
        }
    }

    private func handle(_ message: ServerMessage) {
        switch message {
        case .response(let number, let token, let response):
            act(on: number) { $0.begin(response, token: token) }
        case .resume(let number, let token):
            act(on: number) { $0.resume(token: token) }
        case .closeConnections(let isReset):
            for number in connections.keys.sorted() {
                act(on: number) { $0.end(isReset: isReset) }
            }
        case .stop:
            isStopping = true
        }
    }

    private func act(on number: Int, body: (ServerConnection) -> Void) {
        guard let connection = connections[number] else { return }
        body(connection)
        settle(connection)
    }

    private func acceptAll() {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else {
                // Without free descriptors, `poll` would return immediately until a connection is closed.
                if errno == EMFILE || errno == ENFILE { poller.setInterest([], token: Self.listenerToken) }
                if errno == ECONNABORTED || errno == EINTR { continue }
                return
            }
            open(descriptor)
        }
    }

    private func open(_ descriptor: Int32) {
        Socket.prepare(descriptor)
        Socket.setNonBlocking(descriptor)
        Socket.setNoDelay(descriptor)
        if let size = state.options.bufferSize {
            Socket.set(descriptor, level: SOL_SOCKET, option: SO_SNDBUF, value: Int32(size))
            Socket.set(descriptor, level: SOL_SOCKET, option: SO_RCVBUF, value: Int32(size))
        }
        let connection = ServerConnection(number: connectionCount, descriptor: descriptor, state: state)
        connectionCount += 1
        connections[connection.number] = connection
        poller.add(descriptor, token: connection.number, interest: [])
        state.connections.add()
        connection.runConnectionSteps()
        settle(connection)
    }

    /// Updates the poller and timers after the connection changes.
    private func settle(_ connection: ServerConnection) {
        guard !connection.isClosed else {
            poller.remove(token: connection.number)
            poller.setInterest(.reading, token: Self.listenerToken)
            connections[connection.number] = nil
            state.closed.add()
            return
        }
        poller.setInterest(connection.interest, token: connection.number)
        guard let delay = connection.takeDelay() else { return }
        let timer = Timer(
            deadline: ContinuousClock.now.advanced(by: delay.duration),
            connection: connection.number,
            token: delay.token
        )
        let index = timers.firstIndex { $0.deadline > timer.deadline } ?? timers.endIndex
        timers.insert(timer, at: index)
    }

    private func fireTimers() {
        guard !timers.isEmpty else { return }
        let now = ContinuousClock.now
        while let timer = timers.first, timer.deadline <= now {
            timers.removeFirst()
            act(on: timer.connection) { $0.resume(token: timer.token) }
        }
    }

    private func millisecondsToNextTimer() -> Int32 {
        guard let timer = timers.first else { return -1 }
        let left = ContinuousClock.now.duration(to: timer.deadline)
        let milliseconds = left / .milliseconds(1)
        return Int32(max(0, min(milliseconds.rounded(.up), 60_000)))
    }
}
