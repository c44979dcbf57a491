// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Limits of bandwidth", .throttled, .timeLimit(.minutes(2)))
struct BandwidthLimitTests {
    private static let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })

    private let server: TestServer
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        server = try TestServer { request in
            request.method == .post ? .init(status: 200, body: request.body) : .init(status: 200, body: Self.content)
        }
    }

    private func target(_ task: HTTPTask = .plain, _ method: HTTPMethod = .get) -> PluginTarget {
        PluginTarget(baseURL: server.baseURL).with {
            $0.task = task
            $0.method = method
        }
    }

    /// Makes a call whose limit is measured by a clock, and returns the response and the time that the call took on it.
    private func timed(_ target: PluginTarget, bytesPerSecond: Int) async throws -> (Response, Duration) {
        let clock = ManualClock()
        let limit = BandwidthLimit(bytesPerSecond: bytesPerSecond, clock: clock)
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient, plugins: [BandwidthLimitPlugin()])
        // Before the call, because its first waits can end before this task continues.
        let start = clock.now
        let handle = provider.request(
            target,
            options: .setting(\.bandwidthLimit, limit),
            on: DispatchQueue(label: "test")
        ) { _ in
        }
        let isDone = Locked(false)
        let ticking = Task {
            while !isDone.withLock({ $0 }) {
                try? await clock.waitForSleepers(within: .seconds(600))
                clock.advance(by: .milliseconds(50))
            }
        }
        let response = try await handle.response()
        let time = start.duration(to: clock.now)
        isDone.withLock { $0 = true }
        // Lets the last wait for a sleeper return.
        async let last: Void? = try? clock.sleep(for: .milliseconds(1))
        await ticking.value
        clock.advance(by: .seconds(1))
        _ = await last
        return (response, time)
    }

    enum Kind: CaseIterable { case memory, file, resumable, upload }

    @Test("A body takes the time of its size at the rate of the limit", arguments: Kind.allCases)
    func duration(_ kind: Kind) async throws {
        let file = folder.url.appendingPathComponent("file")
        let target =
            switch kind {
            case .memory: target()
            case .file: target(.download(to: file))
            case .resumable: target(.download(to: .file(file).resumable))
            case .upload: target(.data(Self.content), .post)
            }
        let (response, time) = try await timed(target, bytesPerSecond: 50_000)
        let data = kind == .file || kind == .resumable ? try Data(contentsOf: file) : response.data
        #expect(data.whole == Self.content.whole)
        // The echo of the upload counts, too.
        let expected = kind == .upload ? Duration.seconds(4) : .seconds(2)
        #expect(time >= expected - .milliseconds(100) && time <= expected + .milliseconds(500), "\(time)")
        let metrics = try #require(response.metrics)
        #expect(metrics.bytesSent == (kind == .upload ? Int64(Self.content.count) : 0))
        #expect(metrics.bytesReceived == Int64(Self.content.count))
        #expect(metrics.total > .zero)
    }

    @Test("Calls share a limit")
    func shared() async throws {
        let limit = BandwidthLimit(bytesPerSecond: 1_000_000)
        let provider = Provider<PluginTarget>(
            transport: SystemTransport.patient,
            plugins: [BandwidthLimitPlugin(limit)]
        )
        let (target, start) = (target(), ContinuousClock.now)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...4 { group.addTask { try await provider.request(target).data.count } }
            for try await count in group { #expect(count == Self.content.count) }
        }
        #expect(start.duration(to: .now) >= .milliseconds(380))
    }

    @Test("A limit of nil, and one that is removed, do not slow down")
    func unlimited() async throws {
        let limit = BandwidthLimit(bytesPerSecond: 1, clock: ManualClock())
        limit.bytesPerSecond = nil
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient, plugins: [BandwidthLimitPlugin()])
        let response = try await provider.request(target(), options: .setting(\.bandwidthLimit, limit))
        #expect(response.data == Self.content)
        limit.bytesPerSecond = -3
        #expect(limit.bytesPerSecond == 1)
    }

    @Test("A call that waits for its limit can be cancelled")
    func cancelling() async throws {
        let clock = ManualClock()
        let limit = BandwidthLimit(bytesPerSecond: 1, clock: clock)
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient, plugins: [BandwidthLimitPlugin()])
        let target = target()
        let call = Task { try await provider.request(target, options: .setting(\.bandwidthLimit, limit)) }
        try await clock.waitForSleepers()
        call.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.stage == .cancelled)
    }

    @Test("Calls that wait go on when the limit is raised, and those that were cancelled leave no wait behind")
    func raised() async throws {
        let limit = BandwidthLimit(bytesPerSecond: 1)
        let provider = Provider<PluginTarget>(
            transport: SystemTransport.patient,
            plugins: [BandwidthLimitPlugin(limit)]
        )
        let target = target()
        let cancelled = (1...10).map { _ in Task { try await provider.request(target) } }
        let waiting = (1...3).map { _ in Task { try await provider.request(target).data.count } }
        while server.requests.count < 3 {
            try Task.checkCancellation()
            await Task.yield()
        }
        for call in cancelled { call.cancel() }
        for call in cancelled { _ = await call.result }
        limit.bytesPerSecond = 100_000_000
        let start = ContinuousClock.now
        for call in waiting { #expect(try await call.value == Self.content.count) }
        #expect(start.duration(to: .now) < .seconds(60))
    }

    @Test("The timeout of the exchange applies while a body waits for its limit", arguments: [true, false])
    func timeout(isUpload: Bool) async throws {
        let limit = BandwidthLimit(bytesPerSecond: 10)
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient, plugins: [BandwidthLimitPlugin()])
        let target = isUpload ? target(.data(Self.content), .post) : target()
        let options = CallOptions.setting(\.bandwidthLimit, limit).setting(\.timeout, .exchange(.milliseconds(300)))
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(target, options: options)
        }
        #expect(error?.kind == .timedOut)
    }
}
