// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitResilience

nonisolated let moves = List<URL>()
nonisolated let changes = List<String>()
nonisolated let breaker = CircuitBreakerPlugin()
