// SPDX-License-Identifier: MIT
import TargetKit

nonisolated let server = URL(filePath: "/")
nonisolated let folder = URL(filePath: "/")
nonisolated let file = URL(filePath: "/")
nonisolated let provider = Provider<Archive>()

nonisolated func show(_ fraction: Double?) {}
nonisolated func show(_ result: Result<Response, TargetKitError>) {}
