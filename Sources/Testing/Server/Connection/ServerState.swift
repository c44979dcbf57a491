// SPDX-License-Identifier: MIT

import Foundation
import TargetKit

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the server's thread is told from outside.
enum ServerMessage: Sendable {
    case reply(connection: Int, token: Int, TestServer.Reply)
    case resume(connection: Int, token: Int)
    case closeConnections(isReset: Bool)
    case stop
}

/// What the server, its thread and the tasks that answer share.
final class ServerState: Sendable {
    private struct Mailbox: Sendable {
        var messages: [ServerMessage] = []
        var isOpen = true
    }

    let options: TestServer.Options
    let answer: @Sendable (TestServer.Request) async -> TestServer.Reply

    let connections = Tally()
    let closed = Tally()
    let heads = Tally()
    let requests = Tally()
    let replies = Tally()
    let received = Tally()
    let sent = Tally()
    let log = Locked<[TestServer.Request]>([])
    let violations = Recorder<String>()
    let ended = DispatchGroup()

    /// The reading end of the pipe that wakes the thread.
    let wakeReader: Int32
    private let wakeWriter: Int32
    private let mailbox = Locked(Mailbox())

    init(options: TestServer.Options, answer: @escaping @Sendable (TestServer.Request) async -> TestServer.Reply) throws
    {
        self.options = options
        self.answer = answer
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SocketError(call: "pipe", code: errno) }
        wakeReader = ends[0]
        wakeWriter = ends[1]
        for end in ends {
            Socket.prepare(end)
            Socket.setNonBlocking(end)
        }
    }

    /// Leaves a message for the thread and wakes it. Goes nowhere once the server has stopped.
    func post(_ message: ServerMessage) {
        mailbox.withLock { mailbox in
            guard mailbox.isOpen else { return }
            mailbox.messages.append(message)
            // Within the lock, so that the pipe cannot be closed in between; it never blocks.
            if mailbox.messages.count == 1 { _ = write(wakeWriter, "w", 1) }
        }
    }

    /// Takes all messages out.
    func takeMessages() -> [ServerMessage] {
        var byte: UInt8 = 0
        while read(wakeReader, &byte, 1) == 1 {}
        return mailbox.withLock { mailbox in
            let messages = mailbox.messages
            mailbox.messages = []
            return messages
        }
    }

    /// Notes a request whose head, and body where it is waited for, are there.
    func record(_ request: TestServer.Request) {
        if options.recordsRequests { log.withLock { $0.append(request) } }
        requests.add()
    }

    /// The thread's last act: nothing is taken any more, and nobody waits in vain.
    func end() {
        mailbox.withLock { mailbox in
            mailbox.isOpen = false
            mailbox.messages = []
            close(wakeReader)
            close(wakeWriter)
        }
        for tally in [connections, closed, heads, requests, replies, received, sent] { tally.close() }
        ended.leave()
    }
}
