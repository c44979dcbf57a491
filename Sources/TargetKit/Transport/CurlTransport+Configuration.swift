// SPDX-License-Identifier: MIT
#if canImport(CCurl)
import Foundation

extension CurlTransport {
    /// The limits and settings of a ``CurlTransport``.
    public struct Configuration: Sendable, Hashable {
        /// How long a connection may take to stand, with name lookup and TLS; default: 60 seconds.
        public var connectTimeout: Duration = .seconds(60)
        /// How long no byte may come or go before the exchange ends with `.timedOut`; default: 60 seconds.
        ///
        /// Does not count for a request that has a timeout of its own.
        public var idleTimeout: Duration = .seconds(60)
        /// How many connections may be open to one host at a time; more requests wait for one. Default: 128; 0: no limit.
        public var maxConnectionsPerHost = 128
        /// How many connections may be open in all; more requests wait for one. Default: 512; 0: no limit.
        public var maxConnections = 512
        /// How many connections without work are kept for later; default: 128.
        public var maxIdleConnections = 128

        /// The default limits.
        public init() {}
    }
}
#endif
