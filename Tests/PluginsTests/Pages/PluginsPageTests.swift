// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

private let server = URL.shop

/// The app's account.
enum Account: RoutedTarget {
    case signIn, refresh

    var baseURL: URL { server }
    var route: Route { .post("/session") }

    var options: CallOptions {
        switch self {
        case .signIn: .setting(\.authorization, .none)
        case .refresh: .setting(\.showsLoading, false)
        }
    }
}

@Suite("Page: TargetKitPlugins", .throttled, .timeLimit(.minutes(2)))
struct PluginsPageTests {
    @Test("Options of a target choose what plugins do")
    func options() async {
        let shown = Recorder<Bool>()
        let provider = Provider<Account>.stubbed(
            AccessTokenPlugin { _ in "token" },
            LoadingPlugin { shown.append($0) }
        )
        let refresh = try? await provider.result(.refresh).get()
        #expect(refresh?.request?.value(forHTTPHeaderField: "Authorization") == "Bearer token")
        await MainQueue.settle()
        #expect(shown.count == 0)
        let signIn = try? await provider.result(.signIn).get()
        #expect(signIn?.request?.value(forHTTPHeaderField: "Authorization") == nil)
        await MainQueue.settle()
        #expect(shown.elements == [true, false])
    }
}
