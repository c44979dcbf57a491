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

/// With whose credential an event stream reconnects.
@Suite("Authentication: event streams", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationStreamTests {
    /// A change between two connections of a stream.
    enum Change: CaseIterable, Sendable {
        case refresh, signIn, signOut, otherProcess
    }

    private let clock = ManualClock()
    private let signOuts = SignOuts()
    private let requests = Recorder<URLRequest>()

    /// A server that ends each stream after one event, and rejects the first token once it has been used.
    private var transport: StubTransport {
        StubTransport { [requests] request in
            requests.append(request.urlRequest)
            let isFirst = request.urlRequest.value(forHTTPHeaderField: "Authorization") == Token(1).field
            if isFirst, requests.count > 1 { return .response(status: 401, data: Data()) }
            // Ends a stream that must not have been opened.
            if requests.count > 5 { return .response(status: 204, data: Data()) }
            let text = "id:\(requests.count)\ndata:a\n\n"
            return .response(status: 200, headers: ["Content-Type": "text/event-stream"], data: Data(text.utf8))
        }
    }

    private func sentIDs(with token: Token?) -> [String?] {
        requests.elements.filter { $0.value(forHTTPHeaderField: "Authorization") == token?.field }
            .map { $0.value(forHTTPHeaderField: "Last-Event-ID") }
    }

    @Test("A stream doesn't reconnect with the credential of another user", arguments: Change.allCases)
    func reconnects(_ change: Change) async throws {
        let store = MemoryCredentialStore<Token>()
        let plugin = signOuts.plugin(TokenAuthenticator(), store)
        try await plugin.signIn(Token(1))
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin], clock: clock)
        var events = provider.serverSentEvents(for: PluginTarget(), reconnectingAfter: .seconds(3)).makeAsyncIterator()
        #expect(try await events.next()?.id == "1")
        switch change {
        case .refresh: break
        case .signIn: try await plugin.signIn(Token(101))
        case .signOut: try await plugin.signOut()
        case .otherProcess: try await signOuts.plugin(TokenAuthenticator(), store).signIn(Token(101))
        }
        let pass = Task { [clock] in
            while !Task.isCancelled {
                if !clock.remainingSleeps.isEmpty { clock.advanceToNextDeadline() }
                await Task.yield()
            }
        }
        defer { pass.cancel() }
        if change == .refresh {
            #expect(try await events.next()?.data == "a")
            #expect(sentIDs(with: Token(2)) == ["1"])
            return
        }
        let error = await #expect(throws: TargetKitError.self) {
            while try await events.next() != nil {}
        }
        #expect(change == .otherProcess || error?.kind == .unauthorized)
        #expect(sentIDs(with: Token(101)) == [])
        #expect(sentIDs(with: nil) == [])
        // Another loop is the next user's.
        if change == .signIn {
            var next = provider.serverSentEvents(for: PluginTarget()).makeAsyncIterator()
            #expect(try await next.next()?.data == "a")
            #expect(sentIDs(with: Token(101)) == [nil])
        }
    }
}
