// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit
import TargetKitTesting
import TargetKitWebSocket
import TestSupport
import Testing

@Suite("Opening many WebSockets", .throttled, .timeLimit(.minutes(2)))
struct OpeningTests {
    @Test("Beyond 128 handshakes with a host, others wait, and can be cancelled and time out")
    func limit() async throws {
        let server = try TestServer { _ in [.hang] }
        let feed = Feed(baseURL: server.baseURL)
        let transport = CurlTransport()
        let (first, others) = (Provider<Feed>(transport: transport), Provider<Feed>(transport: transport))
        let handshakes = Task {
            await withTaskGroup(of: TargetKitError.Stage?.self) { group in
                for _ in 0..<128 { group.addTask { await first.failure(of: feed)?.stage } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        await server.waitForRequests(128)
        let options = CallOptions.setting(\.timeout, .exchange(.milliseconds(50)))
        #expect(await others.failure(of: feed, options: options)?.kind == .timedOut)
        let waiting = Task { await others.failure(of: feed)?.stage }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        #expect(server.connectionCount == 128)
        // Another host has a limit of its own.
        let other = try TestServer(response: .webSocket(.send("hello")))
        var messages = try await others.webSocket(Feed(baseURL: other.baseURL)).messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        let last = Task { await others.failure(of: feed)?.stage }
        first.cancelAll()
        #expect(await handshakes.value == Array(repeating: .cancelled, count: 128))
        await server.waitForRequests(129)
        last.cancel()
        #expect(await last.value == .cancelled)
    }

    @Test("A WebSocket is opened at the address that the transport's resolver returns, even after another answer")
    func resolver() async throws {
        let server = try TestServer(response: .webSocket(.send("hello")))
        let addresses = Locked(["127.0.0.1"])
        let transport = CurlTransport(proxy: .none, resolver: { _, _ in addresses.withLock(\.self) })
        let provider = Provider<Feed>(transport: transport)
        let feed = Feed(baseURL: try #require(URL(string: "http://api.example:\(server.port)")))
        var messages = try await provider.webSocket(feed).messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        #expect(server.requests.first?.headers["Host"] == "api.example:\(server.port)")
        addresses.withLock { $0 = ["127.0.0.9"] }
        #expect(await provider.failure(of: feed)?.kind == .cannotConnect)
        addresses.withLock { $0 = [] }
        #expect(await provider.failure(of: feed)?.kind == .cannotConnect)
    }

    @Test("A transport that is shut down ends the calls that wait for a handshake")
    func shutdown() async throws {
        let server = try TestServer { _ in [.hang] }
        let transport = CurlTransport()
        let provider = Provider<Feed>(transport: transport)
        let feed = Feed(baseURL: server.baseURL)
        let handshakes = Task {
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<140 { group.addTask { await provider.failure(of: feed) != nil } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
        }
        await server.waitForRequests(128)
        transport.shutdown()
        #expect(await handshakes.value == 140)
    }
}

extension Provider<Feed> {
    /// Why a WebSocket can't be opened.
    fileprivate func failure(of feed: Feed, options: CallOptions = CallOptions()) async -> TargetKitError? {
        do {
            _ = try await webSocket(feed, options: options)
            return nil
        } catch {
            return error
        }
    }
}
#endif
