// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("DNSOverHTTPSResolver", .throttled, .timeLimit(.minutes(1)))
struct DNSOverHTTPSResolverTests {
    /// A server of names.
    private final class Names: Sendable {
        let queries = Recorder<String>()
        let answer: @Sendable (Int) -> SampleResponse
        let gate: Gate?
        /// The type of record whose answers wait for the gate; `nil` for all of them.
        let late: Int?

        init(gate: Gate? = nil, late: Int? = nil, answer: @escaping @Sendable (Int) -> SampleResponse) {
            self.gate = gate
            self.late = late
            self.answer = answer
        }

        var transport: StubTransport {
            StubTransport { [self] request in
                let text = request.urlRequest.url?.absoluteString ?? ""
                queries.append(text)
                let type = DNSOverHTTPSResolverTests.type(of: text)
                if type == late ?? type { await gate?.wait() }
                return answer(type)
            }
        }
    }

    /// The type of record for which a URL asks, in the bytes before the class.
    private static func type(of url: String) -> Int {
        var text = URLComponents(string: url)?.queryItems?.first { $0.name == "dns" }?.value ?? ""
        text = text.replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text).map { Int($0[$0.count - 3]) } ?? 0
    }

    private static func response(_ addresses: [[UInt8]], type: Int, seconds: UInt8 = 60, age: String? = nil)
        -> SampleResponse
    {
        var data = Data([0, 0, 0x81, 0x80, 0, 0, 0, UInt8(addresses.count), 0, 0, 0, 0])
        for address in addresses {
            data.append(contentsOf: [1, 0x61, 0, 0, UInt8(type), 0, 1, 0, 0, 0, seconds, 0, UInt8(address.count)])
            data.append(contentsOf: address)
        }
        var headers: HTTPHeaders = ["Content-Type": "application/dns-message"]
        if let age { headers["Age"] = age }
        return .response(status: 200, headers: headers, data: data)
    }

    private static let loopback: @Sendable (Int) -> SampleResponse = { type in
        response([type == 28 ? [UInt8](repeating: 0, count: 15) + [1] : [127, 0, 0, 1]], type: type)
    }

    private func resolver(_ names: Names, fallsBack: Bool = true, clock: ManualClock = ManualClock()) throws
        -> DNSOverHTTPSResolver
    {
        DNSOverHTTPSResolver(
            server: try #require(URL(string: "https://dns.example/dns-query?user=1")),
            transport: names.transport,
            fallsBackToSystem: fallsBack,
            clock: clock
        )
    }

    @Test("A host has the addresses of both kinds, which are remembered until the TTL ends")
    func addresses() async throws {
        let (names, clock) = (Names(answer: Self.loopback), ManualClock())
        let resolver = try resolver(names, clock: clock)
        for _ in 0..<2 {
            #expect(await resolver.addresses(of: "API.example", port: 443) == ["0:0:0:0:0:0:0:1", "127.0.0.1"])
        }
        #expect(names.queries.elements.count == 2)
        #expect(names.queries.elements.allSatisfy { $0.hasPrefix("https://dns.example/dns-query?user=1&dns=AAAB") })
        clock.advance(by: .seconds(59))
        _ = await resolver.addresses(of: "api.example", port: 443)
        #expect(names.queries.elements.count == 2)
        clock.advance(by: .seconds(1))
        _ = await resolver.addresses(of: "api.example", port: 443)
        #expect(names.queries.elements.count == 4)
        resolver.removeAll()
        _ = await resolver.addresses(of: "api.example", port: 80)
        #expect(names.queries.elements.count == 6)
    }

    @Test(
        "The time in a cache is subtracted from the TTL",
        arguments: [
            ("60", 4), ("60, 1", 4), ("4294967296", 4), ("99999999999999999999", 4), ("59", 2), ("+60", 2), ("", 2),
        ]
    )
    func age(text: String, queries: Int) async throws {
        let names = Names { type in
            Self.response([[UInt8](repeating: 1, count: type == 1 ? 4 : 16)], type: type, seconds: 60, age: text)
        }
        let resolver = try resolver(names)
        for _ in 0..<2 { _ = await resolver.addresses(of: "a.example", port: 1) }
        #expect(names.queries.elements.count == queries)
    }

    @Test(
        "If the answer for one kind of address is late, the others are used after 50 ms, and it completes them",
        arguments: [(28, ["127.0.0.1"]), (1, ["0:0:0:0:0:0:0:1"])]
    )
    func late(type: Int, others: [String]) async throws {
        let (gate, clock) = (Gate(), ManualClock())
        let names = Names(gate: gate, late: type, answer: Self.loopback)
        let resolver = try resolver(names, clock: clock)
        async let first = resolver.addresses(of: "a.example", port: 1)
        try await clock.waitForSleepers()
        await gate.waitForArrivals(1)
        clock.advance(by: .milliseconds(50))
        #expect(await first == others)
        #expect(await resolver.addresses(of: "a.example", port: 1) == others)
        #expect(names.queries.elements.count == 2)
        gate.open()
        while await resolver.addresses(of: "a.example", port: 1)?.count != 2 { await Task.yield() }
        #expect(await resolver.addresses(of: "a.example", port: 1) == ["0:0:0:0:0:0:0:1", "127.0.0.1"])
        #expect(names.queries.elements.count == 2)
    }

    @Test("A kind of address that the host doesn't have isn't used without the other kind")
    func lateAndOnly() async throws {
        let (gate, clock) = (Gate(), ManualClock())
        let names = Names(gate: gate, late: 28) { type in
            Self.response(type == 28 ? [[UInt8](repeating: 1, count: 16)] : [], type: type)
        }
        let resolver = try resolver(names, clock: clock)
        async let first = resolver.addresses(of: "a.example", port: 1)
        await gate.waitForArrivals(1)
        gate.open()
        #expect(await first?.count == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test("Calls at the same time share a lookup, which the cancellation of one doesn't end")
    func shared() async throws {
        let gate = Gate()
        let names = Names(gate: gate, answer: Self.loopback)
        let resolver = try resolver(names)
        let calls = (0..<10).map { _ in Task { await resolver.addresses(of: "a.example", port: 1) } }
        await gate.waitForArrivals(2)
        calls[0].cancel()
        #expect(await calls[0].value == nil)
        gate.open()
        for call in calls[1...] { #expect(await call.value?.last == "127.0.0.1") }
        #expect(names.queries.elements.count == 2)
    }

    @Test("A lookup that began before removeAll isn't remembered, nor joined by later calls")
    func forgotten() async throws {
        let gate = Gate()
        let names = Names(gate: gate, answer: Self.loopback)
        let resolver = try resolver(names)
        let early = Task { await resolver.addresses(of: "a.example", port: 1) }
        await gate.waitForArrivals(2)
        resolver.removeAll()
        let late = Task { await resolver.addresses(of: "a.example", port: 1) }
        await gate.waitForArrivals(4)
        gate.open()
        #expect(await early.value?.last == "127.0.0.1")
        #expect(await late.value?.last == "127.0.0.1")
        _ = await resolver.addresses(of: "a.example", port: 1)
        #expect(names.queries.elements.count == 4)
    }

    @Test(
        "A name that only the own network knows stays there",
        arguments: ["localhost", "LOCALHOST.", "a.localhost", "printer.local", "Printer.Local.", "database"]
    )
    func localName(host: String) async throws {
        let names = Names(answer: Self.loopback)
        #expect(try await resolver(names).addresses(of: host, port: 80) == nil)
        #expect(names.queries.elements.isEmpty)
    }

    @Test("A dot at the end of a name makes no other name")
    func finalDot() async throws {
        let names = Names(answer: Self.loopback)
        let resolver = try resolver(names)
        for host in ["a.example.", "A.example"] { _ = await resolver.addresses(of: host, port: 80) }
        #expect(names.queries.elements.count == 2)
    }

    @Test("A host that doesn't exist has no addresses")
    func missing() async throws {
        let names = Names { Self.response([], type: $0) }
        #expect(try await resolver(names).addresses(of: "a.example", port: 1) == [])
    }

    @Test(
        "Without an answer the system looks up the host, unless that isn't wanted",
        arguments: [
            SampleResponse.response(status: 500, headers: [:], data: Data()),
            .response(status: 200, headers: ["Content-Type": "text/html"], data: Data("<p>Login".utf8)),
            .response(status: 200, headers: ["Content-Type": "application/dns-message"], data: Data([1, 2])),
            .failure(URLError(.timedOut)),
        ]
    )
    func noAnswer(response: SampleResponse) async throws {
        #expect(try await resolver(Names { _ in response }).addresses(of: "a.example", port: 1) == nil)
        #expect(try await resolver(Names { _ in response }, fallsBack: false).addresses(of: "a.example", port: 1) == [])
    }

    @Test("One kind of address is enough, but isn't remembered if the other kind has no answer")
    func oneKind() async throws {
        let names = Names { $0 == 1 ? Self.response([[127, 0, 0, 1]], type: 1) : .failure(URLError(.timedOut)) }
        let resolver = try resolver(names)
        for _ in 0..<2 { #expect(await resolver.addresses(of: "a.example", port: 1) == ["127.0.0.1"]) }
        #expect(names.queries.elements.count == 4)
    }

    @Test("The name of the server itself isn't looked up by the server", arguments: ["DNS.example", "dns.example."])
    func ownName(host: String) async throws {
        let names = Names(answer: Self.loopback)
        #expect(try await resolver(names).addresses(of: host, port: 443) == nil)
        #expect(names.queries.elements.isEmpty)
    }

    #if os(Linux)
    @Test("A call reaches its server by the addresses of a server of names")
    func call() async throws {
        let names = try TestServer { request in
            let isFour = Self.type(of: request.target) == 1
            var data = Data([0, 0, 0x81, 0x80, 0, 0, 0, isFour ? 1 : 0, 0, 0, 0, 0])
            if isFour { data.append(contentsOf: [1, 0x61, 0, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]) }
            return .data(data, headers: ["Content-Type": "application/dns-message"])
        }
        let server = try TestServer(response: .text("tea"))
        let resolver = DNSOverHTTPSResolver(server: names.baseURL.appending(path: "dns-query"), timeout: .seconds(60))
        let provider = Provider<URLTarget>(
            transport: CurlTransport(proxy: .none, resolver: { await resolver.addresses(of: $0, port: $1) })
        )
        let url = try #require(URL(string: "http://api.example:\(server.port)/teas"))
        let response = try await provider.request(URLTarget(url))
        #expect(try response.string() == "tea")
        #expect(names.requests.count == 2)
    }
    #endif
}
