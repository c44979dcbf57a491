// SPDX-License-Identifier: MIT
import TargetKit

// Two of these would count, wait or repeat twice for one call. Plugins that select their targets may occur several times.
extension RetryPlugin: SinglePlugin {}
extension CircuitBreakerPlugin: SinglePlugin {}
extension WaitsForConnectivityPlugin: SinglePlugin {}
