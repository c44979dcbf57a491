// SPDX-License-Identifier: MIT
import TargetKit

// Two of these would wait or repeat twice in the same call. Plugins that select their targets may occur several times.
extension RetryPlugin: SinglePlugin {}
extension WaitsForConnectivityPlugin: SinglePlugin {}

// These return from their asynchronous hooks without waiting.
extension RetryPlugin: ImmediatePlugin {}
extension CircuitBreakerPlugin: ImmediatePlugin {}
extension HostFailoverPlugin: ImmediatePlugin {}
extension EnvironmentPlugin: ImmediatePlugin {}
extension DefaultHeadersPlugin: ImmediatePlugin {}
extension LoadingPlugin: ImmediatePlugin {}
extension MetricsPlugin: ImmediatePlugin {}

// These wait only by `RequestContext.cancellable(_:)`.
extension WaitsForConnectivityPlugin: ImmediatePlugin {}
extension UnauthorizedPlugin: ImmediatePlugin {}

// A refresh of the credential needs the network.
extension AuthenticationPlugin: OfflinePreparingPlugin {}

// A failover leaves a host whose circuit is open.
extension CircuitBreakerPlugin: AdmittingPlugin {}
