// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TargetKitWebSocketTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// Tokens that expire while a WebSocket is opened.
@Suite("Token refreshes during handshakes", .throttled, .timeLimit(.minutes(1)))
struct HandshakeRefreshTests {
    /// A server that lets in those with the fresh token, and ends its first WebSocket.
    private func server() throws -> TestServer {
        let count = Locked(0)
        return try TestServer { request in
            guard request.headers["Authorization"] == "Bearer fresh" else { return .status(401) }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .webSocket(.send("1"), .receive, .disconnect) : .webSocket(.send("2"), .echo)
        }
    }

    @Test("A token that has expired before a reconnection is refreshed once, and the states do not mention it")
    func reconnection() async throws {
        let server = try server()
        let refreshes = Recorder<String>()
        let plugin = AuthenticationPlugin(authenticator: Tokens(refreshes: refreshes, user: "anna")) { _ in }
        try await plugin.signIn("stale")
        let provider = Provider<Feed>(plugins: [plugin])
        var backoff = WebSocketReconnection.backoff(RetryPolicy(attempts: .max), reachability: nil)
        backoff.share = { 0.1 }
        // Otherwise the first WebSocket can be open before its states are read.
        let isWatched = Gate()
        let socket = provider.webSocket(Feed(baseURL: server.baseURL), reconnecting: backoff) { _ in
            try await isWatched.waitUnlessCancelled()
        }
        let states = socket.states
        isWatched.open()
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("1"))
        #expect(refreshes.elements == ["stale"])
        try await plugin.signIn("old")
        try await socket.send("end")
        #expect(try await messages.next() == .text("2"))
        #expect(refreshes.elements == ["stale", "old"])
        await socket.close()
        var names: [String] = []
        for await state in states {
            switch state {
            case .connecting: names.append("connecting")
            case .open: names.append("open")
            case .waiting: names.append("waiting")
            case .closed(let error): names.append(error == nil ? "closed" : "failed")
            }
        }
        #expect(names.last == "closed")
        #expect(names.dropLast().suffix(5) == ["connecting", "open", "waiting", "connecting", "open"])
        // Two that were refused, and two WebSockets.
        try await server.waitForClosedConnections(server.connectionCount)
    }

    @Test("A WebSocket isn't opened again with the credential of another user")
    func otherUser() async throws {
        let server = try server()
        let refreshes = Recorder<String>()
        let plugin = AuthenticationPlugin(authenticator: Tokens(refreshes: refreshes)) { _ in }
        try await plugin.signIn("stale")
        let provider = Provider<Feed>(plugins: [plugin])
        var backoff = WebSocketReconnection.backoff(RetryPolicy(attempts: .max), reachability: nil)
        backoff.share = { 0.1 }
        let socket = provider.webSocket(Feed(baseURL: server.baseURL), reconnecting: backoff)
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("1"))
        try await plugin.signIn("fresh")
        try await socket.send("end")
        let error = await #expect(throws: TargetKitError.self) { try await messages.next() }
        #expect(error?.kind == .unauthorized)
        try await server.waitForClosedConnections(server.connectionCount)
    }

    @Test("Signing out closes the WebSockets of the session, in every scope, and not those of guests")
    func signedOut() async throws {
        let server = try TestServer { request in
            if request.path == "/rejected" { return .status(401) }
            return .webSocket(.send("1"), .echo)
        }
        let signedOut = Tally()
        let plugin = UnauthorizedPlugin { _ in signedOut.add() }
        let token = AccessTokenPlugin { _ in "fresh" }
        let provider = Provider<Feed>(plugins: [token, plugin])
        let guests = Provider<Feed>(plugins: [plugin])
        let ownSocket = try await provider.webSocket(Feed(baseURL: server.baseURL))
        let guestSocket = try await guests.webSocket(Feed(baseURL: server.baseURL))
        let other = Provider<Feed>(plugins: [token, plugin])
        _ = try? await other.request(Feed(baseURL: server.baseURL, path: "/rejected"))
        #expect(signedOut.value == 1)
        var (own, guest) = (ownSocket.messages.makeAsyncIterator(), guestSocket.messages.makeAsyncIterator())
        #expect(try await guest.next() == .text("1"))
        try await guestSocket.send("2")
        #expect(try await guest.next() == .text("2"))
        let error = await #expect(throws: TargetKitError.self) { while try await own.next() != nil {} }
        #expect(error?.stage == .cancelled)
        await guestSocket.close()
        // The connection of the rejected call stays open.
        try await server.waitForClosedConnections(2)
    }

    @Test("Cancelling while the token is refreshed ends the handshake, and no connection is left")
    func cancelled() async throws {
        let server = try server()
        let (began, released) = (Expectation(), Expectation())
        let plugin = AuthenticationPlugin(authenticator: SlowTokens(began: began, released: released)) { _ in }
        try await plugin.signIn("stale")
        let provider = Provider<Feed>(plugins: [plugin])
        let task = Task { try await provider.webSocket(Feed(baseURL: server.baseURL)) }
        await began.wait()
        task.cancel()
        let error = await #expect(throws: TargetKitError.self) { _ = try await task.value }
        #expect(error?.stage == .cancelled)
        try await server.waitForClosedConnections(server.connectionCount)
        released.fulfill()
        await provider.scope.shutdown(grace: .seconds(30))
    }
}

/// Tokens whose refresh waits.
private struct SlowTokens: Authenticator {
    let began: TargetKitTesting.Expectation
    let released: TargetKitTesting.Expectation

    func apply(_ credential: String, to request: inout URLRequest) throws {
        request.setValue("Bearer \(credential)", forHTTPHeaderField: "Authorization")
    }

    func refresh(_ credential: String) async throws -> String {
        began.fulfill()
        await released.wait()
        return "fresh"
    }
}
