// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Shared exchanges", .throttled, .timeLimit(.minutes(3)))
struct SharedExchangeTests {
    let plugin = RecordingPlugin()
    let transport = HeldTransport { request in
        .response(status: 200, data: Data("\"\(request.urlRequest.url?.path ?? "")\"".utf8))
    }
    let target = TestTarget(.example)
    let queue = DispatchQueue(label: "test")

    func provider(
        plugins: [any Plugin] = [],
        options: CallOptions = .setting(\.sharesInFlight, true)
    ) -> Provider<MultiTarget> {
        Provider(transport: transport, plugins: [plugin] + plugins, options: options)
    }

    /// Calls of those targets, all of them started.
    func calls(
        _ provider: Provider<MultiTarget>,
        _ targets: [any TargetType],
        options: CallOptions = CallOptions()
    ) -> [Task<Result<Response, any Error>, Never>] {
        var calls: [Task<Result<Response, any Error>, Never>] = []
        for target in targets {
            let handle = provider.request(MultiTarget(target), options: options, on: queue) { _ in }
            calls.append(
                Task {
                    await withTaskCancellationHandler {
                        do { return .success(try await handle.response()) } catch { return .failure(error) }
                    } onCancel: {
                        handle.cancel()
                    }
                }
            )
        }
        return calls
    }

    func count(_ event: (RecordingPlugin.Event) -> Bool) -> Int {
        plugin.events.count(where: event)
    }

    /// Returns when that many calls wait for what they share.
    func joined(_ count: Int, _ provider: Provider<MultiTarget>) async {
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < count { await Task.yield() }
    }

