// SPDX-License-Identifier: MIT
import TargetKit

nonisolated let transport = StubTransport(.response(status: 200, data: Data()))
nonisolated let folder = URL(filePath: "/")
nonisolated let file = URL(filePath: "/manual")

nonisolated func digest(of text: String) -> String { text }
nonisolated func showSignIn(_ notice: String) async {}
nonisolated func show(_ text: String) {}
nonisolated func console(_ line: String) {}
