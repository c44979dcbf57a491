// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
@testable import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(Observation)
import Observation
#endif

@Suite("A resource", .throttled, .timeLimit(.minutes(2)))
struct ResourceTests {
    struct Counter: Codable, Sendable, Equatable {
        var count: Int
        var name = ""
    }

    private let clock = ManualClock()
    private let loads = LoadServer()

    private func resource() -> Resource<Counter> {
        Resource(Provider(transport: loads), PluginTarget(validation: .successCodes), as: Counter.self, clock: clock)
    }

    /// A resource that has loaded a count.
    private func loaded(_ count: Int) async throws -> Resource<Counter> {
        let resource = resource()
        let call = Task { try await resource.refresh() }
        try await loads.next().finish(count)
        _ = try await call.value
        return resource
    }

    @Test("has nothing before the first load, then the value and its age")
    func load() async throws {
        let resource = resource()
        #expect(resource.state.value == nil)
        #expect(resource.age == nil)
        #expect(resource.isStale)
        let call = Task { try await resource.refreshIfStale() }
        let load = try await loads.next()
        #expect(resource.state.isLoading)
        load.finish(3)
        #expect(try await call.value == Counter(count: 3))
        #expect(resource.state.value == Counter(count: 3))
        #expect(!resource.state.isLoading)
        #expect(!resource.isStale)
        clock.advance(by: .seconds(59))
        #expect(resource.age == .seconds(59))
        #expect(try await resource.refreshIfStale().count == 3)
        clock.advance(by: .seconds(1))
        #expect(resource.isStale)
        let second = Task { try await resource.refreshIfStale() }
        try await loads.next().finish(4)
        #expect(try await second.value.count == 4)
        resource.invalidate()
        #expect(resource.isStale)
        #expect(resource.state.value?.count == 4)
        #expect(loads.count == 2)
    }

