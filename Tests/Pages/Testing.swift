// SPDX-License-Identifier: MIT
import TargetKitTesting

nonisolated let calls = RequestLog()
nonisolated let folder = URL(filePath: "/tmp")