    @Test("Identical calls have one exchange, one willSend and didReceive, and each its own prepare and process")
    func identical() async throws {
        let provider = provider()
        let calls = calls(provider, [target, target, target])
        await joined(3, provider)
        await transport.release(0)
        for call in calls { #expect(try await call.value.get().string() == "\"/v1/things\"") }
        #expect(transport.sent.count == 1)
        #expect(count { $0 == .prepare(attempt: 0) } == 3)
        #expect(count { $0 == .willSend(attempt: 0) } == 1)
        #expect(count { $0 == .didReceive(attempt: 0, .status(200)) } == 1)
        #expect(count { $0 == .process(.status(200)) } == 3)
    }

    @Test("Calls with equal dictionaries encoded by the caller's JSONEncoder share")
    func customEncoder() async throws {
        let provider = provider()
        let targets = (0..<8).map { _ in
            let values = Dictionary(uniqueKeysWithValues: (0..<40).shuffled().map { ("key\($0)", $0) })
            return TestTarget(.example).with {
                $0.method = .post
                $0.task = .json(values, encoder: JSONEncoder())
            }
        }
        let calls = calls(provider, targets)
        await joined(8, provider)
        await transport.sent.waitForCount(1)
        for index in transport.sent.elements.indices { await transport.release(index) }
        for call in calls { _ = await call.value }
        #expect(transport.sent.count == 1)
    }

    @Test(
        "Calls that differ in method, URL, header field, body, file, destination or validation do not share",
        arguments: [
            TestTarget(.example).with { $0.path = "/others" },
            TestTarget(.example).with { $0.method = .delete },
            TestTarget(.example).with { $0.headers = ["X-A": "b"] },
            TestTarget(.example).with { $0.task = .parameters(["a": 1]) },
            TestTarget(.example).with {
                $0.method = .post; $0.task = .data(Data("a".utf8))
            },
            TestTarget(.example).with {
                $0.method = .post; $0.task = .upload(file: URL(filePath: #filePath))
            },
            TestTarget(.example).with { $0.task = .plain.limit(bytes: 9) },
            TestTarget(.example).with { $0.validation = .successCodes },
        ]
    )
    func different(other: TestTarget) async throws {
        let provider = provider()
        let calls = calls(provider, [target, other, other])
        await joined(3, provider)
        await transport.release(0)
        await transport.release(1)
        for call in calls { _ = await call.value }
        #expect(transport.sent.count == 2)
    }

    @Test("Calls that a plugin makes different do not share")
    func preparedApart() async throws {
        struct Numbers: Plugin {
            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                var request = request
                request.setValue("\(context.id)", forHTTPHeaderField: "X-Call")
                return request
            }
        }
        let calls = calls(provider(plugins: [Numbers()]), [target, target])
        await transport.release(0)
        await transport.release(1)
        for call in calls { _ = try await call.value.get() }
        #expect(transport.sent.count == 2)
    }

    /// Whether calls share by the provider, the target and the call (`nil` where it is not set), and what comes of it.
    static let deciders: [(provider: Bool?, target: Bool?, call: Bool?, isShared: Bool)] = [
        (nil, nil, nil, false), (true, nil, nil, true), (false, true, nil, true), (true, false, nil, false),
        (nil, false, true, true), (true, true, false, false),
    ]

    @Test(
        "Whether calls share is set by the provider, the target and the call, the later overriding",
        arguments: deciders
    )
    func who(row: (provider: Bool?, target: Bool?, call: Bool?, isShared: Bool)) async throws {
        func options(_ shares: Bool?) -> CallOptions { shares.map { .setting(\.sharesInFlight, $0) } ?? CallOptions() }
        let isShared = row.isShared
        let provider = provider(options: options(row.provider))
        let target = target.with { $0.options = options(row.target) }
        let calls = calls(provider, [target, target], options: options(row.call))
        if isShared { await joined(2, provider) } else { await transport.sent.waitForCount(2) }
        await transport.release(0)
        if !isShared { await transport.release(1) }
        for call in calls { _ = try await call.value.get() }
        #expect(transport.sent.count == (isShared ? 1 : 2))
    }

    @Test("Cancelling the call that began leaves the others what they wait for")
    func cancelledLeader() async throws {
        let provider = provider()
        let calls = calls(provider, [target, target])
        await joined(2, provider)
        await transport.sent.waitForCount(1)
        calls[0].cancel()
        guard case .failure(let error as TargetKitError) = await calls[0].value else {
            Issue.record("the cancelled call has brought a response")
            return
        }
        #expect(error.stage == .cancelled)
        #expect(transport.cancelled.fulfilledCount == 0)
        await transport.release(0)
        #expect(try await calls[1].value.get().statusCode == 200)
        #expect(transport.sent.count == 1)
    }

    @Test("The exchange is cancelled with the last call that waits for it, and the next call begins another")
    func lastLeaves() async throws {
        let provider = provider()
        let calls = calls(provider, [target, target])
        await joined(2, provider)
        await transport.sent.waitForCount(1)
        for call in calls { call.cancel() }
        for call in calls {
            guard case .failure(let error as TargetKitError) = await call.value else {
                Issue.record("a cancelled call has brought a response")
                return
            }
            #expect(error.stage == .cancelled)
        }
        await transport.cancelled.wait()
        // The exchange ends on its own, after the calls that have left it.
        while !Task.isCancelled, count({ $0 == .didReceive(attempt: 0, .failure(.cancelled)) }) == 0 {
            await Task.yield()
        }
        #expect(count { $0 == .didReceive(attempt: 0, .failure(.cancelled)) } == 1)
        async let next = provider.request(MultiTarget(target))
        await transport.release(1)
        #expect(try await next.statusCode == 200)
    }

    @Test("A failure before the send leaves nothing behind")
    func failureBeforeSend() async throws {
        let refuses = Recorder<Bool>()
        refuses.append(true)
        let provider = provider(
            plugins: [
                RecordingPlugin(
                    prepare: { request, _ in
                        if refuses.count == 1 { throw Boom() }
                        return request
                    }
                )
            ]
        )
        await #expect(throws: TargetKitError.self) { try await provider.request(MultiTarget(target)) }
        refuses.append(false)
        async let next = provider.request(MultiTarget(target))
        await transport.release(0)
        #expect(try await next.statusCode == 200)
        #expect(transport.sent.count == 1)
    }

    @Test("Each has its own decoding, validation target and error")
    func ownDecoding() async throws {
        let provider = provider()
        async let text = provider.request(MultiTarget(target), as: String.self)
        await transport.sent.waitForCount(1)
        async let number = provider.request(MultiTarget(Twin()), as: Int.self)
        await joined(2, provider)
        await transport.release(0)
        #expect(try await text == "/v1/things")
        do {
            _ = try await number
            Issue.record("a text was decoded as a number")
        } catch let error as TargetKitError {
            #expect(error.stage == .decoding)
            #expect(error.target is Twin)
            #expect(error.description.hasPrefix("Twin"))
        }
    }

    /// Another type that asks for the same.
    struct Twin: TargetType {
        var baseURL: URL { .example }
        var path: RequestPath { "/things" }
        var validation: StatusValidation { .none }
    }

    @Test("The plugins are asked once for all calls whether to retry; the attempts are those of the exchange")
    func retries() async throws {
        let attempts = Recorder<Int>()
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [
                plugin,
                RecordingPlugin(
                    retry: { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry },
                    process: { result, _ in result }
                ),
                AttemptPlugin(attempts: attempts),
            ],
            options: .setting(\.sharesInFlight, true)
        )
        let calls = calls(provider, [target, target])
        await joined(2, provider)
        await transport.release(0)
        await transport.release(1)
        for call in calls { _ = try await call.value.get() }
        #expect(transport.sent.count == 2)
        #expect(count { $0 == .didReceive(attempt: 1, .status(200)) } == 1)
        #expect(attempts.elements == [0, 0])
    }

    @Test("Every hook of an exchange that a retried call begins knows the attempt of the call")
    func attemptOfRetriedCall() async throws {
        let attempts = Recorder<[Int]>()
        let provider = Provider<MultiTarget>(
            transport: StubTransport(.json("{}")),
            plugins: [
                RecordingPlugin(
                    retry: { result, context in
                        if case .failure = result, context.attempt == 0 { .retry(after: .zero) } else { .doNotRetry }
                    },
                    process: { result, _ in result }
                ),
                HookAttemptPlugin(attempts: attempts),
            ],
            options: .setting(\.sharesInFlight, true)
        )
        // The body isn't a number, so each attempt of the call fails after its exchange.
        await #expect(throws: TargetKitError.self) {
            try await provider.request(MultiTarget(target), as: Int.self)
        }
        #expect(attempts.elements == [[0, 0], [1, 1]])
    }

