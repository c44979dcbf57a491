// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("A driver's requests to another origin", .throttled, .timeLimit(.minutes(1)))
struct DriverOriginTests {
    /// How a driver sends its second request, to the storage of the service.
    enum Way: CaseIterable, Sendable {
        case send, sendWithBody, prepared, concurrently, inBackground
    }

    private struct Upload: TransferDriver {
        let way: Way
        var changes: @Sendable (inout URLRequest) -> Void = { _ in }
        var keepsSecrets = false
        let storage: URL

        func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
            let first = try await exchanges.send(request)
            var second = request
            second.url = storage
            changes(&second)
            switch way {
            case .send: return try await exchanges.send(second)
            case .sendWithBody: return try await exchanges.send(second, body: .data(Data("a".utf8)))
            case .prepared:
                let unchanged: @Sendable (URLRequest) -> URLRequest = { $0 }
                let prepared = try await exchanges.prepare(
                    second,
                    body: .data(Data()),
                    restriction: keepsSecrets ? unchanged : nil
                )
                return try await exchanges.send(prepared)
            case .concurrently: return try await exchanges.concurrent().send(second)
            case .inBackground:
                exchanges.sendInBackground(second)
                return first
            }
        }
    }

    private struct Token: Plugin {
        var hooks: PluginHooks { .prepare }
        var secretHeaders: Set<HTTPHeaderName> { ["X-Shop"] }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
            request.setValue("secret", forHTTPHeaderField: "X-Shop")
            request.setValue("plain", forHTTPHeaderField: "X-Plain")
            request.url = request.url?.appending(queryItems: [URLQueryItem(name: "access_token", value: "secret")])
            return request
        }
    }

    private let sent = Recorder<TransportRequest>()

    private func second(_ driver: Upload) async throws -> TransportRequest {
        let provider = Provider<TestTarget>(
            transport: StubTransport { [sent] request in
                sent.append(request)
                return .response(status: 200)
            },
            plugins: [Token()]
        )
        var target = TestTarget(.example)
        target.method = .post
        target.headers = ["X-Api-Key": "key"]
        target.task = .plain.driver(driver)
        let response = try await provider.request(target)
        await provider.scope.shutdown(grace: .seconds(60))
        let isCrossOrigin = driver.storage != .example && !driver.keepsSecrets
        #expect(driver.way == .inBackground || response.isCrossOrigin == isCrossOrigin)
        return try #require(sent.elements.last)
    }

    private static let storage = URL(string: "https://storage.example/7") ?? .example
    private static let names = ["Authorization", "X-Shop", "X-Api-Key", "X-Plain"]

    private func values(_ request: TransportRequest) -> [String?] {
        Self.names.map { request.urlRequest.value(forHTTPHeaderField: $0) }
    }

    @Test("It has no secrets of the plugins and of the target, however it is sent", arguments: Way.allCases)
    func restricted(way: Way) async throws {
        let request = try await second(Upload(way: way, storage: Self.storage))
        #expect(sent.elements.count == 2)
        #expect(request.urlRequest.url == Self.storage)
        #expect(values(request) == [nil, nil, nil, "plain"])
        #expect(request.isCrossOrigin)
    }

    @Test("A secret that the driver adds itself is sent", arguments: Way.allCases)
    func ofDriver(way: Way) async throws {
        let changes: @Sendable (inout URLRequest) -> Void = {
            $0.setValue("storage key", forHTTPHeaderField: "X-Api-Key")
        }
        let request = try await second(Upload(way: way, changes: changes, storage: Self.storage))
        #expect(values(request) == [nil, nil, "storage key", "plain"])
    }

    @Test("A request to the call's origin is not restricted", arguments: Way.allCases)
    func sameOrigin(way: Way) async throws {
        let request = try await second(Upload(way: way, storage: .example))
        #expect(values(request) == ["Bearer token", "secret", "key", "plain"])
        #expect(!request.isCrossOrigin)
    }

    private struct Mover: Plugin {
        var hooks: PluginHooks { .prepare }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            guard request.url?.host == "primary.example" else { return request }
            var request = request
            request.url = URL(string: "https://standby.example/1")
            return request
        }
    }

    private struct Following: TransferDriver {
        let host: String

        func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
            _ = try await exchanges.send(request)
            var second = request
            second.url = URL(string: "https://\(host)/2")
            return try await exchanges.send(second)
        }
    }

    @Test(
        "The origin to which a plugin moved the call's request is the call's own",
        arguments: [("standby.example", true), ("primary.example", true), ("storage.example", false)]
    )
    func moved(host: String, isOwn: Bool) async throws {
        let provider = Provider<TestTarget>(
            transport: StubTransport { [sent] request in
                sent.append(request)
                return .response(status: 200)
            },
            plugins: [Mover()]
        )
        var target = TestTarget(URL(string: "https://primary.example") ?? .example)
        target.headers = ["Authorization": "Bearer token"]
        target.task = .plain.driver(Following(host: host))
        let response = try await provider.request(target)
        let second = try #require(sent.elements.last)
        #expect(second.urlRequest.value(forHTTPHeaderField: "Authorization") == (isOwn ? "Bearer token" : nil))
        #expect(response.isCrossOrigin == !isOwn)
    }

    @Test("A restriction of the driver's own decides alone")
    func ownRestriction() async throws {
        let request = try await second(Upload(way: .prepared, keepsSecrets: true, storage: Self.storage))
        #expect(values(request) == ["Bearer token", "secret", "key", "plain"])
        #expect(!request.isCrossOrigin)
    }
}
