// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLTarget", .throttled, .timeLimit(.minutes(2)))
struct URLTargetTests {
    @Test("A call of a URL is sent to that URL, with its method, task and header fields", arguments: Backend.allCases)
    func request(_ backend: Backend) async throws {
        let running = try RunningBackend(backend)
        let url = try #require(URL(string: "\(running.baseURL)/a%2Fb?x=1"))
        let provider = Provider<URLTarget>(transport: running.transport)
        _ = try await provider.request(URLTarget(url))
        let value = try await provider.request(
            URLTarget(url, method: .post, task: .json(["a": 1]).query(["y": 2]), headers: ["X-One": "1"]),
            as: [String: Int].self
        )
        #expect(value.isEmpty)
        #expect(running.requests.map(\.method) == ["GET", "POST"])
        #expect(running.requests.map(\.target) == ["/a%2Fb?x=1", "/a%2Fb?x=1&y=2"])
        #expect(running.requests.last?.text == #"{"a":1}"#)
        #expect(running.requests.last?.headers["X-One"] == "1")
    }

    @Test("Status 404 is an error that holds the response")
    func status() async throws {
        let running = try RunningBackend(.stub) { _ in .response(status: 404, data: Data("no".utf8)) }
        let provider = Provider<MultiTarget>(transport: running.transport)
        let error = await #expect(throws: TargetKitError.self) {
            let _: Response = try await provider.request(URLTarget(running.baseURL))
        }
        #expect(error?.stage == .status)
        #expect(error?.response?.data == Data("no".utf8))
        #expect(error?.target is URLTarget)
    }

    @Test("A textual form has neither user, query, fragment, header fields nor body")
    func textualForms() throws {
        let url = try #require(URL(string: "https://anna:s3cret@h.example/a?token=s3cret#s3cret"))
        let target = URLTarget(url, method: .post, task: .json(["a": "s3cret"]), headers: ["X": "s3cret"])
        var text = "\(target) \(String(reflecting: target))"
        dump(target, to: &text)
        #expect(text.contains("POST https://h.example/a"))
        #expect(!text.contains("s3cret"))
    }
}
