// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
@testable import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// Failures of a proxy, and their error texts.
@Suite("CurlTransport: proxies", .throttled, .timeLimit(.minutes(3)))
struct CurlProxyTests {
    private static let secret = "hunter2"

    private func transport(_ address: String, except: [String] = []) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration.patient
        configuration.proxy = .url(try #require(URL(string: address)), except: except)
        return CurlTransport(configuration: configuration)
    }

    /// All texts of an error.
    private func texts(of error: some Error) -> String {
        var text = "\(error)\(error.localizedDescription)\((error as NSError).userInfo)\(error as NSError)"
        dump(error, to: &text)
        return text
    }

    @Test(
        "The error of an invalid proxy address names it without its password",
        arguments: [
            "ftp://user:hunter2@127.0.0.1:3128", "socks6://user:hunter2@127.0.0.1:1080",
            "http://user:hunter2@127.0.0.1:99999", "http://user:hunter2@127.0.0.1:0", "http://user:hunter2@:3128",
            "http://user:hunter2@127.0.0.1:3128?x=hunter2", "http://user:/hunter2@127.0.0.1:3128",
            "http://user/hunter2@127.0.0.1:3128", "http:///hunter2", "ftp:hunter2",
        ]
    )
    func badAddress(address: String) async throws {
        let server = try TestServer(response: .text("direct"))
        let transport = try transport(address, except: ["127.0.0.1"])
        for scheme in ["http", "https"] {
            let base = try #require(URL(string: "\(scheme)://host.invalid"))
            let error = await #expect(throws: URLError.self) {
                try await transport.send(TestCall().request(to: base))
            }
            let text = try texts(of: #require(error))
            #expect(error?.code == .badURL)
            #expect(error?.localizedDescription.contains("proxy") == true)
            #expect(!text.contains(Self.secret))
        }
        #expect(try await TestCall().send(to: server, with: transport).text == "direct")
    }

    @Test(
        "The environment's proxies are checked as well, and errors name the variable",
        arguments: [
            ("http_proxy", "http", "ftp://user:hunter2@127.0.0.1:1"),
            ("https_proxy", "https", "http://user:p@hunter2@127.0.0.1:1"),
            ("HTTPS_PROXY", "https", "user:hunter2@a!b:1"), ("HTTPS_PROXY", "https", "user:hunter2@a'b:1"),
            ("all_proxy", "http", "http://user:hunter2@a*b"), ("all_proxy", "http", "http://user:hunter2@ä.example"),
            ("all_proxy", "http", "http://user:hunter2@a%20b"), ("all_proxy", "http", "http://user:hunter2@[::g]:1"),
            ("ALL_PROXY", "https", "user:hunter2@[::1"), ("ALL_PROXY", "https", "user:hunter2@a:1:2"),
        ]
    )
    func environment(name: String, scheme: String, address: String) async throws {
        await #expect(processExitsWith: .success) { [name, scheme, address] in
            for other in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] { unsetenv(other) }
            setenv(name, address, 1)
            setenv("no_proxy", "localhost,127.0.0.1", 1)
            let server = try TestServer(response: .text("direct"))
            let transport = CurlTransport.another()
            guard try await TestCall().send(to: server, with: transport).text == "direct" else { exit(2) }
            let base = try #require(URL(string: "\(scheme)://host.invalid"))
            do {
                _ = try await transport.send(TestCall().request(to: base))
                exit(3)
            } catch let error as URLError {
                let text = "\(error) \(error.userInfo) \(error.localizedDescription)"
                guard error.code == .badURL, text.contains(name), !text.contains("hunter2") else { exit(4) }
            }
        }
    }

    @Test("The environment's proxies apply to one scheme, or to all")
    func goodEnvironment() async throws {
        await #expect(processExitsWith: .success) {
            for other in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
                unsetenv(other)
            }
            let proxy = try TestServer { .text($0.target) }
            setenv("http_proxy", "", 1)
            // The default scheme is http.
            setenv("ALL_PROXY", "user:pass@127.0.0.1:\(proxy.port)", 1)
            setenv("NO_PROXY", "localhost", 1)
            let base = try #require(URL(string: "http://host.invalid"))
            let response = try await CurlTransport.another().send(TestCall(path: "/a").request(to: base))
            guard response.text == "http://host.invalid/a" else { exit(2) }
            guard proxy.requests[0].headers["Proxy-Authorization"] == "Basic dXNlcjpwYXNz" else { exit(3) }
        }
    }

    @Test("The error of a tunnel that the proxy refuses says so", arguments: [401, 403, 407, 502])
    func refusedTunnel(status: Int) async throws {
        let proxy = try TestServer(
            response: .text("no", status: status, headers: ["Proxy-Authenticate": "Basic realm=x"])
        )
        let transport = try transport("http://user:hunter2@127.0.0.1:\(proxy.port)")
        let base = try #require(URL(string: "https://host.invalid"))
        let error = await #expect(throws: URLError.self) { try await transport.send(TestCall().request(to: base)) }
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.localizedDescription.contains("proxy") == true)
        #expect(error?.localizedDescription.contains("\(status)") == true)
        let namesPassword = error?.localizedDescription.contains("check its user name and password")
        #expect(namesPassword == [401, 407].contains(status))
        #expect(try !texts(of: #require(error)).contains(Self.secret))
        #expect(proxy.requests.allSatisfy { $0.method == "CONNECT" })
    }

    @Test(
        "The error of a call that a SOCKS proxy refuses says so",
        arguments: [
            ("socks5", Data([5, 0xFF])), ("socks5", Data([5, 0, 5, 5, 0, 1, 0, 0, 0, 0, 0, 0])),
            ("socks5h", Data([5, 2, 1, 1])), ("socks4", Data([0, 91, 0, 0, 0, 0, 0, 0])),
            ("socks5", Data("HTTP/1.1".utf8)),
        ]
    )
    func refusedSOCKS(scheme: String, answer: Data) async throws {
        var options = TestServer.Options()
        options.onConnect = { _ in [.stopReading, .bytes(answer), .hang] }
        let proxy = try TestServer(options: options, response: .hang)
        let transport = try transport("\(scheme)://user:hunter2@127.0.0.1:\(proxy.port)")
        let base = try #require(URL(string: "http://127.0.0.1:1"))
        let error = await #expect(throws: URLError.self) { try await transport.send(TestCall().request(to: base)) }
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.localizedDescription.contains("proxy") == true)
        #expect(try !texts(of: #require(error)).contains(Self.secret))
    }
}
#endif
