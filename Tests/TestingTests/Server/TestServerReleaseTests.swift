// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("TestServer: what it leaves behind", .throttled, .timeLimit(.minutes(3)))
struct TestServerReleaseTests {
    /// The files that descriptors of this process refer to, for example `socket:[123]`. The numbers are not used again.
    private static func files(_ descriptors: [String]? = nil) -> Set<String> {
        let folder = "/proc/self/fd"
        let names = descriptors ?? ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        return Set(names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") })
    }

    private static func threads() -> Set<String> {
        let folder = "/proc/self/task"
        let ids = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let names = ids.compactMap { try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8) }
        return Set(names.map { $0.trimmingCharacters(in: .newlines) })
    }

    /// Starts servers that hold a connection each, and returns their descriptors and threads.
    private static func start(_ count: Int, _ address: (Int) -> TestServer.Address) async throws -> (
        servers: [TestServer], clients: [SocketClient], files: Set<String>, threads: Set<String>
    ) {
        let servers = try (0..<count).map { try TestServer(address: address($0), response: .hang) }
        let clients = try servers.map { try SocketClient(to: $0) }
        for (server, client) in zip(servers, clients) {
            try await client.send("GET / HTTP/1.1\r\n\r\n")
            await server.waitForRequests(1)
        }
        let files = files(servers.flatMap { $0.descriptors.map(String.init) })
        #expect(files.count == 2 * count)
        let threads = Set(servers.map { "TestServer\($0.port)" })
        #expect(threads.subtracting(Self.threads()).isEmpty)
        return (servers, clients, files, threads)
    }

    @Test(
        "200 servers that were stopped or released leave no thread, descriptor or connection",
        arguments: [true, false]
    )
    func leavesNothing(isStopped: Bool) async throws {
        var (servers, clients, files, threads) = try await Self.start(200) { _ in .ipv4 }
        if isStopped { for server in servers { server.stop() } }
        servers.removeAll()
        for client in clients { #expect(try await client.receiveAll() == "") }
        clients.removeAll()
        // A thread ends a moment after its last action.
        while !threads.isDisjoint(with: Self.threads()) { await Task.yield() }
        #expect(Self.files().isDisjoint(with: files))
    }

    @Test("A server at a Unix domain socket leaves no file", arguments: [true, false])
    func socketFile(isStopped: Bool) async throws {
        let folder = try TemporaryFolder()
        var (servers, clients, _, _) = try await Self.start(10) {
            .unix(path: folder.url.appendingPathComponent("\($0)").path)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 10)
        if isStopped { for server in servers { server.stop() } }
        servers.removeAll()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        for client in clients { #expect(try await client.receiveAll() == "") }
        clients.removeAll()
    }
}
#endif
