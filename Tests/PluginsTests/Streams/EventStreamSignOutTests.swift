// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Event streams whose user is signed out by a plugin that doesn't name the user.
@Suite("Event streams: sign-out", .throttled, .timeLimit(.minutes(2)))
struct EventStreamSignOutTests {
    private let clock = ManualClock()
    private let token = Locked("anna")
    private let streams = Recorder<String?>()
    private let signOuts = Tally()

    /// A server that ends each stream after one event, and rejects every other call.
    private var transport: StubTransport {
        StubTransport { [streams] request in
            guard request.urlRequest.url?.path.hasSuffix("/events") == true else {
                return .response(status: 401, data: Data())
            }
            streams.append(request.urlRequest.value(forHTTPHeaderField: "Authorization"))
            if streams.count > 2 { return .response(status: 204, data: Data()) }
            let data = Data("data:a\n\n".utf8)
            return .response(status: 200, headers: ["Content-Type": "text/event-stream"], data: data)
        }
    }

    /// A plugin after whose sign-out the next user is signed in.
    private var unauthorized: UnauthorizedPlugin {
        UnauthorizedPlugin { [token, signOuts] _ in
            signOuts.add()
            token.withLock { $0 = "ben" }
        }
    }

    private func provider(_ plugin: UnauthorizedPlugin) -> Provider<PluginTarget> {
        let plugins: [any Plugin] = [AccessTokenPlugin { [token] _ in token.withLock(\.self) }, plugin]
        return Provider(transport: transport, plugins: plugins, clock: clock)
    }

    private let events = PluginTarget(path: "/events")

    /// Makes a call that signs out.
    private func signOut(_ plugin: UnauthorizedPlugin) async {
        _ = await provider(plugin).result(PluginTarget(path: "/orders"))
        #expect(signOuts.value == 1)
    }

    /// Who waits to reconnect.
    enum Waiting: CaseIterable, Sendable {
        case user, optedOut, guest, ofOtherSession
    }

    @Test("A stream that waits to reconnect ends with its session, like a call in flight", arguments: Waiting.allCases)
    func waits(_ waiting: Waiting) async throws {
        let plugin = unauthorized
        let target = events.with { target in
            target.endsSessionOnUnauthorized = waiting != .optedOut
            target.authorization = waiting == .guest ? .none : .automatic
        }
        let provider = provider(waiting == .ofOtherSession ? unauthorized : plugin)
        let reading = Task {
            var events = provider.serverSentEvents(for: target, reconnectingAfter: .seconds(3)).makeAsyncIterator()
            let first = try await events.next()
            return (first, try await events.next())
        }
        try await clock.waitForSleepers()
        await signOut(plugin)
        if waiting == .user {
            let error = await #expect(throws: TargetKitError.self) { _ = try await reading.value }
            #expect(error?.stage == .cancelled)
            #expect(clock.sleeperCount == 0)
            #expect(streams.elements == ["Bearer anna"])
        } else {
            clock.advanceToNextDeadline()
            #expect(try await reading.value.1?.data == "a")
            #expect(streams.count == 2)
        }
    }

    @Test("A stream whose reader is busy when its session ends isn't reopened", arguments: [false, true])
    func busyReader(isReset: Bool) async throws {
        let plugin = unauthorized
        let provider = provider(plugin)
        var events = provider.serverSentEvents(for: events, reconnectingAfter: .seconds(3)).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        // The stream has ended, and its reader doesn't wait for the next one yet.
        while provider.scope.inFlightCount > 0, !Task.isCancelled { await Task.yield() }
        await signOut(plugin)
        if isReset { plugin.reset() }
        let passing = Task {
            while !Task.isCancelled {
                if clock.sleeperCount > 0 { clock.advanceToNextDeadline() }
                await Task.yield()
            }
        }
        let error = await #expect(throws: TargetKitError.self) { while try await events.next() != nil {} }
        passing.cancel()
        #expect(error?.kind == .unauthorized)
        #expect(streams.elements == ["Bearer anna"])
        // Another loop is the next user's.
        plugin.reset()
        var next = provider.serverSentEvents(for: self.events).makeAsyncIterator()
        #expect(try await next.next()?.data == "a")
        #expect(streams.elements == ["Bearer anna", "Bearer ben"])
    }

    @Test("A stream of a stored credential without a name isn't reopened after its session", arguments: [true, false])
    func unnamedSession(signsIn: Bool) async throws {
        let plugin = SignOuts().plugin(TokenAuthenticator())
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin], clock: clock)
        var events = provider.serverSentEvents(for: events, reconnectingAfter: .seconds(3)).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        if signsIn { try await plugin.signIn(Token(101)) } else { try await plugin.signOut() }
        let passing = Task {
            while !Task.isCancelled {
                if clock.sleeperCount > 0 { clock.advanceToNextDeadline() }
                await Task.yield()
            }
        }
        let error = await #expect(throws: TargetKitError.self) { while try await events.next() != nil {} }
        passing.cancel()
        #expect(error?.kind == .unauthorized)
        #expect(streams.elements == [Token(1).field])
    }
}
