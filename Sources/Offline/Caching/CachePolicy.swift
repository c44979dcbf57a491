// SPDX-License-Identifier: MIT
import TargetKit

/// The way in which a call uses the cache of its provider's ``ResponseCachePlugin``.
///
/// A policy that uses a response regardless of its age also ignores `no-cache` and `must-revalidate`. The cache never
/// contains responses that the server doesn't allow to be stored.
public enum CachePolicy: Sendable, Hashable {
    /// Follows the server's caching fields (RFC 9111), or the request's `cachePolicy` if a closure or a plugin has set
    /// it. This is the default.
    case useProtocol
    /// Loads the response from the server and stores it.
    case reload
    /// Uses a cached response regardless of its age, or loads the response if there is none.
    case cachedElseLoad
    /// Uses a cached response regardless of its age, or fails with the kind `.notCached` and
    /// `URLError(.resourceUnavailable)` if there is none.
    case onlyCached
    /// Follows the server's caching fields. Uses a cached response regardless of its age if the call fails before it is
    /// sent, without a response, or with status 408, 429 or 5xx. A `WaitsForConnectivityPlugin` doesn't delay it then.
    case staleOnFailure

    /// The policy of a request.
    init(_ policy: URLRequest.CachePolicy) {
        switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: self = .reload
        case .returnCacheDataElseLoad: self = .cachedElseLoad
        case .returnCacheDataDontLoad: self = .onlyCached
        default: self = .useProtocol
        }
    }

    /// The policy of `URLRequest` with the same effect on an exchange.
    var urlRequestPolicy: URLRequest.CachePolicy {
        switch self {
        case .useProtocol, .staleOnFailure: .useProtocolCachePolicy
        case .reload: .reloadIgnoringLocalCacheData
        case .cachedElseLoad: .returnCacheDataElseLoad
        case .onlyCached: .returnCacheDataDontLoad
        }
    }

    /// Whether a failed call may return a cached response.
    var allowsFallback: Bool {
        switch self {
        case .useProtocol, .reload: false
        case .cachedElseLoad, .onlyCached, .staleOnFailure: true
        }
    }
}

extension CallOptions {
    /// The way in which the call uses the cache; default: `CachePolicy.useProtocol`. Another value overrides the
    /// `cachePolicy` of the request. It has no effect without a `ResponseCachePlugin`.
    public var cachePolicy: CachePolicy {
        get { self[CachePolicyKey.self] }
        set { self[CachePolicyKey.self] = newValue }
    }
}

extension CallOptions {
    /// Whether a cached response is validated before use, even if it is fresh.
    var validatesCachedResponse: Bool {
        get { self[ValidatesKey.self] }
        set { self[ValidatesKey.self] = newValue }
    }
}

private enum ValidatesKey: CallOptionKey { static let defaultValue = false }
private enum CachePolicyKey: CallOptionKey { static let defaultValue = CachePolicy.useProtocol }
