// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

@Suite("ResponseCache: clocks without a date", .throttled, .timeLimit(.minutes(2)))
struct CacheClockTests {
    // The description of a `Date` that is no number ends a process.
    private static let seconds = [Double.nan, .infinity, -.infinity, 1e300, -1e300]

    @Test("A clock that shows no date, when a response is stored or used, ends no process", arguments: seconds, seconds)
    func invalidDates(stored: Double, used: Double) async throws {
        let (stored, used) = (Date(timeIntervalSince1970: stored), Date(timeIntervalSince1970: used))
        let time = Locked(stored)
        let cache = ResponseCache(usesHeuristics: true, now: { time.withLock { $0 } })
        let fields: HTTPHeaders = [
            "Cache-Control": "max-age=60, stale-while-revalidate=60, stale-if-error=60",
            "Last-Modified": "Sunday, 06-Nov-94 08:49:37 GMT", "Age": "7", "ETag": #""1""#,
        ]
        let transport = StubTransport(.response(status: 200, headers: fields, data: Data("tea".utf8)))
        let provider = Provider<CachedTarget>(transport: transport, plugins: [ResponseCachePlugin(cache)])
        for policy in [CachePolicy.useProtocol, .cachedElseLoad, .staleOnFailure] {
            let options = CallOptions.setting(\.cachePolicy, policy)
            time.withLock { $0 = stored }
            #expect(try await provider.request(CachedTarget(), options: options).data == Data("tea".utf8))
            time.withLock { $0 = used }
            #expect(try await provider.request(CachedTarget(), options: options).data == Data("tea".utf8))
        }
    }
}
