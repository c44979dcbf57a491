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

/// An accepted connection, which reads requests and runs the steps of responses. It is used only on the server's
/// thread.
final class ServerConnection {
    /// The condition for which the next step waits.
    enum Hold {
        case none
        case response
        case resumption
        case forever
    }

    let number: Int
    let descriptor: Int32
    let state: ServerState
    private(set) var isClosed = false

    var parser = RequestParser()
    var output = OutputQueue()
    var isWriteBlocked = false

    /// The remaining steps; the next one is the last element.
    var steps: [TestServer.Step] = []
    /// Whether a response or the steps of a new connection are in progress.
    var isResponding = false
    var hold = Hold.none
    var task: Task<Void, Never>?
    var token = 0
    var delay: Duration?
    /// A generated body: its size, the number of bytes so far, and the function that returns more.
    var generation: (byteCount: Int64, offset: Int64, next: @Sendable (Int64) -> Data)?

    /// Receives the client's bytes after an upgrade to another protocol.
    var receiveUpgraded: ((UnsafeRawBufferPointer) -> [TestServer.Step])?

    /// The request that is being read or responded to.
    var request: TestServer.Request?
    var isBodyComplete = true
    /// Whether the server responded before the body, so that the body is discarded.
    var hasRespondedEarly = false
    var closesAfterResponse = false
    var requestCount = 0

    var isReadingStopped = false
    var discardsInput = false
    var hasReadEnd = false

    init(number: Int, descriptor: Int32, state: ServerState) {
        self.number = number
        self.descriptor = descriptor
        self.state = state
    }

    /// The events to wait for. Pipelined requests are read up to a limit.
    var interest: Poller.Interest {
        var interest: Poller.Interest = isWriteBlocked ? .writing : []
        if canRead {
            interest.insert(.reading)
        } else if !hasReadEnd && !state.options.toleratesHalfClose {
            interest.insert(.peerClosing)
        }
        return interest
    }

    private var canRead: Bool {
        // An echo waits until the client has read its output.
        if receiveUpgraded != nil, isWriteBlocked, !discardsInput { return false }
        return !isReadingStopped && !hasReadEnd && (parser.waitingCount < 1 << 20 || discardsInput)
    }

    /// Removes and returns the delay that a step requested.
    func takeDelay() -> (duration: Duration, token: Int)? {
        guard let delay else { return nil }
        self.delay = nil
        return (delay, token)
    }

    /// Runs the steps of a new connection.
    func runConnectionSteps() {
        guard let steps = state.options.onConnect?(number), !steps.isEmpty else { return }
        isResponding = true
        self.steps = steps.reversed()
        advance()
    }

    func handle(_ event: Poller.Event, scratch: inout [UInt8]) {
        if event.isWritable { isWriteBlocked = false }
        if canRead && (event.isReadable || event.isPeerClosing || event.isBroken) {
            read(into: &scratch)
        } else if event.isPeerClosing && !state.options.toleratesHalfClose || event.isBroken {
            end(isReset: false)
        } else if event.isPeerClosing && hasReadEnd {
            // POLLHUP after the end means that the other direction is also closed.
            end(isReset: false)
        }
        if !isClosed { advance() }
    }

    /// Closes the connection, with FIN or RST.
    func end(isReset: Bool) {
        guard !isClosed else { return }
        isClosed = true
        task?.cancel()
        if isReset {
            Socket.setResetOnClose(descriptor)
        } else {
            drain()
        }
        close(descriptor)
    }

    /// Reads the available bytes, because the kernel sends RST when a socket with unread bytes is closed.
    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<1024 where recv(descriptor, &bytes, bytes.count, 0) <= 0 { return }
    }

    private func read(into scratch: inout [UInt8]) {
        // At most four times, so that other connections are also served.
        for _ in 0..<4 where canRead && !isClosed {
            let count = recv(descriptor, &scratch, scratch.count, 0)
            if count > 0 {
                state.bytesReceived.add(count)
                if discardsInput { continue }
                scratch.withUnsafeBytes { bytes in
                    let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<count])
                    if !take(upgraded: bytes) { parser.append(bytes) }
                }
                advance()
            } else if count == 0 {
                endOfInput()
                return
            } else {
                if !Socket.wouldBlock { end(isReset: false) }
                return
            }
        }
    }

    private func endOfInput() {
        hasReadEnd = true
        if !state.options.toleratesHalfClose || !isResponding || discardsInput { end(isReset: false) }
    }

    /// Runs the steps of the response and reads the next request, until both wait.
    func advance() {
        var hasMoved = true
        while hasMoved && !isClosed {
            hasMoved = runSteps()
            if !isClosed && !discardsInput && !isReadingStopped { hasMoved = readRequest() || hasMoved }
        }
    }
}
