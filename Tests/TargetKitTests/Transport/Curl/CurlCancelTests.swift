// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
@testable import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// How exchanges end before their time, and how the transport itself does.
@Suite("CurlTransport: cancelling and the end", .throttled, .timeLimit(.minutes(2)))
struct CurlCancelTests {
    @Test(
        "A cancelled call ends and closes its connection",
        arguments: [TestServer.Response.hang, [.head(status: 200), .hang]]
    )
    func cancel(reply: TestServer.Response) async throws {
        let server = try TestServer(response: reply)
        let transport = CurlTransport.another()
        let task = Task { await TestCall().failure(at: server.baseURL, with: transport) }
        await server.waitForHeads(1)
        task.cancel()
        #expect(await task.value == .cancelled)
        await server.waitForConnections(closed: 1)
        #expect(server.openConnectionCount == 0)
    }

    @Test("A call in a cancelled task is not sent")
    func cancelledBefore() async throws {
        let server = try TestServer(response: .text(""))
        let gate = Gate()
        let task = Task {
            await gate.wait()
            return await TestCall().failure(at: server.baseURL, with: CurlTransport.patient)
        }
        task.cancel()
        gate.open()
        #expect(await task.value == .cancelled)
        #expect(server.connectionCount == 0)
    }

    @Test("During a name lookup the call can be cancelled, and others continue")
    func cancelLookup() async throws {
        let server = try TestServer(response: .text("fine"))
        let transport = CurlTransport.another()
        let request = TransportRequest(
            urlRequest: URLRequest(url: try #require(URL(string: "http://slow.invalid/")))
        )
        let task = Task { try? await transport.send(request) }
        #expect(try await TestCall().send(to: server, with: transport).text == "fine")
        task.cancel()
        #expect(await task.value == nil)
        #expect(try await TestCall().send(to: server, with: transport).text == "fine")
    }

    @Test("Thousands of lookups of names that don't resolve take few threads and descriptors")
    func lookups() async throws {
        await #expect(processExitsWith: .success) {
            let transport = CurlTransport.another()
            let isOver = Locked(false)
            let watch = Task {
                var most = (threads: 0, descriptors: 0)
                while !isOver.withLock({ $0 }) {
                    let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
                    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
                    most = (max(most.threads, threads), max(most.descriptors, descriptors))
                    await Task.yield()
                }
                return most
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<2_000 {
                    guard let url = URL(string: "http://name\(number).invalid/") else { exit(2) }
                    var request = TransportRequest(urlRequest: URLRequest(url: url))
                    request.timeout = .seconds(20)
                    let sent = request
                    group.addTask { _ = try? await transport.send(sent) }
                }
                await group.waitForAll()
            }
            isOver.withLock { $0 = true }
            let most = try await watch.value
            guard most.threads < 120, most.descriptors < 250 else {
                print("threads and descriptors: \(most)")
                exit(3)
            }
        }
    }

    @Test("A cancel that races with the completion ends each call once")
    func race() async throws {
        let server = try TestServer(response: .text("x"))
        let transport = CurlTransport.another()
        let ended = Tally()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<16 {
                group.addTask {
                    for round in 0..<50 {
                        let task = Task { _ = try? await TestCall().send(to: server, with: transport) }
                        for _ in 0..<(worker &* 7 &+ round * 3) % 40 { await Task.yield() }
                        task.cancel()
                        await task.value
                        ended.add()
                    }
                }
            }
        }
        #expect(ended.value == 16 * 50)
        #expect(try await TestCall().send(to: server, with: transport).text == "x")
    }

    @Test("A thousand hanging calls are cancelled together")
    func storm() async throws {
        let server = try TestServer(response: .hang)
        var configuration = CurlTransport.Configuration.patient
        configuration.maxConnectionsPerHost = 300
        let transport = CurlTransport(configuration: configuration)
        let tasks = (0..<1000).map { _ in
            Task { await TestCall().failure(at: server.baseURL, with: transport) }
        }
        await server.waitForHeads(300)
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value == .cancelled) }
        #expect(server.headCount < 1000)
        // A connection may be accepted after its calls have ended.
        while !Task.isCancelled, server.openConnectionCount > 0 { await Task.yield() }
        #expect(server.openConnectionCount == 0)
    }

    @Test("shutdown() cancels what runs and refuses what comes")
    func shutdown() async throws {
        let server = try TestServer(response: .hang)
        let transport = CurlTransport.another()
        let task = Task { await TestCall().failure(at: server.baseURL, with: transport) }
        await server.waitForHeads(1)
        transport.shutdown()
        #expect(await task.value == .cancelled)
        #expect(await TestCall().failure(at: server.baseURL, with: transport) == .cancelled)
        await server.waitForConnections(closed: 1)
        #expect(server.connectionCount == 1)
    }

    @Test("A released transport finishes its calls, then closes its connections")
    func letGo() async throws {
        let gate = Gate()
        let server = try TestServer { _ in
            await gate.wait()
            return .text("late")
        }
        let task = Task { try await TestCall().send(to: server, with: CurlTransport.another()).text }
        await server.waitForHeads(1)
        gate.open()
        #expect(try await task.value == "late")
        await server.waitForConnections(closed: 1)
    }

    @Test("A transport that is released during a cancellation ends")
    func letGoAfterCancel() async throws {
        let server = try TestServer { $0.path == "/first" ? .text("x") : .hang }
        for _ in 0..<200 {
            let transport = CurlTransport.another()
            try await TestCall(path: "/first").send(to: server, with: transport)
            let task = Task { await TestCall().failure(at: server.baseURL, with: transport) }
            await Task.yield()
            task.cancel()
            _ = await task.value
        }
        // The connections go with the loops that own them.
        await server.waitForConnections(closed: server.connectionCount)
        #expect(server.openConnectionCount == 0)
    }
}
#endif
