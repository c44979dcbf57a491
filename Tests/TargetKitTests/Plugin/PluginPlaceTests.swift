// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Places of plugins", .throttled, .timeLimit(.minutes(2)))
struct PluginPlaceTests {
    /// Names the request after itself, and takes the secret fields of its place.
    struct Named: Plugin {
        let name: String
        let place: PluginPlace
        let log: Recorder<String>

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            let before = request.value(forHTTPHeaderField: "X-Seen").map { $0 + " " } ?? ""
            request.setValue(before + name, forHTTPHeaderField: "X-Seen")
            log.append("prepare \(name)")
            return request
        }

        func willSend(_ request: URLRequest, context: RequestContext) { log.append("willSend \(name)") }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            log.append("exchange \(name)")
            return try await next(request)
        }

        func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
            log.append("didReceive \(name)")
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            log.append("retry \(name)")
            return .doNotRetry
        }

        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            log.append("process \(name)")
            return result
        }

        func didFinish(_ call: FinishedCall, context: RequestContext) { log.append("didFinish \(name)") }
    }

    /// Between authentication and signing.
    private static let compression = PluginPlace(rawValue: PluginPlace.authentication.rawValue + 50)

    private static let places: [(name: String, place: PluginPlace)] = [
        ("start", .start), ("environment", .environment), ("connectivity", .connectivity), ("failover", .failover),
        ("admission", .admission), ("standard", .standard), ("retrying", .retrying),
        ("authentication", .authentication), ("compression", compression), ("caching", .caching),
        ("signing", .signing),
        ("errorHandling", .errorHandling), ("observation", .observation),
    ]

    /// The order in which the plugins are asked to retry.
    private static let retryOrder = [
        "authentication", "compression", "failover", "retrying", "connectivity", "admission", "standard", "start",
        "environment", "signing", "caching", "errorHandling", "observation",
    ]

    /// The order in which they surround an exchange.
    private static let exchangeOrder = [
        "start", "environment", "caching", "connectivity", "failover", "admission", "standard", "retrying",
        "authentication", "compression", "signing", "errorHandling", "observation",
    ]

    private func log(of plugins: [(name: String, place: PluginPlace)], isShared: Bool) async throws -> [String] {
        let log = Recorder<String>()
        let sent = Recorder<String?>()
        let provider = Provider<TestTarget>(
            transport: StubTransport { request in
                sent.append(request.urlRequest.value(forHTTPHeaderField: "X-Seen"))
                return .response(status: 200, data: Data())
            },
            plugins: plugins.map { Named(name: $0.name, place: $0.place, log: log) },
            options: .setting(\.sharesInFlight, isShared)
        )
        _ = try await provider.request(TestTarget(.example))
        return log.elements + sent.elements.compactMap { $0 }
    }

    @Test("The places are at the positions of the documentation, which leave room between them")
    func positions() {
        let places: [PluginPlace] = [
            .start, .environment, .connectivity, .failover, .admission, .standard, .retrying, .authentication, .caching,
            .signing, .errorHandling, .observation,
        ]
        #expect(places.map(\.rawValue) == [50, 100, 150, 200, 300, 400, 450, 500, 585, 600, 650, 700])
    }

    @Test("Every hook visits the plugins by place, whatever their order in the array", arguments: [false, true])
    func permutations(isShared: Bool) async throws {
        var random = SeededGenerator(seed: 8)
        let names = Self.places.map(\.name)
        let expected =
            names.map { "prepare \($0)" } + names.map { "willSend \($0)" }
            + Self.exchangeOrder.map { "exchange \($0)" } + names.map { "didReceive \($0)" }
            + Self.retryOrder.map { "retry \($0)" } + names.map { "process \($0)" }
            + names.map { "didFinish \($0)" } + [names.joined(separator: " ")]
        for _ in 0..<300 {
            let plugins = Self.places.shuffled(using: &random)
            let log = try await log(of: plugins, isShared: isShared)
            try #require(log == expected, "\(plugins.map(\.name))")
        }
    }

    @Test("A place between two others directly follows the smaller one in each order", arguments: PluginHookTests.hooks)
    func between(hook: String) async throws {
        for (index, lower) in Self.places.enumerated() {
            let next = Self.places.dropFirst(index + 1).first?.place.rawValue ?? 900
            let middle = PluginPlace(rawValue: (lower.place.rawValue + next) / 2)
            let log = try await log(of: [("middle", middle)] + Self.places.shuffled(), isShared: false)
            let order = log.filter { $0.hasPrefix(hook + " ") }
            let place = try #require(order.firstIndex(of: "\(hook) \(lower.name)"))
            #expect(order[place + 1] == "\(hook) middle", "\(lower.name)")
        }
    }

    @Test("A place before all others is the first in each order", arguments: PluginHookTests.hooks)
    func first(hook: String) async throws {
        let log = try await log(of: Self.places + [("first", PluginPlace(rawValue: 0))], isShared: false)
        #expect(log.first { $0.hasPrefix(hook + " ") } == "\(hook) first")
    }

    @Test("Plugins of one place keep the order of the array in every hook")
    func samePlace() async throws {
        let names = ["c", "a", "d", "b"]
        for place in [PluginPlace.standard, .signing, .authentication] {
            let log = try await log(of: names.map { ($0, place) }, isShared: false)
            let hooks = PluginHookTests.hooks
            #expect(log == hooks.flatMap { hook in names.map { "\(hook) \($0)" } } + ["c a d b"])
        }
    }

    @Test("A plugin that names no place stands at the standard one, and its context has all secret fields")
    func defaults() async throws {
        struct Idle: Plugin {}
        struct Secret: Plugin {
            let secretHeaders: Set<HTTPHeaderName> = ["X-Key"]
        }
        #expect(Idle().place == .standard)
        #expect(Idle().secretHeaders.isEmpty)
        let seen = Recorder<Set<HTTPHeaderName>>()
        let plugin = RecordingPlugin(prepare: { request, context in
            seen.append(context.secretHeaders)
            return request
        })
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [plugin, Idle(), Secret()])
        _ = try await provider.request(TestTarget(.example))
        #expect(seen.elements.first?.contains("x-key") == true)
        #expect(seen.elements.first?.contains(.authorization) == true)
    }
}
