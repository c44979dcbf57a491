// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("Stubbed providers", .throttled, .timeLimit(.minutes(2)))
struct StubbedProviderTests {
    /// The threads of a transport, and the descriptors for its events.
    private static func resources() throws -> [String] {
        let files = FileManager.default
        let tasks = try files.contentsOfDirectory(atPath: "/proc/self/task")
        let threads = tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
        let descriptors = try files.contentsOfDirectory(atPath: "/proc/self/fd")
        let links = descriptors.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        return threads.filter { $0.hasPrefix("TargetKit") } + links.filter { $0.contains("event") }.sorted()
    }

    @Test("A provider without calls over the network starts no thread and opens no descriptor")
    func stubbed() async throws {
        await #expect(processExitsWith: .success) {
            // Dispatch opens descriptors of its own for its first timer, and may close one at any time.
            try await ContinuousClock().sleep(for: .nanoseconds(1))
            let before = try StubbedProviderTests.resources()
            let stubbed = Provider<TestTarget>(stubClosure: { _ in .immediate })
            let response = try await stubbed.request(TestTarget(.example))
            let own = Provider<TestTarget>(
                stubClosure: { _ in .immediate },
                transport: CurlTransport(idleTimeout: .seconds(5))
            )
            _ = try await own.request(TestTarget(.example))
            let late = Provider<TestTarget>(transport: CassetteTransport(.replay, folder: URL(filePath: "/nowhere")))
            let slow = Provider<TestTarget>(transport: NetworkConditions.offline.transport())
            let after = try StubbedProviderTests.resources()
            let added = after.difference(from: before).insertions
            guard response.statusCode == 200, added.isEmpty else {
                print(before, after)
                exit(2)
            }
            // The transport starts with the first call that needs it.
            let server = try TestServer(response: .text("fine"))
            let real = Provider<TestTarget>()
            guard try await real.request(TestTarget(server.baseURL)).data == Data("fine".utf8) else { exit(3) }
            withExtendedLifetime((stubbed, own, late, slow)) {}
        }
    }

    @Test("A transport that can't start for lack of descriptors starts with a later call")
    func noDescriptors() async throws {
        await #expect(processExitsWith: .success) {
            let server = try TestServer(response: .text("fine"))
            let request = TransportRequest(urlRequest: URLRequest(url: server.baseURL))
            let transport = CurlTransport.another()
            let null = open("/dev/null", O_RDONLY)
            var copies: [Int32] = []
            while case let copy = dup(null), copy >= 0 { copies.append(copy) }
            do {
                _ = try await transport.send(request)
                exit(2)
            } catch let error as URLError {
                guard error.code == .resourceUnavailable else { exit(3) }
            }
            for copy in copies { close(copy) }
            guard try await transport.send(request).head.statusCode == 200 else { exit(4) }
        }
    }

    @Test("A transport that is shut down before its first call refuses calls")
    func shutDown() async throws {
        let server = try TestServer(response: .text("fine"))
        let transport = CurlTransport()
        transport.shutdown()
        let error = await #expect(throws: URLError.self) {
            try await transport.send(TransportRequest(urlRequest: URLRequest(url: server.baseURL)))
        }
        #expect(error?.code == .cancelled)
        #expect(server.connectionCount == 0)
    }
}
#endif
