// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("NetworkConditions", .throttled, .timeLimit(.minutes(2)))
struct NetworkConditionsTests {
    private let base = URL(string: "https://shop.example") ?? URL(fileURLWithPath: "/")

    private static func stub(_ size: Int = 1_000) -> StubTransport {
        let headers: HTTPHeaders = ["Content-Length": "\(size)"]
        return StubTransport(.response(status: 200, headers: headers, data: Data(repeating: 7, count: size)))
    }

    /// Advances the clock from one wait to the next until the call has ended; returns the time that passed.
    private func run<Value: Sendable>(
        _ clock: ManualClock,
        _ call: @escaping @Sendable () async throws -> Value
    ) async -> (Result<Value, any Error>, Duration) {
        let task = Task { () async -> Result<Value, any Error> in
            do { return .success(try await call()) } catch { return .failure(error) }
        }
        let driver = Task {
            while !Task.isCancelled {
                try? await clock.waitForSleepers(within: .seconds(600))
                if !Task.isCancelled { clock.advanceToNextDeadline() }
            }
        }
        let result = await task.value
        driver.cancel()
        await driver.value
        return (result, clock.now.offset)
    }

    @Test(
        "Perfect conditions change nothing",
        .serialized,
        .timeLimit(.minutes(3)),
        arguments: Matrix.rows(TransportConformance.requirements, oneOf: 3)
    )
    func conformance(requirement: TransportRequirement) async throws {
        try await requirement.check(NetworkConditions().transport(over: SystemTransport.another()))
    }

