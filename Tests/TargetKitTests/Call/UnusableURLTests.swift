// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("URLs to which no connection can be made", .throttled, .timeLimit(.minutes(1)))
struct UnusableURLTests {
    private static let unusable = [
        ("http://localhost:99999", "the port 99999 is above 65535"),
        ("HTTP://LOCALHOST:65536/", "the port 65536 is above 65535"),
        ("https://user:pw@localhost:70000?x=y", "the port 70000 is above 65535"),
        ("http://[::1]:99999/", "the port 99999 is above 65535"),
        ("http://localhost:18446744073709551617/", "the port 18446744073709551617 is above 65535"),
        ("http://a%20b/", "the host \"a%20b\" has a character that no name has"),
        ("http://%00/", "the host \"%00\" has a character that no name has"),
        ("http://a%2Fb:80/", "the host \"a%2Fb\" has a character that no name has"),
        ("http://%FF/", "the host \"%FF\" has a character that no name has"),
    ]

    private func failure(_ url: URL) async -> TargetKitError? {
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        return await #expect(throws: TargetKitError.self) { try await provider.request(TestTarget(url)) }
    }

    @Test("The error names what is wrong with a base URL, and its kind is that of a request", arguments: unusable)
    func baseURL(text: String, problem: String) async throws {
        let error = await failure(try #require(URL(string: text)))
        #expect(error?.kind == .invalidRequest)
        #expect(error?.description.contains("can't be called: \(problem)") == true, "\(error.debugDescription)")
    }

    @Test(
        "The error names what is wrong with a redirect's URL, and its kind is that of a redirect",
        arguments: unusable
    )
    func redirect(text: String, problem: String) async throws {
        let server = try TestServer { _ in .init(status: 302, headers: ["Location": text]) }
        let error = await failure(server.baseURL)
        #expect(error?.kind == .badRedirect)
        #expect(error?.stage == .transport)
        let words = "the redirect can't be followed: \(problem) in its Location"
        #expect(error?.description.contains(words) == true, "\(error.debugDescription)")
    }

    @Test("The line of a failure behind a redirect has both URLs, without secrets")
    func lastURL() async throws {
        let server = try TestServer { _ in
            .init(status: 307, headers: ["Location": "http://u:p@127.0.0.1:1/next?token=t#f"])
        }
        let error = await failure(server.baseURL)
        #expect(error?.kind == .cannotConnect)
        let urls = "[GET \(server.baseURL)/things, redirected to http://127.0.0.1:1/next]: "
        #expect(
            error?.description == "TestTarget: the exchange failed \(urls)the connection was refused (URLError -1004)"
        )
    }

    @Test("A redirect to a URL that only the transport refuses is a bad redirect, too")
    func refusedByTransport() async throws {
        let transport = RefusingTransport()
        let provider = Provider<TestTarget>(transport: transport)
        let url = try #require(URL(string: "http://a.example"))
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(TestTarget(url)) }
        #expect(error?.kind == .badRedirect)
        #expect(error?.description.contains("the transport doesn't support its Location") == true)
    }

    @Test(
        "An unusual host or port can be called",
        arguments: [
            "http://localhost:65535", "http://localhost:00080/", "http://localhost:/", "http://b%C3%BCcher.example",
            "http://[::1%25lo]:80/", "http://exa_mple/", "http://user@h.example:80/?a:99999",
            "http://h.example/a:99999",
            "http://a!b.example",
        ]
    )
    func unusual(text: String) async throws {
        let transport = StubTransport(.status(200))
        let provider = Provider<TestTarget>(transport: transport)
        let response = try await provider.request(TestTarget(try #require(URL(string: text))))
        #expect(response.statusCode == 200)
    }

    private struct RefusingTransport: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            guard request.urlRequest.url?.host() == "a.example" else { throw URLError(.unsupportedURL) }
            let head = ResponseHead(statusCode: 302, headers: ["Location": "http://b.example"])
            return TransportResponse(head: head, body: .data(Data()))
        }
    }
}
