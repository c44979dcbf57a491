// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An HTTP/1.1 server on this machine whose every byte is in the test's hands.
///
/// ```swift
/// let server = try TestServer { request in
///     request.path == "/broken" ? [.text("HTTP/1.1 200 OK\r\nContent-Le"), .reset] : .json(#"{"ok":true}"#)
/// }
/// ```
///
/// The closure is called in a task of its own for each request whose body is there; the task is cancelled when the
/// client goes. One thread does all the rest, so thousands of connections may be open at once and Swift's own threads
/// are never blocked. The server stops with ``stop()`` or when it is let go of.
public final class TestServer: Sendable {
    private let core: ServerState

    /// Where the server listens.
    public let listeningAddress: TestServer.Address

    /// The port that the kernel has chosen; 0 on a Unix-domain socket.
    public let port: Int

    /// Starts a server that asks the closure for every answer.
    ///
    /// - Throws: ``SocketError`` when the socket cannot be had.
    public init(
        options: TestServer.Options = TestServer.Options(),
        answer: @escaping @Sendable (TestServer.Request) async -> TestServer.Reply
    ) throws {
        _ = Socket.raisedFileLimit
        listeningAddress = options.address
        let (listener, port) = try Socket.bound(to: options.address)
        let core: ServerState
        do {
            // Accepted sockets inherit it; set later, the window would have been announced already.
            if let size = options.receiveBufferSize { Socket.set(listener, SOL_SOCKET, SO_RCVBUF, Int32(size)) }
            Socket.setNonBlocking(listener)
            guard listen(listener, 8192) == 0 else { throw SocketError(call: "listen", code: errno) }
            core = try ServerState(options: options, answer: answer)
        } catch {
            close(listener)
            throw error
        }
        self.core = core
        self.port = Int(port)
        core.ended.enter()
        Thread.detachNewThread {
            ServerLoop(core: core, listener: listener).run()
        }
    }

    /// Starts a server that gives every request the same answer.
    ///
    /// - Throws: ``SocketError`` when the socket cannot be had.
    public convenience init(options: TestServer.Options = TestServer.Options(), reply: TestServer.Reply) throws {
        try self.init(options: options) { _ in reply }
    }

    /// Starts a server that gives each request the next answer of the list, in the order of their heads; when the list is
    /// at its end, the last one again. An empty list hangs.
    ///
    /// - Throws: ``SocketError`` when the socket cannot be had.
    public convenience init(options: TestServer.Options = TestServer.Options(), replies: [TestServer.Reply]) throws {
        try self.init(options: options) { request in
            request.index < replies.count ? replies[request.index] : replies.last ?? .hang
        }
    }

    deinit {
        // Without waiting for the thread: the last reference may have been let go of on that very thread.
        core.post(.stop)
        removeSocketFile()
    }

    /// The URL of the server, `http://127.0.0.1:1234` for one; `http://localhost` on a Unix-domain socket.
    public var baseURL: URL {
        let text: String =
            switch listeningAddress {
            case .ipv4: "http://127.0.0.1:\(port)"
            case .ipv6: "http://[::1]:\(port)"
            case .unix: "http://localhost"
            }
        return URL(string: text) ?? URL(fileURLWithPath: "/")
    }

    /// Closes every connection and the listening socket, cancels the answers under way, and returns when the server's
    /// thread has ended. Who waits for something gets a `CancellationError`. Must not be called from a closure of the
    /// options.
    public func stop() {
        core.post(.stop)
        core.ended.wait()
        removeSocketFile()
    }

    /// Closes all connections that are open now, with FIN or with RST; new ones are still taken.
    public func closeConnections(reset isReset: Bool = false) {
        core.post(.closeConnections(isReset: isReset))
    }

    private func removeSocketFile() {
        if case .unix(let path) = listeningAddress { unlink(path) }
    }
}

extension TestServer {
    /// All requests so far; each is added once its body is there, or at its head when it is answered then.
    public var requests: [TestServer.Request] { core.log.withLock { $0 } }

    /// How many requests have been received, also where they are not kept.
    public var requestCount: Int { core.requests.value }

    /// How many heads of requests have been received.
    public var headCount: Int { core.heads.value }

    /// How many answers have been given to their last step.
    public var replyCount: Int { core.replies.value }

    /// How many connections have been accepted.
    public var connectionCount: Int { core.connections.value }

    /// How many connections have been closed, by either side.
    public var closedConnectionCount: Int { core.closed.value }

    /// How many connections are open.
    public var openConnectionCount: Int {
        // Read first: the other number is never below it.
        let closed = core.closed.value
        return core.connections.value - closed
    }

    /// How many bytes have been read, heads and all.
    public var bytesReceived: Int { core.received.value }

    /// How many bytes the kernel has taken for the clients.
    public var bytesSent: Int { core.sent.value }

    /// What came in that is no HTTP/1.1; each was answered with an error.
    public var violations: [String] { core.violations.elements }

    /// The request with that number, counted from 0 in the order of ``requests``, as soon as it is there.
    ///
    /// - Throws: `CancellationError` when the task is cancelled or the server stopped before, or requests are not kept.
    public func request(at index: Int) async throws -> TestServer.Request {
        try await core.requests.wait(for: index + 1)
        let requests = requests
        guard requests.indices.contains(index) else { throw CancellationError() }
        return requests[index]
    }

    /// Returns when that many requests have been received. Returns early when the task is cancelled or the server
    /// stopped.
    public func waitForRequests(_ count: Int) async {
        try? await core.requests.wait(for: count)
    }

    /// Returns when that many heads have been received. Returns early when the task is cancelled or the server stopped.
    public func waitForHeads(_ count: Int) async {
        try? await core.heads.wait(for: count)
    }

    /// Returns when that many answers are finished. Returns early when the task is cancelled or the server stopped.
    public func waitForReplies(_ count: Int) async {
        try? await core.replies.wait(for: count)
    }

    /// Returns when that many connections have been accepted. Returns early when the task is cancelled or the server
    /// stopped.
    public func waitForConnections(_ count: Int) async {
        try? await core.connections.wait(for: count)
    }

    /// Returns when that many connections have been closed, by either side. Returns early when the task is cancelled or
    /// the server stopped.
    public func waitForConnections(closed count: Int) async {
        try? await core.closed.wait(for: count)
    }

    /// Returns when that many bytes have been read. Returns early when the task is cancelled or the server stopped.
    public func waitForBytes(received count: Int) async {
        try? await core.received.wait(for: count)
    }

    /// Returns when the kernel has taken that many bytes. Returns early when the task is cancelled or the server
    /// stopped.
    public func waitForBytes(sent count: Int) async {
        try? await core.sent.wait(for: count)
    }
}
