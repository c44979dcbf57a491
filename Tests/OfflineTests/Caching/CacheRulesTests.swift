// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Cache: the rules of RFC 9111 and RFC 5861", .throttled, .timeLimit(.minutes(2)))
struct CacheRulesTests {
    @Test("Storing responses", arguments: CacheCase.storing)
    func storing(_ rule: CacheCase) async throws { #expect(try await rule.run() == rule.outcome) }

    @Test("Vary", arguments: CacheCase.vary)
    func vary(_ rule: CacheCase) async throws { #expect(try await rule.run() == rule.outcome) }

    @Test("Freshness and age", arguments: CacheCase.freshness)
    func freshness(_ rule: CacheCase) async throws { #expect(try await rule.run() == rule.outcome) }

    @Test("Dates that have expired because they are invalid", arguments: CacheCase.invalidDates)
    func invalidDates(_ rule: CacheCase) async throws { #expect(try await rule.run() == rule.outcome) }

    @Test("Directives of requests", arguments: CacheCase.directives)
    func directives(_ rule: CacheCase) async throws { #expect(try await rule.run() == rule.outcome) }

    @Test("Validation", arguments: CacheCase.validation)
    func validation(_ rule: CacheCase) async throws { #expect(try await rule.run() == rule.outcome) }

    @Test("Stale responses", arguments: CacheCase.stale)
    func stale(_ rule: CacheCase) async throws { #expect(try await rule.run() == rule.outcome) }

    @Test("There are at least 120 cases, and each has a title of its own")
    func count() {
        let groups = [
            CacheCase.storing, CacheCase.vary, CacheCase.freshness, CacheCase.directives, CacheCase.validation,
            CacheCase.stale, CacheCase.invalidDates,
        ]
        let titles = groups.joined().map(\.testDescription)
        #expect(titles.count >= 120)
        #expect(Set(titles).count == titles.count)
    }
}