    @Test("A transport that returns each body in memory is slowed down like others", arguments: [true, false])
    func inMemory(streamsResponses: Bool) async throws {
        struct Memory: Transport {
            let streamsResponses: Bool

            func send(_ request: TransportRequest) async throws -> TransportResponse {
                if case .stream = request.destination, !streamsResponses { throw URLError(.unsupportedURL) }
                return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data("whole".utf8)))
            }
        }
        let clock = ManualClock()
        let transport = NetworkConditions(downloadRate: 5)
            .transport(over: Memory(streamsResponses: streamsResponses), clock: clock)
        let request = try TestCall().request(to: base)
        let (result, time) = await run(clock) { try await transport.send(request) }
        #expect(try result.get().text == "whole")
        #expect(time == .seconds(1))
    }

    @Test("Latency and bandwidth take the clock's time, and the progress rises with it")
    func durations() async throws {
        let clock = ManualClock()
        let conditions = NetworkConditions(latency: .milliseconds(200), downloadRate: 1_000, uploadRate: 500)
        let transport = conditions.transport(over: Self.stub(), clock: clock)
        let steps = Recorder<TransferProgress>()
        let call = TestCall(method: "POST", body: .data(Data(count: 250)), progress: { steps.append($0) })
        let request = try call.request(to: base)
        let (result, time) = await run(clock) { try await transport.send(request) }
        #expect(try result.get().bytes == Data(repeating: 7, count: 1_000))
        #expect(time == .milliseconds(1_700))
        let uploads = steps.elements.filter { $0.direction == .upload }.map(\.completed)
        #expect(uploads == [50, 100, 150, 200, 250])
        let downloads = steps.elements.filter { $0.direction == .download }
        #expect(downloads.map(\.completed) == (1...10).map { Int64($0) * 100 } + [1_000])
        #expect(downloads.allSatisfy { $0.total == 1_000 })
    }

    @Test("A stream is slowed down as it is read")
    func streams() async throws {
        let clock = ManualClock()
        let transport = NetworkConditions(downloadRate: 1_000).transport(over: Self.stub(), clock: clock)
        let request = try TestCall(destination: .stream(buffer: 400)).request(to: base)
        guard case .stream(let body) = try await transport.send(request).body else {
            Issue.record("no stream")
            return
        }
        #expect(clock.now.offset == .zero)
        let (sizes, time) = await run(clock) {
            var sizes: [Int] = []
            for try await piece in body { sizes.append(piece.count) }
            return sizes
        }
        #expect(try sizes.get() == Array(repeating: 100, count: 10))
        #expect(time == .seconds(1))
    }

    @Test("A file is written only when the whole body has arrived", arguments: [nil, 500])
    func files(offlineAfter: Int?) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", Data("old".utf8))
        let clock = ManualClock()
        let conditions = NetworkConditions(downloadRate: 1_000, offlineAfter: offlineAfter)
        let transport = conditions.transport(over: Self.stub(), clock: clock)
        let request = try TestCall(destination: .file(file)).request(to: base)
        let (result, _) = await run(clock) { try await transport.send(request) }
        if offlineAfter == nil {
            #expect(try result.get().bytes.count == 1_000)
        } else {
            #expect(throws: URLError(.networkConnectionLost)) { try result.get() }
            #expect(try Data(contentsOf: file) == Data("old".utf8))
        }
        #expect(folder.names == ["a"])
    }

    @Test("The timeout of a request is obeyed while it waits, sends and receives")
    func timeouts() async throws {
        let slow = [
            NetworkConditions(latency: .seconds(10)), NetworkConditions(uploadRate: 10),
            NetworkConditions(downloadRate: 10),
        ]
        for conditions in slow {
            let clock = ManualClock()
            let transport = conditions.transport(over: Self.stub(), clock: clock)
            let call = TestCall(method: "PUT", body: .data(Data(count: 1_000)), timeout: .milliseconds(1_500))
            let request = try call.request(to: base)
            let (result, time) = await run(clock) { try await transport.send(request) }
            #expect(throws: URLError(.timedOut)) { try result.get() }
            #expect(time == .milliseconds(1_500))
        }
    }

    @Test("A call can be cancelled while it waits")
    func cancellation() async throws {
        let clock = ManualClock()
        let transport = NetworkConditions.edge.transport(over: Self.stub(), clock: clock)
        let request = try TestCall().request(to: base)
        let task = Task { try await transport.send(request) }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    /// The results of calls that are made one after the other.
    private func results(_ conditions: NetworkConditions, seed: UInt64, count: Int = 40) async throws -> [String] {
        let transport = conditions.transport(over: Self.stub(10), seed: seed, clock: ManualClock())
        var results: [String] = []
        for _ in 0..<count {
            do {
                results.append("\(try await transport.send(TestCall().request(to: base)).head.statusCode)")
            } catch let error as URLError {
                results.append("\(error.code.rawValue)")
            }
        }
        return results
    }

    @Test("The same seed has the same losses and errors, another seed other ones")
    func seeds() async throws {
        let conditions = NetworkConditions(lossRate: 0.3, errorRate: 0.3, errorStatus: 502)
        let first = try await results(conditions, seed: 1)
        #expect(Set(first) == ["200", "502", "-1005"])
        #expect(try await results(conditions, seed: 1) == first)
        #expect(try await results(conditions, seed: 2) != first)
        #expect(try await results(NetworkConditions(lossRate: 1), seed: 1).allSatisfy { $0 == "-1005" })
        #expect(try await results(NetworkConditions(errorRate: 1), seed: 1).allSatisfy { $0 == "503" })
        // An error instead of a loss does not change the calls that follow.
        let losses = try await results(NetworkConditions(lossRate: 0.3), seed: 1)
        #expect(losses.map { $0 == "-1005" } == first.map { $0 == "-1005" })
    }

    @Test("Latency varies within its limits, and is never negative")
    func variance() async throws {
        let clock = ManualClock()
        let conditions = NetworkConditions(latency: .milliseconds(10), variance: .milliseconds(30))
        let transport = conditions.transport(over: Self.stub(), seed: 3, clock: clock)
        var times: Set<Duration> = []
        for _ in 0..<20 {
            let start = clock.now.offset
            let request = try TestCall().request(to: base)
            let (_, end) = await run(clock) { try await transport.send(request) }
            times.insert(end - start)
        }
        #expect(times.count > 5)
        #expect(times.allSatisfy { $0 >= .zero && $0 <= .milliseconds(40) })
    }

    @Test("After its bytes, the call in progress is lost, and later ones are offline")
    func offline() async throws {
        let transport = NetworkConditions.offline(after: 1_500).transport(over: Self.stub())
        let request = try TestCall().request(to: base)
        #expect(try await transport.send(request).bytes.count == 1_000)
        await #expect(throws: URLError(.networkConnectionLost)) { try await transport.send(request) }
        await #expect(throws: URLError(.notConnectedToInternet)) { try await transport.send(request) }
        let offline = NetworkConditions.offline.transport(over: Self.stub())
        await #expect(throws: URLError(.notConnectedToInternet)) { try await offline.send(request) }
    }

    @Test("A captive portal answers http with its page, and breaks https")
    func captivePortal() async throws {
        let clock = ManualClock()
        let transport = NetworkConditions.captivePortal.transport(over: Self.stub(), clock: clock)
        let plain = try TestCall().request(to: try #require(URL(string: "http://shop.example")))
        let (page, _) = await run(clock) { try await transport.send(plain) }
        #expect(try page.get().head.headers[.contentType] == "text/html; charset=utf-8")
        let secure = try TestCall().request(to: base)
        let (error, _) = await run(clock) { try await transport.send(secure) }
        #expect(throws: URLError(.serverCertificateUntrusted)) { try error.get() }
    }

    @Test("Extreme values do not trap")
    func extremes() async throws {
        let conditions = NetworkConditions(
            latency: .seconds(-5),
            variance: .zero,
            downloadRate: 0,
            uploadRate: -1,
            lossRate: -1,
            errorRate: .nan,
            offlineAfter: .max
        )
        let clock = ManualClock()
        let transport = conditions.transport(over: Self.stub(3), clock: clock)
        let request = try TestCall(method: "PUT", body: .data(Data(count: 2))).request(to: base)
        let (result, _) = await run(clock) { try await transport.send(request) }
        #expect(try result.get().bytes.count == 3)
        let late = NetworkConditions(latency: .seconds(Int64.max), variance: .seconds(Int64.max))
        let waiting = late.transport(over: Self.stub(3), clock: clock)
        let task = Task { try await waiting.send(request) }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
    }
}
