// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

nonisolated let chunk = JSONValue.null
nonisolated let reachability = Reachability()

nonisolated func digest(of text: String) -> String { text }
nonisolated func encrypt(_ data: Data) throws -> Data { data }
nonisolated func decrypt(_ data: Data) throws -> Data { data }
