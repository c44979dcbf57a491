// SPDX-License-Identifier: MIT
import TargetKit

nonisolated let server = URL(filePath: "/")
nonisolated let file = URL(filePath: "/")
nonisolated let provider = Provider<Studio>()
