// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
@testable import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

@Suite("CurlTransport: a resolver of addresses", .throttled, .timeLimit(.minutes(3)))
struct CurlLookupTests {
    private let asked = Recorder<String>()

    private func transport(
        tls: TLSPolicy = .system,
        _ resolver: @escaping @Sendable (String) async -> [String]?
    ) -> CurlTransport {
        CurlTransport(
            connectTimeout: .seconds(120),
            idleTimeout: .seconds(120),
            proxy: .none,
            tls: tls,
            resolver: { [asked] host, port in
                asked.append("\(host) \(port)")
                return await resolver(host)
            }
        )
    }

    private func url(_ host: String, _ port: Int) throws -> URL {
        try #require(URL(string: "http://\(host):\(port)"))
    }

    @Test(
        "A request goes to the given address, with the name of its host",
        arguments: [["127.0.0.1"], ["127.0.0.9", "127.0.0.1"]]
    )
    func address(addresses: [String]) async throws {
        let server = try TestServer(response: .text("here"))
        let transport = transport { _ in addresses }
        let response = try await transport.send(TestCall(path: "/a").request(to: url("api.example", server.port)))
        #expect(response.text == "here")
        #expect(server.requests.map { $0.headers["Host"] } == ["api.example:\(server.port)"])
        #expect(asked.elements == ["api.example \(server.port)"])
    }

    @Test(
        "The certificate is checked for the name of the host, not for the address",
        .enabled(if: TLSServer.isAvailable)
    )
    func certificate() async throws {
        let server = try TLSServer(name: "api.example")
        let transport = transport(tls: TLSPolicy(trust: .authoritiesFile(server.authority))) { _ in ["127.0.0.1"] }
        let right = try #require(URL(string: "https://api.example:\(server.port)"))
        let wrong = try #require(URL(string: "https://other.example:\(server.port)"))
        #expect(try await transport.send(TestCall().request(to: right)).head.statusCode == 200)
        #expect(await TestCall().failure(at: wrong, with: transport) == .serverCertificateUntrusted)
    }

    @Test(
        "Each new connection uses the last answer, and nil means the system's lookup, also before libcurl 7.75",
        arguments: [true, false]
    )
    func changes(expires: Bool) async throws {
        let server = try TestServer(response: .text("", headers: ["Connection": "close"]))
        let answers = Recorder<[String]?>()
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.lookup = CurlLookup(
            resolver: { [asked] host, _ in
                asked.append(host)
                return answers.elements.last.flatMap(\.self)
            },
            expiresEntries: expires
        )
        let entries = try await CurlLookup(resolver: { _, _ in ["127.0.0.1", "::1"] }, expiresEntries: expires)
            .entries(for: try url("a.example", 80), within: .seconds(60))
        #expect(entries == [(expires ? "+" : "") + "a.example:80:127.0.0.1,[::1]"])
        let transport = CurlTransport(configuration: configuration)
        let url = try url("host.invalid", server.port)
        answers.append(["127.0.0.1"])
        _ = try await transport.send(TestCall().request(to: url))
        answers.append(["127.0.0.9"])
        #expect(await TestCall().failure(at: url, with: transport) == .cannotConnectToHost)
        answers.append(["127.0.0.1"])
        _ = try await transport.send(TestCall().request(to: url))
        answers.append(nil)
        #expect(await TestCall().failure(at: url, with: transport) == .cannotFindHost)
        #expect(server.requests.count == 2)
        #expect(asked.elements.count == 4)
    }

    @Test("An open connection is used without regard to the answer")
    func open() async throws {
        let server = try TestServer(response: .text(""))
        let transport = transport { [asked] _ in asked.elements.count == 1 ? ["127.0.0.1"] : ["127.0.0.9"] }
        for _ in 0..<2 { _ = try await transport.send(TestCall().request(to: url("api.example", server.port))) }
        #expect(server.connectionCount == 1)
    }

