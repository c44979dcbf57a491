// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Many calls", .throttled, .timeLimit(.minutes(2)))
struct RequestOutcomesTests {
    private func targets(_ count: Int) -> [TestTarget] {
        (0..<count).map { number in TestTarget(.example).with { $0.path = "/\(number)" } }
    }

    @Test("Outcomes come as the calls end, and no more run at a time than were asked for")
    func asTheyEnd() async throws {
        let transport = HeldTransport()
        let provider = Provider<TestTarget>(transport: transport)
        var outcomes = provider.requests(targets(5), maxConcurrent: 2).makeAsyncIterator()
        let first = Task {
            await transport.sent.waitForCount(2)
            await transport.release(1)
        }
        let outcome = await outcomes.next()
        await first.value
        let path = transport.sent.elements[1].request.urlRequest.url?.lastPathComponent
        #expect(outcome.map { "\($0.index)" } == path)
        #expect(transport.sent.count == 2)
        let rest = Task { for index in [0, 2, 3, 4] { await transport.release(index) } }
        var indices: [Int] = []
        while let outcome = await outcomes.next() {
            #expect(try outcome.result.get().statusCode == 200)
            indices.append(outcome.index)
        }
        await rest.value
        #expect(Set(indices + [outcome?.index ?? -1]) == [0, 1, 2, 3, 4])
    }

    @Test("In order, each outcome waits for those before it", arguments: [1, 2, 3, 100, -1])
    func inOrder(limit: Int) async throws {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        var indices: [Int] = []
        for await outcome in provider.requests(targets(20), maxConcurrent: limit, inOrder: true) {
            indices.append(outcome.index)
        }
        #expect(indices == Array(0..<20))
    }

    @Test("A call that fails does not end the others")
    func failing() async throws {
        let provider = Provider<TestTarget>(
            transport: StubTransport { request in
                guard request.urlRequest.url?.lastPathComponent != "1" else { throw URLError(.timedOut) }
                return .response(status: 200, data: Data())
            }
        )
        var failed: [Int] = []
        var count = 0
        for await outcome in provider.requests(targets(4), maxConcurrent: 2) {
            count += 1
            if case .failure(let error) = outcome.result {
                #expect(error.kind == .timedOut)
                failed.append(outcome.index)
            }
        }
        #expect(failed == [1] && count == 4)
    }

    @Test("Leaving the loop cancels the calls that run")
    func leaving() async throws {
        let transport = HeldTransport()
        let scope = RequestScope()
        let provider = Provider<TestTarget>(transport: transport, scope: scope)
        let release = Task { await transport.release(0) }
        for await _ in provider.requests([TestTarget(.example)] + targets(8), maxConcurrent: 3) { break }
        await release.value
        while !Task.isCancelled, scope.inFlightCount > 0 { await Task.yield() }
        #expect(transport.sent.count <= 4)
    }

    @Test("No targets, no outcomes")
    func none() async throws {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        for await _ in provider.requests([], maxConcurrent: 3) { Issue.record("an outcome of no call") }
    }
}
