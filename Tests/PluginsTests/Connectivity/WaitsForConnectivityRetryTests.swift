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

@Suite("Calls that fail because there is no network", .throttled, .timeLimit(.minutes(3)))
struct WaitsForConnectivityRetryTests {
    private let source = ManualConnectivity(.offline)
    private let clock = ManualClock()
    private let sent = Recorder<URLRequest>()
    private static let online = Reachability.Status.online(.wifi, isExpensive: false)

    private var reachability: Reachability { Reachability(source: source) }

    private func provider(
        _ plugins: [any Plugin],
        _ answer: @escaping @Sendable (Int) throws -> SampleResponse
    ) -> Provider<PluginTarget> {
        let transport = StubTransport { [sent] request in
            sent.append(request.urlRequest)
            return try answer(sent.count)
        }
        return Provider(transport: transport, plugins: plugins)
    }

    @Test(
        "A call that failed because there is no network waits and is sent again",
        arguments: [
            .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .timedOut,
        ] as [URLError.Code]
    )
    func sendsAgain(_ code: URLError.Code) async throws {
        source.set(Self.online)
        let source = source
        let plugin = WaitsForConnectivityPlugin(reachability, clock: clock)
        let provider = provider([plugin]) { number in
            guard number == 1 else { return .response(status: 200, data: Data()) }
            source.set(.offline)
            throw URLError(code)
        }
        async let result = provider.result(PluginTarget())
        try await clock.waitForSleepers()
        #expect(sent.count == 1)
        source.set(Self.online)
        #expect(await result.failure == nil)
        #expect(sent.count == 2)
    }

    @Test("A call is not sent again after another failure", arguments: [true, false])
    func otherFailures(isOnline: Bool) async {
        let codes: [URLError.Code] =
            isOnline
            ? [.cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .timedOut]
            : [.serverCertificateUntrusted, .secureConnectionFailed, .httpTooManyRedirects, .dataLengthExceedsMaximum]
        for code in codes {
            source.set(Self.online)
            let source = source
            let plugin = WaitsForConnectivityPlugin(reachability, clock: clock)
            let before = sent.count
            let provider = provider([plugin]) { _ in
                if !isOnline { source.set(.offline) }
                throw URLError(code)
            }
            #expect(await provider.result(PluginTarget()).failure != nil)
            #expect(sent.count == before + 1, "\(code)")
        }
    }

    @Test(
        "A call is sent again only if that is safe",
        arguments: [
            (.get, 2), (.head, 2), (.put, 2), (.delete, 2), (.options, 2), (.query, 2), (.post, 1), (.patch, 1),
            ("BUY", 1),
        ] as [(HTTPMethod, Int)]
    )
    func idempotent(method: HTTPMethod, attempts: Int) async {
        source.set(Self.online)
        let plugin = WaitsForConnectivityPlugin(reachability, clock: clock)
        let provider = provider([plugin]) { _ in throw URLError(.notConnectedToInternet) }
        #expect(await provider.result(PluginTarget(method: method)).failure?.kind == .offline)
        #expect(sent.count == attempts)
        let keyed = PluginTarget(method: method, headers: ["Idempotency-Key": "7"])
        #expect(await provider.result(keyed).failure?.kind == .offline)
        #expect(sent.count == attempts + 2)
    }

    @Test("It is sent again as often as the plugin says, and not for a target that opts out", arguments: [0, 1, 3])
    func repetitions(_ count: Int) async {
        source.set(Self.online)
        let offline: @Sendable (Int) throws -> SampleResponse = { _ in throw URLError(.notConnectedToInternet) }
        let plugin = WaitsForConnectivityPlugin(reachability, repetitions: count, clock: clock)
        #expect(await provider([plugin], offline).result(PluginTarget()).failure?.kind == .offline)
        #expect(sent.count == count + 1)
        let excepting = WaitsForConnectivityPlugin(reachability, repetitions: count, clock: clock) { _ in false }
        #expect(await provider([excepting], offline).result(PluginTarget()).failure?.kind == .offline)
        #expect(sent.count == count + 2)
    }

    @Test("Repetitions of other plugins do not count", arguments: [PluginPlace.authentication, .observation])
    func ownCount(_ place: PluginPlace) async {
        source.set(Self.online)
        let plugin = WaitsForConnectivityPlugin(reachability, clock: clock)
        let other = RecordingPlugin(
            place: place,
            retry: { result, _ in
                guard case .success(let response) = result, response.statusCode == 503 else { return .doNotRetry }
                return .retry(after: .zero)
            }
        )
        let provider = provider([plugin, other]) { number in
            switch number {
            case 1, 2: return .response(status: 503, data: Data())
            case 3, 5: throw URLError(.notConnectedToInternet)
            case 4: return .response(status: 503, data: Data())
            case 6: throw URLError(.notConnectedToInternet)
            default: return .response(status: 200, data: Data())
            }
        }
        // The network is back at once: the call is sent again after the first failure, not after the second.
        #expect(await provider.result(PluginTarget()).failure?.kind == .offline)
        #expect(sent.count == 5)
        // Another call has its own count.
        #expect(await provider.result(PluginTarget()).failure == nil)
    }
}
