// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

#if os(Linux)
/// The snippets of the page about transports and TLS, compiled and run.
@Suite("Page: Transports and TLS", .throttled)
struct TransportsPageTests {
    @Test("Transports: providers share a transport, and a transport has settings")
    func transports() async throws {
        let server = try TestServer(response: .status(204))
        do {
            let transport = URLSessionTransport()
            let orders = Provider<Orders>(transport: transport)
            let account = Provider<Account>(transport: transport)
            #expect(try await orders.request(Orders(baseURL: server.baseURL)).statusCode == 204)
            #expect(try await account.request(Account(baseURL: server.baseURL)).statusCode == 204)
            transport.shutdown()
        }
        let direct = CurlTransport(
            idleTimeout: .seconds(20),
            maxConnectionsPerHost: 16,
            allowsHTTP2: false,
            proxy: .none
        )
        let provider = Provider<Orders>(transport: direct)
        #expect(try await provider.request(Orders(baseURL: server.baseURL)).statusCode == 204)
    }

    @Test("Addresses: a resolver sends the requests for a host to its server")
    func resolver() async throws {
        let server = try TestServer(response: .status(204))
        let resolved = CurlTransport(resolver: { host, _ in host == "api.example" ? ["127.0.0.1"] : nil })
        let url = try #require(URL(string: "http://api.example:\(server.port)"))
        let provider = Provider<Orders>(transport: resolved)
        #expect(try await provider.request(Orders(baseURL: url)).statusCode == 204)
    }

    @Test("TLS: policies with a pin and with a client certificate")
    func policies() throws {
        let keys = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="]
        let authority = URL(filePath: "/etc/shop/authority.pem")
        let tls = TLSPolicy(trust: .authoritiesFile(authority), pins: ["*.shop.example": keys], requiresTLS13: true)
        #expect(tls != TLSPolicy(trust: .authoritiesFile(authority), requiresTLS13: true))
        let password = "secret"
        let file = URL(filePath: "/etc/shop/client.p12")
        let mutual = TLSPolicy(clientCertificate: .init(file: file, password: password))
        #expect(mutual != TLSPolicy())
    }

    @Test("A transport of one's own is interrupted by the handle of its call", .timeLimit(.minutes(3)))
    func ownTransport() async throws {
        let provider = Provider<Orders>(transport: EngineTransport())
        let handle = provider.request(Orders(baseURL: .example), on: .global()) { _ in }
        handle.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await handle.response() }
        #expect(error?.stage == .cancelled)
        let call = Task { try await EngineTransport().send(TestCall().request(to: .example)) }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test("Every line of Swift on the page is a line of this file")
    func everySnippetIsHere() throws {
        let known = try DocumentationPage.lines(at: "Tests/TargetKitTests/TransportsPageTests.swift")
        let lines = try DocumentationPage("Sources/TargetKit/TargetKit.docc/TransportsAndTLS.md").lines()
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(known.contains(line), "\(line)")
        }
    }
}

private struct Orders: TargetType {
    let baseURL: URL
    var path: RequestPath { "/orders" }
}

private typealias Account = Orders

/// A client whose exchanges end only when they are cancelled.
private struct Engine: Sendable {
    struct Exchange: Sendable {
        private let isCancelled = Gate()

        func response() async throws -> TransportResponse {
            await isCancelled.wait()
            throw CancellationError()
        }

        func cancel() {
            isCancelled.open()
        }
    }

    func exchange(for request: TransportRequest) -> Exchange { Exchange() }
}

final class EngineTransport: Transport {
    private let engine = Engine()

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let exchange = engine.exchange(for: request)
        return try await withTaskCancellationHandler {
            try await exchange.response()
        } onCancel: {
            exchange.cancel()
        }
    }
}
#endif
