// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

@Suite("Page: resources", .throttled, .timeLimit(.minutes(2)))
struct ResourcesPageTests {
    enum Account: TargetType {
        case profile
        case rename(String)

        var baseURL: URL { .shop }
        var path: RequestPath { "/profile" }
    }

    struct Profile: ResponseModel {
        var name: String
        var followers: Int
    }

    final class Model: Sendable {
        let profile: Resource<Profile>

        init(_ provider: Provider<Account>) {
            profile = Resource(provider, .profile, as: Profile.self, maximumAge: .seconds(300))
        }
    }

    @Test("A profile that several screens show")
    func profile() async throws {
        let shown = Recorder<String>()
        let show = { @Sendable (text: String) in shown.append(text) }
        let body = Data(#"{"name":"Anne","followers":3}"#.utf8)
        let provider = Provider<Account>(transport: StubTransport(.response(status: 200, data: body)))
        let model = Model(provider)
        let profile = model.profile
        try await profile.refreshIfStale()
        show(profile.state.value?.name ?? "")
        #expect(shown.elements == ["Anne"])
        let showing = Task {
            for await state in profile.updates {
                if let error = state.error { show(error.localizedDescription) }
                show(state.value?.name ?? "")
            }
        }
        try await profile.update(optimistically: { $0.name = "Ann" }) {
            _ = try await provider.request(.rename("Ann"))
        }
        while shown.elements.last != "Ann" {
            try Task.checkCancellation()
            await Task.yield()
        }
        showing.cancel()
    }
}