    @Test(
        "A name is asked for as libcurl reads it",
        arguments: [
            ("api.example.", "api.example"), ("API.example", "API.example"), ("%61pi.example", "api.example"),
            ("b\u{FC}cher.example", "xn--bcher-kva.example"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ]
    )
    func spelling(host: String, name: String) async throws {
        let server = try TestServer(response: .text("here"))
        let transport = transport { _ in ["127.0.0.1"] }
        let response = try await transport.send(TestCall().request(to: url(host, server.port)))
        #expect(response.text == "here")
        #expect(asked.elements == ["\(name) \(server.port)"])
    }

    @Test(
        "A host that is an address isn't asked for, and is read as without a resolver",
        arguments: [
            "127.0.0.1", "127.1", "0x7f.0x1", "2130706433", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]",
            "[fe80::1%25lo]",
        ]
    )
    func isAddress(host: String) async throws {
        let server = try TestServer(response: .text("here"))
        let transport = transport { _ in ["192.0.2.1"] }
        let url = try url(host, host.hasPrefix("[") ? 1 : server.port)
        let plain = CurlTransport(proxy: .none)
        #expect(
            await TestCall().failure(at: url, with: transport) == TestCall().failure(at: url, with: plain)
        )
        #expect(asked.elements.isEmpty)
    }

    @Test(
        "An address may have brackets, may be that of an IPv4 host in IPv6, and is followed by others if it refuses",
        arguments: [["[127.0.0.1]"], ["::ffff:127.0.0.1"], ["[::1]", "127.0.0.1"], ["::1", "127.0.0.9", "127.0.0.1"]]
    )
    func forms(addresses: [String]) async throws {
        let server = try TestServer(response: .text("here"))
        let transport = transport { _ in addresses }
        let response = try await transport.send(TestCall().request(to: url("api.example", server.port)))
        #expect(response.text == "here")
    }

    @Test("A colon in the escapes of a name adds no address to it", arguments: ["a%3A80%3A127.0.0.1", "a%00b.example"])
    func escaped(host: String) async throws {
        let transport = transport { _ in ["127.0.0.1"] }
        #expect(await TestCall().failure(at: try url(host, 1), with: transport) == .badURL)
        #expect(asked.elements.isEmpty)
    }

    @Test(
        "An answer without a usable address is an error that says so, and quotes no answer",
        arguments: [
            ([], "returned no address"), (["s3cret.example"], "something else"),
            (["127.0.0.1", "::1%s3cret"], "something else"),
        ]
    )
    func unusable(addresses: [String], words: String) async throws {
        let transport = transport { _ in addresses }
        let error = await #expect(throws: URLError.self) {
            try await transport.send(TestCall().request(to: url("api.example", 1)))
        }
        #expect(error?.code == .cannotFindHost)
        let description = TargetKitError(stage: .transport, underlying: error ?? URLError(.unknown)).description
        #expect(description.contains(words))
        let text = "\(description)\(error?.userInfo ?? [:])"
        #expect(!text.contains("s3cret"))
    }

    @Test("A resolver that doesn't return delays neither the cancellation nor the timeout of a call")
    func silent() async throws {
        let gate = Gate()
        let silent = transport { _ in
            await gate.wait()
            return ["127.0.0.1"]
        }
        let call = Task { try await silent.send(TestCall().request(to: url("api.example", 1))) }
        await gate.waitForArrivals()
        call.cancel()
        let error = await #expect(throws: URLError.self) { try await call.value }
        #expect(error?.code == .cancelled)
        var request = try TestCall().request(to: url("api.example", 1))
        request.timeout = .milliseconds(20)
        let late = await #expect(throws: URLError.self) { try await silent.send(request) }
        #expect(late?.code == .timedOut)
        #expect(late?.localizedDescription.contains("resolver") == true)
        gate.open()
    }
}
#endif
