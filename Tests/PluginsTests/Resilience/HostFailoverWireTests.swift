// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Host failover over the wire", .timeLimit(.minutes(1)))
struct HostFailoverWireTests {
    private let good: LoopbackServer

    init() throws {
        good = try LoopbackServer(reply: .text("good"))
    }

    private func outcome(
        _ engine: Backend,
        _ method: HTTPMethod,
        _ first: URL
    ) async throws -> (RecordingPlugin.Outcome, moved: Bool) {
        let plugin = HostFailoverPlugin(hosts: [first, good.baseURL])
        let transport: any Transport = engine == .urlSession ? URLSessionTransport.another() : SystemTransport.patient
        let provider = Provider<SturdyTarget>(transport: transport, plugins: [plugin])
        let result = await provider.result(SturdyTarget(method: method))
        return (.init(result), plugin.currentHost == good.baseURL)
    }

    private static let engines = [Backend.system, .urlSession]

    @Test("A refused connection moves any call", arguments: engines, [HTTPMethod.get, .post])
    func refused(_ engine: Backend, _ method: HTTPMethod) async throws {
        let port = try ClosedPort()
        #expect(try await outcome(engine, method, port.baseURL) == (.status(200), true))
        withExtendedLifetime(port) {}
    }

    @Test("TLS that is not agreed moves any call", arguments: engines, [HTTPMethod.get, .post])
    func noTLS(_ engine: Backend, _ method: HTTPMethod) async throws {
        var options = LoopbackOptions()
        options.onConnect = { _ in [.text("this is no TLS\r\n\r\n"), .close] }
        let plain = try LoopbackServer(options: options, reply: .close)
        let url = try #require(URL(string: "https://127.0.0.1:\(plain.port)"))
        #expect(try await outcome(engine, method, url) == (.status(200), true))
    }

    @Test(
        "A connection that ends after the request moves a GET, not a POST",
        arguments: engines,
        [LoopbackReply.close, .reset]
    )
    func ended(_ engine: Backend, _ reply: LoopbackReply) async throws {
        let first = try LoopbackServer(reply: reply)
        #expect(try await outcome(engine, .get, first.baseURL) == (.status(200), true))
        #expect(try await outcome(engine, .post, first.baseURL) == (.failure(.transport), true))
        #expect(first.requests.filter { $0.method == "POST" }.count == 1)
        #expect(good.requests.map(\.method) == ["GET"])
    }

    @Test("A status moves a GET, not a POST", arguments: engines, [403, 502, 503])
    func status(_ engine: Backend, _ status: Int) async throws {
        let first = try LoopbackServer(reply: .status(status))
        #expect(try await outcome(engine, .get, first.baseURL) == (.status(200), true))
        #expect(try await outcome(engine, .post, first.baseURL) == (.status(status), true))
        #expect(good.requests.map(\.method) == ["GET"])
    }

    @Test("The server that is moved to gets path, query and body as they were", arguments: engines)
    func whole(_ engine: Backend) async throws {
        let port = try ClosedPort()
        let plugin = HostFailoverPlugin(hosts: [port.baseURL, good.baseURL])
        let transport: any Transport = engine == .urlSession ? URLSessionTransport.another() : SystemTransport.patient
        let provider = Provider<SturdyTarget>(transport: transport, plugins: [plugin])
        let name = "a/b?c"
        let task = HTTPTask.data(Data("body".utf8)).query(["q": "1+1"])
        _ = await provider.result(SturdyTarget(path: "/x/\(name)", method: .post, task: task))
        let request = try #require(good.requests.first)
        #expect(request.target == "/api/x/a%2Fb%3Fc?q=1%2B1")
        #expect(request.text == "body")
        #expect(request.headers.all("Host") == ["127.0.0.1:\(good.port)"])
        withExtendedLifetime(port) {}
    }
}
