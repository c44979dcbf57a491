// SPDX-License-Identifier: MIT
import TargetKit

nonisolated let provider = Provider<Shop>(transport: StubTransport(.response(status: 200, data: Data())))

nonisolated func show(_ text: String) {}
