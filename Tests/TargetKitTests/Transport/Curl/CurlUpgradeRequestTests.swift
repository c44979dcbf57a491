// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import TargetKit

@Suite("The head of an upgrade request", .throttled)
struct CurlUpgradeRequestTests {
    private func requestHead(_ url: String, _ fields: [String: String] = [:]) throws -> String {
        var request = URLRequest(url: try #require(URL(string: url)))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let call = try CurlCall(TransportRequest(urlRequest: request))
        return String(decoding: try call.upgradeHead(), as: UTF8.self)
    }

    @Test(
        "The field Host has the port unless it is the scheme's",
        arguments: [
            ("http://example.com", "example.com", "/"), ("http://example.com:80/", "example.com", "/"),
            ("https://example.com:443", "example.com", "/"), ("https://example.com:80/x", "example.com:80", "/x"),
            ("https://[::1]:9/?q", "[::1]:9", "/?q"),
            ("https://example.com:8443/a%2Fb?x=1#f", "example.com:8443", "/a%2Fb?x=1"),
        ]
    )
    func host(url: String, host: String, target: String) throws {
        let lines = try requestHead(url, ["Authorization": "Bearer t"]).components(separatedBy: "\r\n")
        #expect(lines.first == "GET \(target) HTTP/1.1")
        #expect(lines.dropFirst().first == "Host: \(host)")
        #expect(lines.contains("Authorization: Bearer t"))
        #expect(lines.suffix(2) == ["", ""])
    }

    @Test("A field with a line break in its name is refused")
    func injection() throws {
        var request = URLRequest(url: try #require(URL(string: "http://example.com")))
        request.allHTTPHeaderFields = ["X\r\nY": "1"]
        try #require(request.allHTTPHeaderFields?.isEmpty == false)
        #expect(throws: (any Error).self) {
            try CurlCall(TransportRequest(urlRequest: request)).upgradeHead()
        }
    }
}
#endif