    /// Records the attempts that `willSend` and `exchange` of one exchange know.
    struct HookAttemptPlugin: Plugin {
        let attempts: Recorder<[Int]>
        private let sent = PluginStorage<Int>()

        init(attempts: Recorder<[Int]>) {
            self.attempts = attempts
        }

        func willSend(_ request: URLRequest, context: RequestContext) { context[sent] = context.attempt }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            attempts.append([context[sent] ?? -1, context.attempt])
            return try await next(request)
        }
    }

    struct AttemptPlugin: Plugin {
        let attempts: Recorder<Int>

        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            attempts.append(context.attempt)
            return result
        }
    }

    @Test("A released provider still finishes the exchanges that its calls share")
    func droppedProvider() async throws {
        var provider: Provider<MultiTarget>? = provider()
        let calls = calls(try #require(provider), [target, target])
        await joined(2, try #require(provider))
        let exchanges = try #require(provider).configuration.sharedExchanges
        weak let dropped = provider
        provider = nil
        await transport.release(0)
        for call in calls { #expect(try await call.value.get().statusCode == 200) }
        while !Task.isCancelled, dropped != nil { await Task.yield() }
        #expect(transport.sent.count == 1)
        #expect(exchanges.count == 0 && exchanges.waiterCount == 0)
    }
}
