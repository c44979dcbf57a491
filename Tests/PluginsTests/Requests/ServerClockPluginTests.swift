// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

@Suite("ServerClockPlugin", .throttled, .timeLimit(.minutes(2)))
struct ServerClockPluginTests {
    /// A device and a server, each with its clock, and the way between them.
    private final class World: Sendable {
        private struct State: Sendable {
            var device = Date(timeIntervalSince1970: 1_700_000_000)
            var ahead: TimeInterval = 0
            var fields: HTTPHeaders = [:]
            var there: TimeInterval = 0
            var back: TimeInterval = 0
        }

        private let state = Locked(State())
        let clock: ServerClockPlugin
        let provider: Provider<PluginTarget>

        init() {
            let state = state
            clock = ServerClockPlugin { state.withLock { $0.device } }
            provider = Provider(
                transport: StubTransport { _ in
                    state.withLock { state in
                        state.device += state.there
                        var headers: HTTPHeaders = ["Date": Self.text(state.device + state.ahead)]
                        headers = headers.merging(state.fields)
                        state.device += state.back
                        return .response(status: 404, headers: headers, data: Data())
                    }
                },
                plugins: [clock]
            )
        }

        var device: Date { state.withLock { $0.device } }

        func pass(_ seconds: TimeInterval) {
            state.withLock { $0.device += seconds }
        }

        /// Makes a call whose way takes so long, to a server that is so far ahead.
        func call(
            ahead: TimeInterval,
            there: TimeInterval = 0,
            back: TimeInterval = 0,
            fields: HTTPHeaders = [:],
            validation: StatusValidation = .none
        ) async {
            state.withLock { state in
                (state.ahead, state.there, state.back, state.fields) = (ahead, there, back, fields)
            }
            _ = await provider.result(PluginTarget(validation: validation))
        }

        private static func text(_ date: Date) -> String {
            let seconds = Int(date.timeIntervalSince1970.rounded(.down))
            let (days, time) = (seconds / 86_400, seconds % 86_400)
            // 1700006400 is 15 November 2023, a Wednesday.
            let day = 15 + days - 19_676
            let clock = [time / 3600, time / 60 % 60, time % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            return "Wed, \(day) Nov 2023 \(clock.joined(separator: ":")) GMT"
        }
    }

    @Test("Before the first response it is the device's clock")
    func unknown() {
        let world = World()
        #expect(world.clock.offset == nil)
        #expect(world.clock.uncertainty == nil)
        #expect(world.clock.now == world.device)
    }

    @Test(
        "One response tells the difference within half a second and half the time in flight, from which it is corrected",
        arguments: [0, 3600, -3600, 12.25, -0.75],
        [(0, 0), (0.4, 0.4), (2, 2), (0, 4)]
    )
    func single(ahead: TimeInterval, flight: (TimeInterval, TimeInterval)) async throws {
        let world = World()
        await world.call(ahead: ahead, there: flight.0, back: flight.1)
        let offset = try #require(world.clock.offset)
        let bound = 0.5 + (flight.0 + flight.1) / 2
        #expect(abs(offset - ahead) <= bound + 1e-6)
        #expect(abs((world.clock.uncertainty ?? 0) - bound) < 1e-6)
        #expect(abs(world.clock.now.timeIntervalSince(world.device) - offset) < 1e-6)
    }

    @Test("A device that is right exactly on a second: half a second is added, and half the time in flight taken away")
    func correction() async throws {
        let world = World()
        await world.call(ahead: 100, there: 0.1, back: 0.1)
        let offset = try #require(world.clock.offset)
        #expect(abs(offset - (100 + 0.5 - 0.1)) < 1e-6)
    }

    @Test("More responses tell it more closely", arguments: [17.3, -2.9] as [TimeInterval])
    func narrowed(ahead: TimeInterval) async throws {
        let world = World()
        var last = Double.infinity
        for _ in 0..<12 {
            await world.call(ahead: ahead, there: 0.02, back: 0.03)
            let uncertainty = try #require(world.clock.uncertainty)
            #expect(uncertainty <= last + 0.001)
            #expect(abs(try #require(world.clock.offset) - ahead) <= uncertainty)
            last = uncertainty
            world.pass(3.13)
        }
        #expect(last < 0.15)
    }

