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

@Suite("Credentials: nonces", .throttled, .timeLimit(.minutes(2)))
struct DigestNonceTests {
    /// A server with a nonce for each challenge, which is good for one answer.
    private final class Server: Sendable {
        private struct State: Sendable {
            var last = 0
            var open: Set<String> = []
        }

        let fields = Recorder<String?>()
        private let state = Locked(State())
        private let arrived: TargetKitTesting.Expectation

        /// - Parameter together: The number of first requests that are only answered when all of them have arrived.
        init(together: Int) {
            arrived = TargetKitTesting.Expectation(count: together)
        }

        var transport: StubTransport {
            StubTransport { request in
                let field = request.urlRequest.value(forHTTPHeaderField: "Authorization")
                self.fields.append(field)
                self.arrived.fulfill()
                try await self.arrived.waitUnlessCancelled()
                return self.answer(field)
            }
        }

        private func answer(_ field: String?) -> SampleResponse {
            let answer = AuthenticationChallenge.challenges(in: [field ?? ""]).first
            let next = state.withLock { state -> Int? in
                if let nonce = answer?["nonce"], answer?["nc"] == "00000001", state.open.remove(nonce) != nil {
                    return nil
                }
                state.last += 1
                state.open.insert("n\(state.last)")
                return state.last
            }
            guard let next else { return .response(status: 200, data: Data()) }
            let challenge = #"Digest realm=shop, qop="auth", nonce=n\#(next), stale=\#(field != nil)"#
            return .response(status: 401, headers: ["WWW-Authenticate": challenge], data: Data())
        }
    }

    private func statuses(_ count: Int, _ provider: Provider<PluginTarget>) async throws -> [Int] {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count { group.addTask { try await provider.request(PluginTarget()).statusCode } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private let anna = CredentialsPlugin { _ in
        await Task.yield()
        return URLCredential(user: "anna", password: "secret", persistence: .none)
    }

    @Test("Calls at the same time answer their own challenges", arguments: [3, 40])
    func own(count: Int) async throws {
        let server = Server(together: count)
        let provider = Provider<PluginTarget>(
            transport: server.transport,
            plugins: [anna],
            options: .setting(\.sharesInFlight, false)
        )
        #expect(try await statuses(count, provider) == Array(repeating: 200, count: count))
        #expect(server.fields.count == 2 * count)
    }

    @Test("Calls whose nonce was used up answer the challenges that say so", arguments: [6, 40])
    func stale(count: Int) async throws {
        let server = Server(together: 1)
        let provider = Provider<PluginTarget>(
            transport: server.transport,
            plugins: [anna],
            options: .setting(\.sharesInFlight, false)
        )
        for _ in 0..<3 { #expect(try await statuses(count, provider) == Array(repeating: 200, count: count)) }
        #expect(server.fields.count == 6 * count)
    }

    @Test("A challenge that was forgotten meanwhile isn't answered with the password")
    func forgotten() async throws {
        let script = ScriptedTransport { request, _ in
            guard request.value(forHTTPHeaderField: "Authorization") == nil else { return .status(200) }
            return .status(401, ["WWW-Authenticate": #"Digest realm=shop, nonce=n, qop="auth""#])
        }
        let others = (0..<120).compactMap { URL(string: "https://\($0).example") }
        let provider = Locked<Provider<PluginTarget>?>(nil)
        let isBusy = Locked(false)
        let plugin = CredentialsPlugin { target in
            let isFirst = isBusy.withLock { isBusy in
                guard target.path == "/last", !isBusy else { return false }
                isBusy = true
                return true
            }
            if isFirst {
                for url in others { _ = await provider.withLock { $0 }?.result(PluginTarget(baseURL: url)) }
            }
            return URLCredential(user: "anna", password: "secret", persistence: .none)
        }
        provider.withLock { $0 = Provider(transport: script.transport, plugins: [plugin]) }
        let own = try #require(provider.withLock { $0 })
        _ = try await own.request(PluginTarget())
        _ = try await own.request(PluginTarget(path: "/last"))
        let fields = script.requests.elements.compactMap { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(fields.count > others.count)
        #expect(fields.allSatisfy { $0.hasPrefix("Digest ") })
        provider.withLock { $0 = nil }
    }
}
