// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Cookies of a provider")
struct ProviderCookieTests {
    private func server(_ backend: Backend) throws -> RunningBackend {
        try RunningBackend(backend) { request in
            guard request.target == "/login" else { return .response(status: 200, data: Data()) }
            let headers = HTTPHeaders(
                dictionaryLiteral: ("Set-Cookie", "a=1; Path=/; Expires=Wed, 09 Jun 2100 10:18:14 GMT"), ("Set-Cookie", "b=2; Path=/"),
                ("Location", "/home")
            )
            return .response(status: 302, headers: headers, data: Data())
        }
    }

    private func call(_ running: RunningBackend, _ path: RequestPath) -> TestTarget {
        TestTarget(running.baseURL).with { $0.path = path }
    }

    @Test("Without a store none are kept", arguments: Backend.allCases)
    func off(_ backend: Backend) async throws {
        let running = try server(backend)
        let provider = Provider<TestTarget>(transport: running.transport)
        _ = try await provider.request(call(running, "/login"))
        _ = try await provider.request(call(running, "/home"))
        #expect(running.requests.allSatisfy { $0.headers[.cookie] == nil })
    }

    @Test("Those of a redirect go along with the next request, and to every provider that shares the store", arguments: Backend.allCases)
    func shared(_ backend: Backend) async throws {
        let running = try server(backend)
        let store = CookieStore()
        let one = Provider<TestTarget>(transport: running.transport, cookies: store)
        let two = Provider<MultiTarget>(transport: running.transport, cookies: store)
        let response = try await one.request(call(running, "/login"))
        #expect(response.request?.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
        _ = try await two.request(call(running, "/other"))
        #expect(running.requests.map { $0.headers[.cookie] } == [nil, "a=1; b=2", "a=1; b=2"])
        #expect(store.cookies.map(\.name).sorted() == ["a", "b"])
    }

    @Test("A Cookie field of the target's own stands in for the store's")
    func own() async throws {
        let running = try server(.stub)
        let store = CookieStore()
        store.store(["a=1; Path=/"], from: running.baseURL)
        let provider = Provider<TestTarget>(transport: running.transport, cookies: store)
        _ = try await provider.request(call(running, "/x").with { $0.headers = ["Cookie": "mine=1"] })
        #expect(running.requests.last?.headers[.cookie] == "mine=1")
    }
}
