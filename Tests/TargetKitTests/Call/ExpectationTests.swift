// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests that wait for `100 Continue` (RFC 9110 §10.1.1).
@Suite("Calls: expectations", .throttled, .timeLimit(.minutes(2)))
struct ExpectationTests {
    private func target(_ server: TestServer) -> TestTarget {
        TestTarget(server.baseURL).with {
            $0.method = .post
            $0.headers = ["Expect": "100-continue"]
            $0.task = .data(Data("order".utf8))
            $0.validation = .successCodes
        }
    }

    @Test("A request whose expectation fails is sent again once, without the expectation", arguments: [false, true])
    func repeated(isRedirected: Bool) async throws {
        let server = try TestServer { request in
            if isRedirected, request.path != "/orders" { return .redirect(to: "/orders", status: 307) }
            return request.headers["Expect"] == nil
                ? TestServer.Response(body: request.body) : .text("no", status: 417)
        }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        let response = try await provider.request(target(server))
        #expect(response.data == Data("order".utf8))
        #expect(response.redirects.count == (isRedirected ? 1 : 0))
        let paths = server.requests.map { "\($0.path) \($0.headers["Expect"] ?? "none")" }
        #expect(paths.suffix(2).map { $0.split(separator: " ").last } == ["100-continue", "none"])
        #expect(paths.count == (isRedirected ? 3 : 2))
    }

    @Test("A 417 to a request without an expectation, and a second 417, are the response", arguments: [true, false])
    func final(expects: Bool) async throws {
        let server = try TestServer(response: .text("no", status: 417))
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        let target = expects ? target(server) : target(server).with { $0.headers = [:] }
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(error?.response?.statusCode == 417)
        #expect(server.headCount == (expects ? 2 : 1))
    }
}
