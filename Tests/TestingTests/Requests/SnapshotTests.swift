// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The snapshot of a request", .throttled)
struct SnapshotTests {
    private enum Shop: TargetType {
        case json, form, photo, file(URL)

        var baseURL: URL { URL(string: "https://shop.example/v1") ?? URL(fileURLWithPath: "/") }
        var path: RequestPath { "/things" }
        var method: HTTPMethod { .post }
        var headers: HTTPHeaders { ["X-Kind": "thing"] }
        var options: CallOptions { .setting(\.headers, ["X-Option": "1"]) }

        var task: HTTPTask {
            switch self {
            case .json: .json(["name": "tea", "password": "pw-1", "tags": ["a", nil]])
            case .form: .form(["name": "green tea", "token": "pw-1"])
            case .photo:
                .multipart([.text("tea", name: "title"), .data(Data([0, 1]), name: "photo", fileName: "a.png")])
            case .file(let url): .upload(file: url)
            }
        }
    }

    /// Fails, because nothing is to be sent.
    private struct NoTransport: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            Issue.record("a request was sent")
            throw URLError(.badURL)
        }
    }

    private struct TokenPlugin: Plugin {
        let place = PluginPlace.authentication
        let secretHeaders: Set<HTTPHeaderName> = ["X-Ticket"]

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue("Bearer pw-1", forHTTPHeaderField: "Authorization")
            request.setValue("pw-1", forHTTPHeaderField: "X-Ticket")
            return request
        }
    }

    @Test("It has the query, the fields, and redacted credentials of plugins")
    func query() async throws {
        let provider = Provider<TeaShop>(transport: NoTransport(), plugins: [TokenPlugin()])
        #expect(
            try await provider.snapshot(of: .search("green tea")) == """
                GET /v1/search?page=1&q=green%20tea
                Authorization: <redacted>
                Host: shop.example
                X-Ticket: <redacted>
                """
        )
        let some = try await provider.snapshot(of: .product(id: 7), omitting: ["authorization", "X-Ticket"])
        #expect(some == "GET /v1/products/7\nHost: shop.example")
    }

    @Test("It has the body, with the fields of options, also in a MultiTarget")
    func body() async throws {
        let provider = Provider<MultiTarget>(transport: NoTransport())
        #expect(
            try await provider.snapshot(of: MultiTarget(Shop.json), options: .setting(\.headers, ["X-Option": "2"]))
                == """
                POST /v1/things
                Content-Type: application/json
                Host: shop.example
                X-Kind: thing
                X-Option: 2

                {
                  "name" : "tea",
                  "password" : "<redacted>",
                  "tags" : [
                    "a",
                    null
                  ]
                }
                """
        )
        let form = try await provider.snapshot(of: MultiTarget(Shop.form))
        #expect(form.hasSuffix("\n\nname=green tea\ntoken=<redacted>"))
    }

    @Test("A multipart body and a file are read, and the boundary is always the same")
    func streamedBodies() async throws {
        let provider = Provider<Shop>(transport: NoTransport())
        let photo = try await provider.snapshot(of: .photo)
        #expect(photo == (try await provider.snapshot(of: .photo)))
        #expect(photo.contains("multipart/form-data; boundary=boundary"))
        #expect(photo.contains("name=\"title\"\n\ntea\n--boundary"))
        #expect(photo.contains("<2 bytes, SHA-256 "))
        let folder = try TemporaryFolder()
        let file = try folder.file("a.txt", Data("hello".utf8))
        #expect(try await provider.snapshot(of: .file(file)).hasSuffix("\n\nhello"))
        await #expect(throws: (any Error).self) { try await provider.snapshot(of: .file(folder.url)) }
    }

    @Test("Plugins that count or observe calls are not called; the other ones see the end")
    func plugins() async throws {
        let places: [PluginPlace] = [
            .start, .connectivity, .admission, .standard, .caching, .signing, .observation,
        ]
        let plugins = places.map { RecordingPlugin(place: $0) }
        let provider = Provider<TeaShop>(transport: NoTransport(), plugins: plugins)
        _ = try await provider.snapshot(of: .product(id: 1))
        let called: [PluginPlace] = [.standard, .signing]
        #expect(plugins.filter { !$0.events.isEmpty }.map(\.place) == called)
        #expect(plugins.allSatisfy { $0.events.isEmpty || $0.events == [.prepare(attempt: 0)] })
        let ended = plugins.filter { !$0.finishedCalls.isEmpty }
        #expect(ended.map(\.place) == called)
        #expect(ended.flatMap(\.finishedCalls).allSatisfy { $0.result.failure?.stage == .cancelled })
        #expect(provider.scope.inFlightCount == 0)
    }

    @Test("A failure of a closure or plugin is thrown")
    func failures() async throws {
        struct Refusal: Error {}
        let refusing = RecordingPlugin(prepare: { _, _ in throw Refusal() })
        let provider = Provider<TeaShop>(transport: NoTransport(), plugins: [refusing])
        let error = await #expect(throws: TargetKitError.self) { try await provider.snapshot(of: .product(id: 1)) }
        #expect(error?.stage == .request)
        #expect(error?.underlying is Refusal)
        let closures = Provider<TeaShop>(endpointClosure: { _ in throw Refusal() }, transport: NoTransport())
        await #expect(throws: TargetKitError.self) { try await closures.snapshot(of: .product(id: 1)) }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
