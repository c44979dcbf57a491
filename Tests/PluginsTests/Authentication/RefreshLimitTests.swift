// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Authentication: the limit")
struct RefreshLimitTests {
    private let signOuts = SignOuts()

    @Test("No more refreshes than the limit allows, by the clock", arguments: [1, 5])
    func limit(_ count: Int) async throws {
        let (server, clock) = (TokenServer(good: -1), ManualClock())
        let limit = RefreshLimit(count, within: .seconds(30))
        let plugin = signOuts.plugin(TokenAuthenticator(), limit: limit, clock: clock)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        for _ in 0..<count {
            #expect(try await provider.request(PluginTarget()).statusCode == 401)
            clock.advance(by: .seconds(1))
        }
        let last = "Bearer token-\(count + 1)"
        for _ in 0..<3 {
            let error = try #require(await provider.result(PluginTarget()).failure)
            #expect(error.underlying as? AuthenticationError == .tooManyRefreshes(limit))
            #expect(server.fields.elements.last == last)
        }
        clock.advance(by: .seconds(29 - count))
        #expect(await provider.result(PluginTarget()).failure != nil)
        clock.advance(by: .seconds(1))
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        #expect(server.fields.elements.last == "Bearer token-\(count + 2)")
        #expect(signOuts.count == 0)
    }

    @Test("The default is five refreshes in thirty seconds")
    func defaultLimit() {
        #expect(RefreshLimit() == RefreshLimit(5, within: .seconds(30)))
    }
}
