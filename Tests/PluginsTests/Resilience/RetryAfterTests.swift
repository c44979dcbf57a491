// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Retry-After", .timeLimit(.minutes(1)))
struct RetryAfterTests {
    /// What the plugin does about a field.
    enum Reaction: Sendable, Equatable, CustomTestStringConvertible {
        /// It waits so many seconds.
        case waits(Double)
        /// The call ends.
        case givesUp
        /// It waits its own time, as if there were no such field.
        case ignores

        var testDescription: String { "\(self)" }
    }

    /// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private func reaction(to headers: HTTPHeaders, now: Date = now, status: Int = 503) async -> Reaction {
        let clock = ManualClock()
        let script = ScriptedTransport(.status(status, headers), .status(200))
        // Its own waits are a second, in the worst case.
        let policy = RetryPolicy(baseDelay: .seconds(0.25))
        let plugin = RetryPlugin(policy: policy, clock: clock, generator: HighestNumbers(), now: { now })
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin], clock: clock)
        let (result, sleeps) = await clock.stepping { await provider.result(SturdyTarget()) }
        guard let sleep = sleeps.first else {
            #expect(RecordingPlugin.Outcome(result) == .status(status))
            return .givesUp
        }
        #expect(sleeps.count == 1)
        #expect(RecordingPlugin.Outcome(result) == .status(200))
        return sleep <= .seconds(0.25) && sleep > .seconds(0.2) ? .ignores : .waits(sleep / .seconds(1))
    }

    @Test(
        "Seconds and the three forms of a date are waited for, up to the limit of a minute",
        arguments: [
            ("1", .waits(1)), ("17", .waits(17)), (" 17 ", .waits(17)), ("0017", .waits(17)), ("60", .waits(60)),
            ("61", .givesUp), ("99999999999999999999999", .givesUp),
            ("0", .ignores), ("-1", .ignores), ("1.5", .ignores), ("+3", .ignores), ("soon", .ignores), ("", .ignores),
            ("120 seconds", .ignores),
            // RFC 9110 §5.6.7
            ("Sun, 06 Nov 1994 08:49:47 GMT", .waits(10)),
            ("Sunday, 06-Nov-94 08:49:47 GMT", .waits(10)),
            ("Sun Nov  6 08:49:47 1994", .waits(10)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", .waits(60)),
            ("Sun, 06 Nov 1994 08:50:38 GMT", .givesUp),
            ("Sun, 06 Nov 1994 08:49:60 GMT", .waits(23)),
            ("Sunday, 06-Nov-95 08:49:47 GMT", .givesUp),
            // Passed already, or no date at all.
            ("Sun, 06 Nov 1994 08:49:37 GMT", .ignores),
            ("Sat, 05 Nov 1994 08:49:47 GMT", .ignores),
            ("Sunday, 06-Nov-93 08:49:47 GMT", .ignores),
            ("Sun, 31 Feb 1994 08:49:47 GMT", .ignores),
            ("Sun, 06 Nov 1994 08:49:47 PST", .ignores),
            ("Sun, 06 Nov 1994 08:49:47 +0200", .ignores),
            ("Sun, 06 Nov 1994 GMT", .ignores),
        ] as [(String, Reaction)]
    )
    func forms(_ value: String, _ expected: Reaction) async {
        #expect(await reaction(to: ["Retry-After": value]) == expected)
    }

    @Test(
        "A year of two digits is the one that is at most fifty years ahead",
        arguments: [("76", .givesUp), ("77", .ignores), ("25", .ignores), ("26", .waits(10)), ("94", .ignores)]
            as [(String, Reaction)]
    )
    func century(_ year: String, _ expected: Reaction) async {
        // Sat, 21 Nov 2026 00:00:00 GMT
        let now = Date(timeIntervalSince1970: 1_795_219_200)
        #expect(await reaction(to: ["Retry-After": "Saturday, 21-Nov-\(year) 00:00:10 GMT"], now: now) == expected)
    }

    @Test("A date is measured by the response's own, whatever the device's clock says")
    func serverTime() async {
        let headers: HTTPHeaders = [
            "Date": "Tue, 15 Nov 1994 08:12:31 GMT", "Retry-After": "Tue, 15 Nov 1994 08:12:43 GMT",
        ]
        #expect(await reaction(to: headers) == .waits(12))
        #expect(await reaction(to: headers, now: .distantFuture) == .waits(12))
        let unreadable: HTTPHeaders = ["Date": "today", "Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"]
        #expect(await reaction(to: unreadable) == .waits(10))
    }

    @Test("The field counts with every status that is tried again", arguments: [408, 425, 429, 500, 502, 503, 504])
    func statuses(_ status: Int) async {
        #expect(await reaction(to: ["retry-after": "7"], status: status) == .waits(7))
        #expect(await reaction(to: ["Retry-After": "3600"], status: status) == .givesUp)
    }

    @Test("The limit can be set, also for one target")
    func limit() async {
        let clock = ManualClock()
        let script = ScriptedTransport(.status(503, ["Retry-After": "3600"]), .status(200))
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [RetryPlugin(clock: clock)],
            clock: clock
        )
        var patient = RetryPolicy()
        patient.retryAfterLimit = .seconds(3600)
        let target = SturdyTarget(retryPolicy: patient)
        let (result, sleeps) = await clock.stepping { await provider.result(target) }
        #expect(RecordingPlugin.Outcome(result) == .status(200))
        #expect(sleeps == [.seconds(3600)])
    }

    @Test("Who would wait for ever waits a year", arguments: ["1099511627776", "99999999999999999999999"])
    func longest(_ value: String) async {
        let clock = ManualClock()
        let script = ScriptedTransport(.status(503, ["Retry-After": value]), .status(200))
        var patient = RetryPolicy()
        patient.retryAfterLimit = .seconds(Int64.max)
        let plugin = RetryPlugin(policy: patient, clock: clock)
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin], clock: clock)
        let (result, sleeps) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(RecordingPlugin.Outcome(result) == .status(200))
        #expect(sleeps == [.seconds(365 * 86_400)])
    }
}
