// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Servers {
    static let api = URL(string: "https://api.shop.example/v1") ?? URL(filePath: "/")
}

nonisolated let transport = StubTransport(.response(status: 200, data: Data()))
nonisolated let folder = URL(filePath: "/")
nonisolated let file = URL(filePath: "/manual")

nonisolated func digest(of text: String) -> String { text }
nonisolated func showSignIn() async {}
nonisolated func show(_ products: [String], _ manual: URL?) {}
nonisolated func show(_ text: String) {}
