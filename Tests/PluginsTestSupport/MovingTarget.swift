// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// A target of the selected environment. Each test has a store of its own, and the target only its identifier, because
/// an outbox and a queue store the target.
package struct MovingTarget: TargetType, Codable {
    private static let stores = Locked<[UUID: EnvironmentStore]>([:])

    private let store: UUID
    private let isPost: Bool

    /// - Parameter isPost: Whether the method is POST; default: GET.
    package init(of environments: EnvironmentStore, isPost: Bool = false) {
        let id = UUID()
        Self.stores.withLock { $0[id] = environments }
        store = id
        self.isPost = isPost
    }

    package var baseURL: URL { Self.stores.withLock { $0[store] }?.current.baseURL ?? .shop }
    package var path: RequestPath { "/orders" }
    package var method: HTTPMethod { isPost ? .post : .get }
}

extension EnvironmentStore {
    /// The environments "test", which is selected, and "live".
    package static func testAndLive() -> EnvironmentStore {
        EnvironmentStore(
            default: ServerEnvironment("test", baseURL: "https://test.example/v1"),
            others: [ServerEnvironment("live", baseURL: "https://live.example/v2")],
            storage: MemoryEnvironmentStorage(),
            launch: .ignored
        )
    }
}
