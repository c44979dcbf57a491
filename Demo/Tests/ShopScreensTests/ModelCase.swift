// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitOffline
import TargetKitPlugins
import TargetKitTesting

@testable import ShopScreens

/// The models of the screens, over stubbed providers.
@MainActor
struct ModelCase {
    let calls = RequestLog()
    let clock = ManualClock()
    let client: ShopClient
    let outbox: OfflineOutbox<WaitingOrder>

    /// - Parameter plugins: Plugins beside the client's own.
    init(_ routes: KeyValuePairs<RequestPattern, StubResponse>, plugins: [any Plugin] = []) throws {
        var settings = ShopClient.Settings()
        settings.transport = StubTransport(routes: routes, log: calls, clock: clock)
        settings.retryPolicy = .never
        settings.plugins = plugins
        client = ShopClient(settings)
        outbox = try client.outbox(storedIn: nil)
    }

    var offline: URLError { URLError(.notConnectedToInternet) }
}
