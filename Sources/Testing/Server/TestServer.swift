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

/// A local HTTP/1.1 server for tests with real connections, including timeouts and faults that a stub can't simulate.
///
/// ```swift
/// let server = try TestServer(routes: [
///     .get("/products/:id"): .json(#"{"id":1}"#),
///     .post("/orders"): .sequence(.status(503), .reset, .json(#"{"id":7}"#, status: 201)),
///     .get("/slow"): .hang,
/// ])
/// let shop = Shop(baseURL: server.baseURL)
/// …
/// try server.log.expect([.post("/orders"), .post("/orders"), .post("/orders")])
/// ```
///
/// The server listens on a free port of the loopback interface, and can't be reached from other machines. It uses one
/// thread, and supports thousands of connections. It stops when ``stop()`` is called or its last reference is released,
/// so keep a reference as long as you need it. It leaves no thread, connection or file behind.
public final class TestServer: Sendable {
    let state: ServerState
    private let listener: Int32

    package let listeningAddress: Address

    /// The port; 0 for a Unix domain socket.
    package let port: Int

    /// The requests that the server received.
    ///
    /// A request is added when its body arrives.
    public var log: RequestLog { state.log }

    /// Starts a server that responds with the first matching route.
    ///
    /// The response to a request without a route has status 404, and describes the three closest routes and the
    /// differences from each. A pattern for a target doesn't match, because a server doesn't know the targets of its
    /// clients.
    ///
    /// - Parameters:
    ///   - address: The address of the server; default: a free port of 127.0.0.1.
    ///   - log: The log for the requests; default: a new one.
    ///   - routes: The patterns and their responses.
    /// - Throws: An error that names the failed system call if the server can't listen.
    public convenience init(
        address: Address = .ipv4,
        log: RequestLog = RequestLog(),
        routes: KeyValuePairs<RequestPattern, Response>
    ) throws {
        try self.init(
            Options(address: address),
            log: log,
            responder: .routes(RouteTable(routes.map { ($0.key, $0.value.elements) }))
        )
    }

    /// Starts a server that calls a closure for each request.
    ///
    /// - Parameters:
    ///   - address: The address of the server; default: a free port of 127.0.0.1.
    ///   - log: The log for the requests; default: a new one.
    ///   - respond: Returns the response to a request whose body has arrived. It is called in a separate task for each
    ///     request, which is cancelled when the connection ends. The first response of a ``Response/sequence(_:)`` is
    ///     used.
    /// - Throws: An error that names the failed system call if the server can't listen.
    public convenience init(
        address: Address = .ipv4,
        log: RequestLog = RequestLog(),
        respond: @escaping @Sendable (Request) async -> Response
    ) throws {
        try self.init(Options(address: address), log: log, responder: .closure(respond))
    }

    /// Starts a server that returns the same response to every request, or the next one of a ``Response/sequence(_:)``.
    ///
    /// - Parameters:
    ///   - address: The address of the server; default: a free port of 127.0.0.1.
    ///   - log: The log for the requests; default: a new one.
    ///   - response: The response.
    /// - Throws: An error that names the failed system call if the server can't listen.
    public convenience init(
        address: Address = .ipv4,
        log: RequestLog = RequestLog(),
        response: Response
    ) throws {
        try self.init(Options(address: address), log: log, responder: .response(response))
    }

    init(_ options: Options, log: RequestLog, responder: ServerState.Responder) throws {
        _ = Socket.raisedFileLimit
        listeningAddress = options.address
        let (listener, port) = try Socket.bound(to: options.address)
        do {
            Socket.setNonBlocking(listener)
            guard listen(listener, 8192) == 0 else { throw SocketError(call: "listen", code: errno) }
            state = try ServerState(
                options: options,
                baseURL: Self.baseURL(of: options.address, port: port),
                log: log,
                responder: responder
            )
        } catch {
            close(listener)
            if case .unix(let path) = options.address { unlink(path) }
            throw error
        }
        self.port = Int(port)
        self.listener = listener
        state.ended.enter()
        Thread.detachNewThread { [state] in
            state.enterThread()
            ServerLoop.nameThread("TestServer\(port)")
            ServerLoop(state: state, listener: listener).run()
        }
    }

    deinit {
        // Doesn't wait for the thread, because the last reference may be released on it.
        state.post(.stop)
        state.removeSocketFile()
    }

    /// The URL of the server, for example `http://127.0.0.1:1234`; for a Unix domain socket, `http://localhost`.
    public var baseURL: URL { state.baseURL }

    /// The patterns of the routes that haven't been used yet, in order; empty for a server without routes.
    public var unusedRoutes: [RequestPattern] {
        if case .routes(let routes) = state.responder { routes.unused } else { [] }
    }

    /// Closes every connection, and returns when the server's thread ends. Connections are then refused.
    ///
    /// Closures that are creating a response are cancelled. Calling this method again has no effect. In a closure of a
    /// ``RequestMatcher``, which runs on the server's thread, it returns immediately.
    public func stop() {
        state.post(.stop)
        if !state.isOnThread { state.ended.wait() }
        state.removeSocketFile()
    }

    /// Closes all open connections. New connections are accepted.
    ///
    /// - Parameter isReset: Whether to reset them (TCP RST); default: no.
    public func closeConnections(reset isReset: Bool = false) {
        state.post(.closeConnections(isReset: isReset))
    }

    /// The number of connections that the server accepted.
    public var connectionCount: Int { state.connections.value }

    /// Waits until the client or server has closed a number of connections, for example after a call was cancelled.
    ///
    /// - Parameters:
    ///   - count: The number of closed connections since the server's start; default: 1.
    ///   - limit: The maximum wait in real time; default: 30 seconds.
    /// - Throws: An error with the numbers of connections after the limit, or `CancellationError`.
    public func waitForClosedConnections(_ count: Int = 1, within limit: Duration = .seconds(30)) async throws {
        let isReached = await Deadline.value(limit) { await self.waitForConnections(closed: count) } != nil
        try Task.checkCancellation()
        let closed = state.closed.value
        guard !isReached || closed < count else { return }
        let expected = Plural.of(count, noun: "closed connection")
        throw ExpectationFailure("Expected \(expected), but \(closed) of \(connectionCount) are closed.")
    }

    /// The descriptors of the listening socket and of the pipe, for this package's own tests.
    package var descriptors: [Int32] { [listener, state.wakeReader] }

    private static func baseURL(of address: Address, port: UInt16) -> URL {
        let text =
            switch address {
            case .ipv4: "http://127.0.0.1:\(port)"
            case .ipv6: "http://[::1]:\(port)"
            case .unix: "http://localhost"
            }
        return URL(string: text) ?? URL(fileURLWithPath: "/")
    }
}
