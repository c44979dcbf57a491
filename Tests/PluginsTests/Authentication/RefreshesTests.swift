// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
@testable import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The refreshes of a session by themselves.
@Suite("Authentication: the number of refreshes", .throttled, .timeLimit(.minutes(1)))
struct RefreshesTests {
    private typealias Kind = Refreshes<Token>

    private func lease(_ generation: Int) -> CredentialLease<Token> {
        let owner = CredentialSession(id: nil)
        return CredentialLease(credential: Token(generation), generation: generation, owner: owner, isAdopted: false)
    }

    /// Starts a refresh; `nil` if the limit is reached.
    private func start(_ refreshes: inout Kind, at time: Int) -> Kind.Refresh? {
        _ = try? refreshes.start(of: lease(1), in: 1, isEarly: false, at: .seconds(time)) { _ in Task {} }
        return refreshes.running?.refresh
    }

    @Test("Refreshes that fail or whose credential isn't accepted count, within the interval")
    func limit() throws {
        var refreshes = Kind(RefreshLimit(2, within: .seconds(30)))
        for time in [0, 10] {
            let refresh = try #require(start(&refreshes, at: time))
            refreshes.keep(refresh, generation: time)
            refreshes.end(refresh)
        }
        #expect(start(&refreshes, at: 29) == nil)
        #expect(start(&refreshes, at: 30) != nil)
    }

    @Test("An accepted, an adopted and a lost refresh don't count", arguments: 0..<3)
    func uncounted(_ kind: Int) throws {
        var refreshes = Kind(RefreshLimit(1, within: .seconds(30)))
        for time in 0..<5 {
            let refresh = try #require(start(&refreshes, at: time))
            switch kind {
            case 0:
                refreshes.keep(refresh, generation: time)
                refreshes.accept(time - 1)
                refreshes.accept(time)
            case 1: refreshes.adopt(refresh)
            default: refreshes.fail(refresh, URLError(.notConnectedToInternet))
            }
            refreshes.end(refresh)
        }
    }

    @Test("A refresh that ends late is kept unless a later one was, and ends no later one")
    func late() throws {
        var refreshes = Kind(RefreshLimit())
        let first = try #require(start(&refreshes, at: 0))
        #expect(refreshes.isRunning(first))
        refreshes.end(first)
        let second = try #require(start(&refreshes, at: 1))
        refreshes.end(first)
        #expect(refreshes.isRunning(second))
        #expect(refreshes.isLatest(first))
        refreshes.keep(second, generation: 2)
        #expect(!refreshes.isLatest(first))
        refreshes.reset()
        #expect(refreshes.running == nil)
        #expect(!refreshes.isLatest(first))
        #expect(try #require(start(&refreshes, at: 2)).number == 3)
    }

    @Test("A request that refused a new credential refuses it for the interval, and no other credential")
    func refusals() {
        var refreshes = Kind(RefreshLimit(within: .seconds(30)))
        var refused: [Bool] = []
        for (request, generation, isNew, time) in [
            ("/a", 1, false, 0), ("/a", 2, true, 0), ("/a", 2, false, 29), ("/a", 3, false, 29), ("/b", 2, false, 29),
            ("/a", 2, false, 30),
        ] {
            refused.append(refreshes.refuses(request, with: generation, isNew: isNew, at: .seconds(time)))
        }
        #expect(refused == [false, true, true, false, false, false])
    }
}
