// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

@Suite("Page: the outbox", .throttled, .timeLimit(.minutes(2)))
struct OutboxPageTests {
    enum Shop: TargetType, Codable {
        case order(Int)
        case rename(list: Int, name: String)

        var baseURL: URL { .shop }

        var method: HTTPMethod {
            switch self {
            case .order: .post
            case .rename: .put
            }
        }

        var path: RequestPath {
            switch self {
            case .order: "/orders"
            case .rename(let list, _): "/lists/\(list)"
            }
        }

        var task: HTTPTask {
            switch self {
            case .order(let product): .json(["product": product])
            case .rename(_, let name): .json(["name": name])
            }
        }

        var options: CallOptions {
            switch self {
            case .order: .setting(\.outboxPolicy, .ifUnavailable)
            case .rename(let list, _): .setting(\.outboxGroup, "list \(list)")
            }
        }
    }

    @Test("An order that waits for the network")
    func order() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let user = "ann"
        let shown = Recorder<String>()
        let show = { @Sendable (text: String) in shown.append(text) }
        let transport = StubTransport { request in
            let isOrder = request.urlRequest.httpMethod == "POST"
            return .response(status: isOrder ? 201 : 404, data: Data())
        }
        let connectivity = ManualConnectivity(.offline)
        let reachability = Reachability(connectivity)
        let tokens = AccessTokenPlugin { _ in "token" }
        let outbox = try OfflineOutbox(
            Provider<Shop>(transport: transport, plugins: [tokens]),
            storedIn: folder.appending(path: "shop.outbox"),
            account: user,
            reachability: reachability
        )
        switch try await outbox.send(.order(7)) {
        case .sent(let response): show("Ordered: \(response.statusCode)")
        case .kept: show("Your order is sent when you are online again.")
        }
        #expect(shown.elements == ["Your order is sent when you are online again."])
        try await outbox.keep(.rename(list: 1, name: "Tea"))
        let entries = outbox.entries
        try await outbox.move(entries[1].id, before: entries[0].id)
        try await outbox.remove(entries[0].id)
        try await outbox.keep(.order(8))
        let showing = Task {
            for await entry in outbox.events {
                switch entry.state {
                case .sent(let response): show("Sent: \(response.statusCode)")
                case .failed(let error): show(error.localizedDescription)
                case .expired: show("Not sent in time")
                case .waiting, .sending, .needsSignIn, .removed: break
                }
            }
        }
        connectivity.set(.online(.wifi, isExpensive: false))
        #expect(await shown.waitForCount(3).contains("Sent: 201"))
        switch try await outbox.send(.order(9)) {
        case .sent(let response): show("Ordered: \(response.statusCode)")
        case .kept: show("Your order is sent when you are online again.")
        }
        #expect(shown.elements.last == "Ordered: 201")
        showing.cancel()
        try await outbox.removeAll()
        outbox.account = nil
        #expect(outbox.entries.isEmpty)
    }
}
