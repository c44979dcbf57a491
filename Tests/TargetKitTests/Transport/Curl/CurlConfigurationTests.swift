// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
@testable import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// What the configuration changes.
@Suite("CurlTransport: configuration", .throttled, .timeLimit(.minutes(3)))
struct CurlConfigurationTests {
    private func transport(_ change: (inout CurlTransport.Configuration) -> Void) -> CurlTransport {
        var configuration = CurlTransport.Configuration.patient
        change(&configuration)
        return CurlTransport(configuration: configuration)
    }

    @Test("Without settings, the limits are those of the documentation")
    func defaults() {
        let configuration = CurlTransport.Configuration()
        #expect(configuration.connectTimeout == .seconds(60))
        #expect(configuration.idleTimeout == .seconds(60))
        #expect(configuration.maxConnectionsPerHost == 128)
        #expect(configuration.maxConnections == 512)
        #expect(configuration.maxHeadSize == 262_144)
    }

    @Test("No more connections are opened to a host than its limit allows")
    func connectionsPerHost() async throws {
        let server = try TestServer(response: .text("x"))
        let transport = transport { $0.maxConnectionsPerHost = 3 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { try await TestCall().send(to: server, with: transport) } }
            try await group.waitForAll()
        }
        #expect(server.requestCount == 50)
        #expect((1...3).contains(server.connectionCount))
    }

    @Test("No more connections are opened than the total limit allows")
    func connectionsInAll() async throws {
        let servers = try (0..<4).map { _ in try TestServer(response: .text("x")) }
        let transport = transport { $0.maxConnections = 2 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask { try await TestCall().send(to: servers[index % 4], with: transport) }
            }
            try await group.waitForAll()
        }
        #expect(servers.map(\.requestCount) == [10, 10, 10, 10])
        // A server may notice late that a connection was closed.
        while !Task.isCancelled, servers.map(\.openConnectionCount).reduce(0, +) > 2 { await Task.yield() }
    }

    @Test("Every request goes to the Unix-domain socket that is set")
    func unixSocket() async throws {
        let folder = try TemporaryFolder()
        var options = TestServer.Options()
        let path = folder.url.appendingPathComponent("s").path
        options.address = .unix(path: path)
        let server = try TestServer(options: options, response: .text("unix"))
        let transport = transport { $0.unixSocketPath = path }
        let base = try #require(URL(string: "http://anything.example"))
        let response = try await transport.send(TestCall(path: "/a").request(to: base))
        #expect(response.text == "unix")
        #expect(try await server.request(at: 0).headers["Host"] == "anything.example")
    }

    @Test("A proxy receives the whole URL and its password; excluded hosts are contacted directly")
    func proxy() async throws {
        let proxy = try TestServer(response: .text("proxy"))
        let server = try TestServer(response: .text("server"))
        let url = try #require(URL(string: "http://user:pass@127.0.0.1:\(proxy.port)"))
        let other = try #require(URL(string: "http://host.invalid"))
        let transport = transport { $0.proxy = .url(url, except: ["127.0.0.1"]) }
        #expect(try await transport.send(TestCall(path: "/a").request(to: other)).text == "proxy")
        #expect(try await TestCall().send(to: server, with: transport).text == "server")
        let request = try await proxy.request(at: 0)
        #expect(request.target == "http://host.invalid/a")
        #expect(request.headers["Proxy-Authorization"] == "Basic dXNlcjpwYXNz")
        #expect(proxy.requestCount == 1)
    }

    @Test("A slow body source does not delay other calls, and can be cancelled")
    func slowSource() async throws {
        final class Source: BodySource {
            let gate = DispatchSemaphore(value: 0)
            let reading = Expectation()
            var length: Int64? { nil }
            func open() -> any BodyReader { Reader(source: self) }
            final class Reader: BodyReader {
                let source: Source
                init(source: Source) { self.source = source }
                func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
                    source.reading.fulfill()
                    source.gate.wait()
                    return 0
                }
            }
        }
        let server = try TestServer(response: .text("x"))
        let transport = CurlTransport.another()
        let sources = [Source(), Source()]
        let tasks = sources.map { source in
            Task { try await TestCall(method: "POST", body: .stream(source)).send(to: server, with: transport).text }
        }
        for source in sources { await source.reading.wait() }
        #expect(try await TestCall().send(to: server, with: transport).text == "x")
        tasks[0].cancel()
        await #expect(throws: URLError.self) { try await tasks[0].value }
        for source in sources { source.gate.signal() }
        #expect(try await tasks[1].value == "x")
    }
}
#endif