    @Test("One response that is wrong changes nothing, wherever it comes", arguments: [1, 4])
    func outlier(position: Int) async throws {
        let world = World()
        for index in 0..<8 {
            await world.call(ahead: index == position ? 9_000 : 5)
            if index > 0 { #expect(abs(try #require(world.clock.offset) - 5) <= 0.6) }
            world.pass(2.3)
        }
    }

    @Test("A clock that was set is believed with the second response that says so")
    func set() async throws {
        let world = World()
        for _ in 0..<5 {
            await world.call(ahead: 5)
            world.pass(1.7)
        }
        await world.call(ahead: -300)
        #expect(abs(try #require(world.clock.offset) - 5) <= 0.6)
        await world.call(ahead: -300)
        #expect(abs(try #require(world.clock.offset) + 300) <= 0.6)
    }

    @Test("Two wrong ones that do not agree with each other change nothing")
    func twoOutliers() async throws {
        let world = World()
        for ahead in [5, 5, 9_000, -9_000, 5] as [TimeInterval] { await world.call(ahead: ahead) }
        #expect(abs(try #require(world.clock.offset) - 5) <= 0.5)
    }

    @Test("Clocks that drift apart are followed")
    func drift() async throws {
        let world = World()
        for hour in 0..<50 {
            let ahead = 5 + Double(hour) * 0.2
            await world.call(ahead: ahead)
            #expect(abs(try #require(world.clock.offset) - ahead) <= 1)
            world.pass(3600.37)
        }
    }

    @Test(
        "What tells no time is passed over",
        arguments: [
            ["Age": "7"], ["Age": " 120"], ["Date": "yesterday"], ["Date": ""], ["Age": "x"],
        ] as [HTTPHeaders]
    )
    func passedOver(fields: HTTPHeaders) async {
        let world = World()
        await world.call(ahead: 50, fields: fields)
        #expect(world.clock.offset == nil)
        await world.call(ahead: 5, fields: ["Age": "0"])
        #expect(abs((world.clock.offset ?? 0) - 5) <= 0.5)
    }

    @Test("The status does not matter, nor whether the target accepts it")
    func statuses() async {
        let world = World()
        await world.call(ahead: 40, validation: .successCodes)
        #expect(abs((world.clock.offset ?? 0) - 40) <= 0.5)
    }

    @Test("Another host's response, after a redirect, is passed over")
    func otherHost() async {
        let clock = ServerClockPlugin()
        let transport = StubTransport { request in
            if request.urlRequest.url?.host() == "other.example" {
                return .response(status: 200, headers: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"], data: Data())
            }
            return .response(status: 302, headers: ["Location": "https://other.example/"], data: Data())
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [clock])
        _ = await provider.result(PluginTarget())
        #expect(clock.offset == nil)
        _ = await provider.result(PluginTarget(baseURL: URL(string: "https://other.example") ?? .shop))
        #expect((clock.offset ?? 0) < -900_000_000)
    }

    @Test("A device whose clock is set back while a call is in flight learns nothing from it")
    func setBack() async {
        let world = World()
        await world.call(ahead: 5, there: -100)
        #expect(world.clock.offset == nil)
    }

    @Test("Calls that share an exchange are one sample")
    func sharing() async {
        let clock = ServerClockPlugin()
        let held = HeldTransport(.status(200, ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"]))
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [clock],
            options: .setting(\.sharesInFlight, true)
        )
        async let first = provider.result(PluginTarget())
        async let second = provider.result(PluginTarget())
        await provider.waitForJoinedCalls(2)
        await held.requests.waitForCount(1)
        held.gate.open()
        let failures = await [first.failure, second.failure]
        #expect(failures.allSatisfy { $0 == nil })
        #expect((clock.offset ?? 0) < -900_000_000)
    }
}