    @Test("loads once for all tasks that wait")
    func shared() async throws {
        let resource = resource()
        let calls = (1...20).map { _ in Task { try await resource.refresh() } }
        let load = try await loads.next()
        while resource.content.value.load?.waiterCount != 20 {
            try Task.checkCancellation()
            await Task.yield()
        }
        load.finish(1)
        for call in calls { #expect(try await call.value.count == 1) }
        #expect(loads.count == 1)
    }

    @Test("is empty after a reset, which cancels the load in progress")
    func reset() async throws {
        let resource = try await loaded(3)
        resource.invalidate()
        let call = Task { try await resource.refresh() }
        let load = try await loads.next()
        resource.reset()
        await load.cancelled.wait()
        load.finish(4)
        _ = await call.result
        #expect(resource.state.value == nil)
        #expect(!resource.state.isLoading)
        #expect(resource.age == nil)
        let next = Task { try await resource.refreshIfStale() }
        try await loads.next().finish(5)
        #expect(try await next.value.count == 5)
    }

    @Test("is not shown with the change of an update from before a reset", arguments: [true, false])
    func resetDuringUpdate(fails: Bool) async throws {
        let resource = try await loaded(3)
        let gate = Gate()
        let update = Task {
            try await resource.update(optimistically: { $0.count = 9 }) {
                await gate.wait()
                if fails { throw URLError(.timedOut) }
            }
        }
        for await state in resource.updates where state.value?.count == 9 { break }
        resource.reset()
        resource.set(Counter(count: 1))
        gate.open()
        _ = await update.result
        #expect(resource.state.value?.count == 1)
    }

    @Test("uses a fresh response of the HTTP cache first, with its age, and later lets the server confirm it")
    func cached() async throws {
        let requests = Recorder<URLRequest>()
        let transport = StubTransport { request in
            requests.append(request.urlRequest)
            let isValidation = request.urlRequest.value(forHTTPHeaderField: "If-None-Match") != nil
            return isValidation
                ? .response(status: 304, data: Data())
                : .response(
                    status: 200,
                    headers: ["Cache-Control": "max-age=600", "ETag": "\"1\"", "Age": "40"],
                    data: Data(#"{"count":1,"name":""}"#.utf8)
                )
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [ResponseCachePlugin(ResponseCache())])
        _ = try await provider.request(PluginTarget(validation: .successCodes))
        let resource = Resource(
            provider,
            PluginTarget(validation: .successCodes),
            as: Counter.self,
            options: .setting(\.cachePolicy, .staleOnFailure),
            clock: clock
        )
        try await resource.refreshIfStale()
        #expect(requests.count == 1)
        #expect(try #require(resource.age) >= .seconds(40))
        clock.advance(by: .seconds(20))
        try await resource.refreshIfStale()
        #expect(requests.count == 2)
        #expect(resource.age == .zero)
        try await resource.refresh()
        #expect(requests.count == 3)
        resource.invalidate()
        try await resource.refreshIfStale()
        #expect(requests.count == 4)
    }

    @Test("keeps the policy of its options", arguments: [CachePolicy.onlyCached, .reload, .cachedElseLoad])
    func policy(_ policy: CachePolicy) async throws {
        let requests = Recorder<URLRequest>()
        let transport = StubTransport { request in
            requests.append(request.urlRequest)
            return .cacheable(#"{"count":1,"name":""}"#)
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [ResponseCachePlugin(ResponseCache())])
        let target = PluginTarget(validation: .successCodes)
        _ = try await provider.request(target)
        let resource = Resource(provider, target, as: Counter.self, options: .setting(\.cachePolicy, policy))
        for _ in 1...2 { try await resource.refresh() }
        #expect(requests.count == (policy == .reload ? 3 : 1))
        #expect(requests.elements.allSatisfy { $0.value(forHTTPHeaderField: "If-None-Match") == nil })
    }

    @Test("keeps the value when a load fails, and shows the error until one succeeds")
    func failure() async throws {
        let resource = try await loaded(1)
        let call = Task { try await resource.refresh() }
        try await loads.next().fail(.timedOut)
        await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(resource.state.error?.kind == .timedOut)
        #expect(resource.state.value?.count == 1)
        #expect(!resource.state.isLoading)
        let second = Task { try await resource.refresh() }
        try await loads.next().finish(2)
        _ = try await second.value
        #expect(resource.state.error == nil)
    }

    @Test("cancels a load when each task that waits is cancelled, and not before")
    func cancel() async throws {
        let resource = resource()
        let first = Task { try await resource.refresh() }
        let load = try await loads.next()
        let second = Task { try await resource.refresh() }
        while resource.content.value.load?.waiterCount != 2 {
            try Task.checkCancellation()
            await Task.yield()
        }
        first.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await first.value }
        #expect(error?.stage == .cancelled)
        #expect(resource.state.isLoading)
        second.cancel()
        await #expect(throws: TargetKitError.self) { try await second.value }
        await load.cancelled.wait()
        #expect(!resource.state.isLoading)
        #expect(resource.state.error == nil)
        let third = Task { try await resource.refresh() }
        try await loads.next().finish(5)
        #expect(try await third.value.count == 5)
    }

    @Test("A load that was replaced is cancelled when the tasks that wait for it are", arguments: [true, false])
    func cancelReplaced(bySetting: Bool) async throws {
        let resource = resource()
        let first = Task { try await resource.refreshIfStale() }
        let load = try await loads.next()
        var second: Task<Counter, any Error>?
        if bySetting {
            resource.set(Counter(count: 1))
        } else {
            second = Task { try await resource.refresh() }
        }
        let other = try await bySetting ? nil : loads.next()
        first.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await first.value }
        #expect(error?.stage == .cancelled)
        await load.cancelled.wait()
        other?.finish(5)
        if let second { #expect(try await second.value.count == 5) }
    }

    @Test("A reset cancels each load that tasks wait for")
    func resetReplaced() async throws {
        let resource = resource()
        let first = Task { try await resource.refreshIfStale() }
        let load = try await loads.next()
        let second = Task { try await resource.refresh() }
        let other = try await loads.next()
        resource.reset()
        await load.cancelled.wait()
        await other.cancelled.wait()
        _ = (await first.result, await second.result)
        #expect(!resource.state.isLoading)
    }

    @Test("No task is cancelled by others that load at the same time")
    func simultaneous() async throws {
        let transport = StubTransport { _ in .cacheable(#"{"count":1,"name":""}"#) }
        let provider = Provider<PluginTarget>(transport: transport)
        for _ in 0..<150 {
            let resource = Resource(provider, PluginTarget(validation: .successCodes), as: Counter.self)
            try await withThrowingTaskGroup(of: Counter.self) { group in
                group.addTask { try await resource.refreshIfStale() }
                group.addTask { try await resource.refresh() }
                group.addTask { try await resource.refreshIfStale() }
                group.addTask { try await resource.refresh() }
                for try await value in group { #expect(value.count == 1) }
            }
        }
    }

    @Test("A load whose task is cancelled at once is cancelled, too")
    func cancelledBefore() async throws {
        let resource = resource()
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await resource.refresh()
        }
        await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(!resource.state.isLoading)
    }

    @Test("shows a change at once, and takes it back when the call fails", arguments: [true, false])
    func optimistic(succeeds: Bool) async throws {
        let resource = try await loaded(1)
        let gate = Gate()
        let call = Task {
            try await resource.update(optimistically: { $0.count += 1 }) {
                await gate.wait()
                if !succeeds { throw Boom() }
                return "done"
            }
        }
        await gate.waitForArrivals()
        #expect(resource.state.value?.count == 2)
        gate.open()
        if succeeds {
            #expect(try await call.value == "done")
        } else {
            await #expect(throws: Boom()) { try await call.value }
        }
        #expect(resource.state.value?.count == (succeeds ? 2 : 1))
        #expect(loads.count == 1)
    }

    @Test("Each of two updates that overlap is taken back by itself", arguments: [0, 1], [true, false])
    func overlapping(failing: Int, firstEndsFirst: Bool) async throws {
        let resource = try await loaded(1)
        let gates = [Gate(), Gate()]
        let changes: [@Sendable (inout Counter) -> Void] = [{ $0.count = 10 }, { $0.name = "new" }]
        var calls: [Task<Void, any Error>] = []
        for index in 0...1 {
            calls.append(
                Task {
                    try await resource.update(optimistically: changes[index]) { () async throws in
                        await gates[index].wait()
                        if index == failing { throw Boom() }
                    }
                }
            )
            await gates[index].waitForArrivals()
        }
        #expect(resource.state.value == Counter(count: 10, name: "new"))
        for index in firstEndsFirst ? [0, 1] : [1, 0] {
            gates[index].open()
            _ = await calls[index].result
        }
        #expect(resource.state.value == (failing == 0 ? Counter(count: 1, name: "new") : Counter(count: 10)))
    }

    @Test("A value that is loaded during an update stays when the call fails", arguments: [true, false])
    func newerLoad(fails: Bool) async throws {
        let resource = try await loaded(1)
        let gate = Gate()
        let update = Task {
            try await resource.update(optimistically: { $0.count += 1 }) {
                await gate.wait()
                if fails { throw Boom() }
            }
        }
        await gate.waitForArrivals()
        let call = Task { try await resource.refresh() }
        try await loads.next().finish(7)
        #expect(try await call.value.count == 8)
        #expect(!resource.isStale)
        gate.open()
        _ = await update.result
        #expect(resource.state.value?.count == (fails ? 7 : 8))
        // The server may have counted twice.
        #expect(resource.isStale == !fails)
        let last = Task { try await resource.refresh() }
        try await loads.next().finish(8)
        #expect(try await last.value.count == 8)
        #expect(!resource.isStale)
    }

    @Test("A load after an update replaces its change, also while an earlier update is in progress")
    func laterLoad() async throws {
        let resource = try await loaded(1)
        let gate = Gate()
        let first = Task { await resource.update(optimistically: { $0.name = "new" }) { await gate.wait() } }
        await gate.waitForArrivals()
        await resource.update(optimistically: { $0.count = 5 }) {}
        #expect(resource.state.value == Counter(count: 5, name: "new"))
        let call = Task { try await resource.refresh() }
        try await loads.next().finish(9)
        #expect(try await call.value == Counter(count: 9, name: "new"))
        gate.open()
        await first.value
        #expect(resource.state.value == Counter(count: 9, name: "new"))
    }

    @Test("A value that is invalidated during a load is stale after it")
    func invalidatedDuringLoad() async throws {
        let resource = resource()
        let call = Task { try await resource.refresh() }
        let load = try await loads.next()
        resource.invalidate()
        load.finish(1)
        _ = try await call.value
        #expect(resource.isStale)
    }

    @Test("A load that began before an update does not hide its change", arguments: [true, false])
    func olderLoad(endsDuringCall: Bool) async throws {
        let resource = try await loaded(1)
        let call = Task { try await resource.refresh() }
        let load = try await loads.next()
        let gate = Gate()
        let update = Task {
            await resource.update(optimistically: { $0.name = "new" }) { await gate.wait() }
        }
        await gate.waitForArrivals()
        if endsDuringCall {
            load.finish(7)
            _ = try await call.value
            gate.open()
            await update.value
        } else {
            gate.open()
            await update.value
            load.finish(7)
            _ = try await call.value
        }
        #expect(resource.state.value == Counter(count: 7, name: "new"))
    }

    @Test("A value that is set replaces that of a load in progress")
    func set() async throws {
        let resource = try await loaded(1)
        let call = Task { try await resource.refresh() }
        let load = try await loads.next()
        resource.set(Counter(count: 9))
        #expect(!resource.state.isLoading)
        load.finish(2)
        #expect(try await call.value.count == 9)
        #expect(resource.state.value?.count == 9)
    }

    @Test("Many threads change a value without losing a change")
    func concurrent() async throws {
        let resource = try await loaded(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 1...500 {
                group.addTask {
                    _ = try? await resource.update(optimistically: { $0.count += 1 }) {
                        await Task.yield()
                        if number % 5 == 0 { throw Boom() }
                    }
                }
            }
        }
        #expect(resource.state.value?.count == 400)
    }

    @Test("The sequence of states ends with the resource")
    func updates() async throws {
        var resource: Resource<Counter>? = resource()
        let updates = try #require(resource?.updates)
        let counts = Task {
            var counts: [Int?] = []
            for await state in updates { counts.append(state.value?.count) }
            return counts
        }
        resource?.set(Counter(count: 2))
        resource = nil
        let all = await counts.value
        #expect(all.count <= 2)
        #expect(all.last == 2 || all.last == Int?.none)
    }

    #if canImport(Observation)
    @Test("A view that reads the state is notified")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor
    func observed() async throws {
        let resource = resource()
        let changed = Expectation()
        withObservationTracking {
            _ = resource.state
        } onChange: {
            changed.fulfill()
        }
        resource.set(Counter(count: 1))
        await changed.wait()
    }
    #endif
}

/// A transport whose exchanges the test ends.
private final class LoadServer: Transport {
    final class Load: Sendable {
        let cancelled = Expectation()
        fileprivate let result = Locked<CheckedContinuation<TransportResponse, any Error>?>(nil)

        func finish(_ count: Int) {
            let body = Data(#"{"count":\#(count),"name":""}"#.utf8)
            end(.success(TransportResponse(head: ResponseHead(statusCode: 200), body: .data(body))))
        }

        func fail(_ code: URLError.Code) {
            end(.failure(URLError(code)))
        }

        fileprivate func end(_ result: Result<TransportResponse, any Error>) {
            let continuation = self.result.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }
            continuation?.resume(with: result)
        }
    }

    private let started = Recorder<Load>()
    private let taken = Locked(0)

    var count: Int { started.count }

    /// The next load that begins.
    func next() async throws -> Load {
        let index = taken.withLock { taken in
            defer { taken += 1 }
            return taken
        }
        let loads = await started.waitForCount(index + 1)
        try Task.checkCancellation()
        return loads[index]
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let load = Load()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                load.result.withLock { $0 = continuation }
                started.append(load)
                if Task.isCancelled { load.end(.failure(CancellationError())) }
            }
        } onCancel: {
            load.end(.failure(CancellationError()))
            load.cancelled.fulfill()
        }
    }
}
