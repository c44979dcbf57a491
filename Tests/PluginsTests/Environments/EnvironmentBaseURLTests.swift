// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKitPlugins
import TestSupport
import Testing

@Suite("The environment of a URL", .throttled)
struct EnvironmentBaseURLTests {
    @Test(
        "A URL belongs to the environment with its server, or on a shared server to the one with its path",
        arguments: [
            ("https://api.shop.example/v1/things", .production), ("https://API.shop.example:443/other", .production),
            ("https://media.shop.example/1.png", .production), ("https://api.test.example/v1", .test),
            ("http://stage.example:8080/", "stage"), ("http://stage.example/", nil),
            ("http://api.shop.example/v1", nil), ("https://cdn.example/v1", nil), ("file:///v1", nil), ("", nil),
        ] as [(String, String?)]
    )
    func environmentOfURL(text: String, name: String?) throws {
        let store = EnvironmentStore.shop()
        #expect(store.environment(of: URL(string: text))?.name == name)
        try store.select("stage")
        #expect(store.environment(of: URL(string: text))?.name == name)
    }

    @Test("On a shared server the path decides, and otherwise the current environment")
    func sharedServer() throws {
        let a = ServerEnvironment("a", baseURL: "https://x.example/a")
        let b = ServerEnvironment("b", baseURL: "https://x.example/b/")
        let c = ServerEnvironment("c", baseURL: "https://x.example/a/c")
        let store = EnvironmentStore(default: a, others: [b, c], storage: MemoryEnvironmentStorage(), launch: .ignored)
        let paths = ["/a/1", "/b", "/b/1", "/a/c/1", "/a/cc", "/", "/ab"]
        let names = { paths.map { store.environment(of: URL(string: "https://x.example\($0)"))?.name } }
        #expect(names() == ["a", "b", "b", "c", "a", "a", "a"])
        try store.select("b")
        #expect(names() == ["a", "b", "b", "c", "a", "b", "b"])
    }
}
