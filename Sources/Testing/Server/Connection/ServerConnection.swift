// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One accepted connection: reads requests and runs the steps of answers. Lives on the server's thread alone.
final class ServerConnection {
    /// What the steps wait for before they go on.
    enum Hold {
        case none
        case answer
        case resumption
        case forever
    }

    let number: Int
    let descriptor: Int32
    let core: ServerState
    private(set) var isClosed = false

    var parser: RequestParser
    var output = OutputQueue()
    var isWriteBlocked = false

    /// The steps still to run, the next one last.
    var steps: [TestServer.Step] = []
    /// Whether `steps` belong to an answer or a greeting that is not finished.
    var isAnswering = false
    var hold = Hold.none
    var task: Task<Void, Never>?
    var token = 0
    var delay: Duration?
    /// A body that is being made: its length, how far it is, and where to get more.
    var generation: (byteCount: Int64, offset: Int64, next: @Sendable (Int64) -> Data)?

    /// The request that is being read or answered.
    var request: TestServer.Request?
    var isBodyComplete = true
    /// Whether it was answered from its head alone, so that its body is of no interest.
    var isAnsweredEarly = false
    var closesAfterAnswer = false
    var requestCount = 0

    var isReadingStopped = false
    var discardsInput = false
    var hasReadEnd = false

    init(number: Int, descriptor: Int32, core: ServerState) {
        self.number = number
        self.descriptor = descriptor
        self.core = core
        parser = RequestParser(maximumHeadSize: core.options.maximumHeadSize)
    }

    /// What to wait for. A client that sends on while it gets no answer is read up to a limit only.
    var interest: Poller.Interest {
        var interest: Poller.Interest = isWriteBlocked ? .writing : []
        if canRead {
            interest.insert(.reading)
        } else if !hasReadEnd && !core.options.toleratesHalfClose {
            interest.insert(.peerClosing)
        }
        return interest
    }

    private var canRead: Bool {
        !isReadingStopped && !hasReadEnd && (parser.waitingCount < 1 << 20 || discardsInput)
    }

    /// The delay that a step has asked for, once.
    func takeDelay() -> (duration: Duration, token: Int)? {
        guard let delay else { return nil }
        self.delay = nil
        return (delay, token)
    }

    /// Runs the steps that come before anything is read.
    func greet() {
        guard let steps = core.options.onConnect?(number), !steps.isEmpty else { return }
        isAnswering = true
        self.steps = steps.reversed()
        pump()
    }

    func handle(_ event: Poller.Event, scratch: inout [UInt8]) {
        if event.isWritable { isWriteBlocked = false }
        if canRead && (event.isReadable || event.isPeerClosing || event.isBroken) {
            read(into: &scratch)
        } else if event.isPeerClosing && !core.options.toleratesHalfClose || event.isBroken {
            end(isReset: false)
        } else if event.isPeerClosing && hasReadEnd {
            // POLLHUP after the end was read: the other direction is gone too.
            end(isReset: false)
        }
        if !isClosed { pump() }
    }

    /// Closes with FIN or RST, whatever is under way.
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

    /// Reads what has arrived: the kernel turns a close with unread bytes into a reset.
    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<1024 where recv(descriptor, &bytes, bytes.count, 0) <= 0 { return }
    }

    private func read(into scratch: inout [UInt8]) {
        // A few rounds only, so that one fast client does not keep the others waiting.
        for _ in 0..<4 where canRead && !isClosed {
            let count = recv(descriptor, &scratch, scratch.count, 0)
            if count > 0 {
                core.received.add(count)
                if discardsInput { continue }
                scratch.withUnsafeBytes { parser.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                pump()
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
        if !core.options.toleratesHalfClose || !isAnswering || discardsInput { end(isReset: false) }
    }

    /// Goes on with whatever can go on: steps of an answer, then bytes of the next request.
    func pump() {
        var hasMoved = true
        while hasMoved && !isClosed {
            hasMoved = play()
            if !isClosed && !discardsInput && !isReadingStopped { hasMoved = readRequest() || hasMoved }
        }
    }
}
