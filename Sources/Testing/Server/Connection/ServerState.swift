// SPDX-License-Identifier: MIT
import TargetKit

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A message to the server's thread.
enum ServerMessage: Sendable {
    case response(connection: Int, token: Int, TestServer.Response)
    case resume(connection: Int, token: Int)
    case closeConnections(isReset: Bool)
    case stop
}

/// The state that a server, its thread and the tasks of its closure share.
final class ServerState: Sendable {
    /// The source of the server's responses.
    enum Responder: Sendable {
        case routes(RouteTable<TestServer.Response.Element>)
        case response(TestServer.Response)
        case closure(@Sendable (TestServer.Request) async -> TestServer.Response)
    }

    private struct Mailbox: Sendable {
        var messages: [ServerMessage] = []
        var isOpen = true
    }

    let options: TestServer.Options
    let baseURL: URL
    let responder: Responder
    let log: RequestLog

    let connections = Tally()
    let closed = Tally()
    let heads = Tally()
    let requests = Tally()
    let responses = Tally()
    let bytesReceived = Tally()
    let bytesSent = Tally()
    let received = Locked<[TestServer.Request]>([])
    let violations = Recorder<String>()
    let ended = DispatchGroup()

    /// The reading end of the sockets that wake the thread. A pipe could raise `SIGPIPE`.
    let wakeReader: Int32
    private let wakeWriter: Int32
    private let mailbox = Locked(Mailbox())
    private let socketFile: Locked<String?>

    init(options: TestServer.Options, baseURL: URL, log: RequestLog, responder: Responder) throws {
        self.options = options
        self.baseURL = baseURL
        self.log = log
        self.responder = responder
        if case .unix(let path) = options.address { socketFile = Locked(path) } else { socketFile = Locked(nil) }
        (wakeReader, wakeWriter) = try Socket.pair()
        for end in [wakeReader, wakeWriter] { Socket.setNonBlocking(end) }
    }

    /// Sends a message to the thread, and wakes it. Has no effect if the server has stopped.
    func post(_ message: ServerMessage) {
        mailbox.withLock { mailbox in
            guard mailbox.isOpen else { return }
            mailbox.messages.append(message)
            // Under the lock, so that the socket isn't closed in between. The call doesn't block.
            if mailbox.messages.count == 1 { _ = [UInt8(1)].withUnsafeBytes { Socket.send(wakeWriter, bytes: $0) } }
        }
    }

    /// Removes and returns all messages.
    func takeMessages() -> [ServerMessage] {
        var byte: UInt8 = 0
        while read(wakeReader, &byte, 1) == 1 {}
        return mailbox.withLock { mailbox in
            let messages = mailbox.messages
            mailbox.messages = []
            return messages
        }
    }

    private static let threadKey = "TargetKitTesting.TestServer"

    /// Marks the current thread as the server's.
    func enterThread() {
        Thread.current.threadDictionary[Self.threadKey] = ObjectIdentifier(self)
    }

    /// Whether the current thread is the server's.
    var isOnThread: Bool {
        Thread.current.threadDictionary[Self.threadKey] as? ObjectIdentifier == ObjectIdentifier(self)
    }

    /// Records a request whose head, and body if the server waits for it, have arrived.
    func record(_ request: TestServer.Request) -> RecordedRequest {
        let recorded = RecordedRequest(request, baseURL: baseURL)
        if options.recordsRequests {
            received.withLock { $0.append(request) }
            log.append(recorded)
        }
        requests.add()
        return recorded
    }

    /// Removes the file of a Unix domain socket, once.
    func removeSocketFile() {
        let path = socketFile.withLock { path in
            defer { path = nil }
            return path
        }
        if let path { unlink(path) }
    }

    /// Rejects further messages, and resumes all waiting tasks. This is the last action of the thread.
    func end() {
        mailbox.withLock { mailbox in
            mailbox.isOpen = false
            mailbox.messages = []
            close(wakeReader)
            close(wakeWriter)
        }
        for tally in [connections, closed, heads, requests, responses, bytesReceived, bytesSent] { tally.close() }
        ended.leave()
    }
}
