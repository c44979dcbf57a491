// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

@Suite("Clocks without a date", .throttled, .timeLimit(.minutes(2)))
struct InvalidDateTests {
    // The description of a `Date` that is no number ends a process.
    private static let seconds = [Double.nan, .infinity, -.infinity, 1e300, -1e300]

    /// Responses with each field that a plugin compares with its clock.
    private static let responses: [SampleResponse] = [
        .status(503, ["Retry-After": "Sunday, 06-Nov-94 08:49:37 GMT"]),
        .status(429, ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sunday, 06-Nov-94 08:49:37 GMT"]),
        .status(429, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800000000"]),
        .status(
            200,
            [
                "Date": "Sunday, 06-Nov-94 08:49:37 GMT",
                "Set-Cookie": "a=b; Max-Age=9223372036854775807; Expires=Sunday, 06-Nov-94 08:49:37 GMT",
            ]
        ),
    ]

    @Test("A plugin whose clock shows no date ends its calls as with any other", arguments: seconds)
    func invalidDate(seconds: Double) async {
        let date = Date(timeIntervalSince1970: seconds)
        let plugins: [any Plugin] = [
            RetryPlugin(policy: RetryPolicy(attempts: 2, baseDelay: .zero, retryAfterLimit: .zero), now: { date }),
            RateLimitPlugin(maximumWait: .zero, now: { date }), ServerClockPlugin(date: { date }),
            CookiePlugin(CookieStore(now: { date })),
        ]
        for plugin in plugins {
            let script = ScriptedTransport { _, index in Self.responses[index % Self.responses.count] }
            let provider = Provider<PluginTarget>(transport: script.transport, plugins: [plugin])
            for _ in 0..<6 {
                let call = Task { await provider.result(PluginTarget()) }
                // A plugin may wait long for the retry that the server requests.
                if script.requests.count >= 8 { call.cancel() }
                _ = await call.value
            }
            #expect(script.requests.count > 0)
        }
        let credential = OAuthCredential(accessToken: "a", expiresAt: date, issuedAt: date)
        #expect(credential.expiresAt?.timeIntervalSince1970.bitPattern == date.timeIntervalSince1970.bitPattern)
    }

    @Test("A credential and a cookie with such a date can be described", arguments: seconds)
    func description(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        let credential = "\(OAuthCredential(accessToken: "a", expiresAt: date))"
        let cookie = "\(Cookie(name: "n", value: "v", domain: "a.b", expires: date))"
        // An expectation would describe the date itself.
        #expect(credential.contains("expires \(seconds) s since 1970"))
        #expect(cookie.contains("expires=\(seconds) s since 1970"))
    }
}
