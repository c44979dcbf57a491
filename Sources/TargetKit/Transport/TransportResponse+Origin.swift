// SPDX-License-Identifier: MIT

extension TransportResponse {
    /// The source of a response.
    public enum Origin: Sendable, Hashable {
        /// The server, or a stub.
        case network
        /// A cache, after the server confirmed that the stored response is current.
        case revalidated
        /// A fresh response from a cache. Its age is the time since the server created or confirmed it (RFC 9111
        /// §4.2.3).
        case cache(age: Duration)
        /// A stale response from a cache (RFC 9111 §4.2.4).
        case stale(age: Duration)

        /// Whether the response is from a cache, without contacting the server.
        package var isCache: Bool {
            switch self {
            case .cache, .stale: true
            case .network, .revalidated: false
            }
        }
    }
}

extension TransportResponse.Origin: CustomStringConvertible {
    /// The origin, and the age in whole seconds.
    public var description: String {
        switch self {
        case .network: "network"
        case .revalidated: "cache, revalidated"
        case .cache(let age): "cache, \(age.components.seconds) s old"
        case .stale(let age): "cache, stale, \(age.components.seconds) s old"
        }
    }
}
