// SPDX-License-Identifier: MIT

/// The position of a plugin among the plugins of a provider.
///
/// A provider sorts its plugins by place; plugins at one place stay in array order. Each hook visits the places in its
/// own order:
///
/// | place | plugins | `prepare`, `willSend`, `didReceive`, `process`, `didFinish` | `exchange` | `retry` |
/// |---|---|---|---|---|
/// | ``start`` | count and measure whole calls | 1st | 1st | 7th |
/// | ``environment`` | choose the server | 2nd | 2nd | 8th |
/// | ``connectivity`` | wait for the network | 3rd | 5th | 4th |
/// | ``failover`` | choose among the hosts of a server | 4th | 6th | 2nd |
/// | ``admission`` | start, delay or reject calls | 5th | 7th | 5th |
/// | ``standard`` | everything else | 6th | 8th | 6th |
/// | ``retrying`` | retry failed calls | 7th | 9th | 3rd |
/// | ``authentication`` | add credentials | 8th | 10th | 1st |
/// | ``cookies`` | add cookies | 9th | 3rd | 10th |
/// | ``caching`` | respond without the server | 10th | 4th | 11th |
/// | ``signing`` | sign the final request | 11th | 11th | 9th |
/// | ``errorHandling`` | replace errors | 12th | 12th | 12th |
/// | ``observation`` | record what is sent and received | 13th | 13th | 13th |
///
/// Each `exchange` surrounds those of later places. A cached response is therefore used without waiting for the
/// network, without being rejected or counted, and without refreshing the credential.
///
/// A failed call is retried first with a new credential, then with another host, then after a delay, then after waiting
/// for the network, and last by a handler of errors.
///
/// The package's plugins have these places, some of which are between the places above:
///
/// | plugins | place |
/// |---|---|
/// | `MetricsPlugin`, `LoadingPlugin` | ``start`` |
/// | `EnvironmentPlugin` | ``environment`` |
/// | `WaitsForConnectivityPlugin` | ``connectivity`` |
/// | `HostFailoverPlugin` | ``failover`` |
/// | `CircuitBreakerPlugin` | ``admission`` |
/// | `UnauthorizedPlugin` | before ``standard``: standard plugins may replace the response in `process` |
/// | `DefaultHeadersPlugin` | ``standard`` |
/// | `RetryPlugin` | ``retrying`` |
/// | `AccessTokenPlugin`, `AuthenticationPlugin`, `CredentialsPlugin` | ``authentication``, in this order |
/// | `CookiePlugin` | ``cookies`` |
/// | `ResponseCachePlugin` | ``caching`` |
/// | `RateLimitPlugin` | after ``admission`` |
/// | `ConcurrencyLimitPlugin`, `BodyCompressionPlugin` | before ``signing``, in this order, also in `exchange` |
/// | `RequestSigningPlugin` | ``signing`` |
/// | `HedgingPlugin`, `BandwidthLimitPlugin` | after ``signing``, in this order |
/// | `TraceContextPlugin` | after ``signing``: servers on the way may change its fields |
/// | `ErrorHandlingPlugin` | ``errorHandling`` |
/// | `NetworkLoggerPlugin`, `EventLogPlugin`, `NetworkActivityPlugin`, `ErrorPresentationPlugin` | ``observation`` |
/// | `ServerClockPlugin`, `SignpostPlugin`, `HARPlugin` | ``observation`` |
///
/// A provider can have only one `RetryPlugin`, one `WaitsForConnectivityPlugin` and one `ResponseCachePlugin`; with two
/// of a type, each call fails.
///
/// To create a place, choose a raw value between those of two places. In every order, it directly follows the place with
/// the smaller raw value:
///
/// ```swift
/// extension PluginPlace {
///     static let compression = PluginPlace(rawValue: PluginPlace.authentication.rawValue + 50)
/// }
/// ```
public struct PluginPlace: RawRepresentable, Sendable, Hashable, Comparable {
    /// The position. Smaller numbers come first, except for `retry`.
    public let rawValue: Int

    /// Creates a place at a position.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Counts and measures whole calls, including other plugins' `prepare`. 50.
    public static let start = PluginPlace(rawValue: 50)
    /// Chooses the server. 100.
    public static let environment = PluginPlace(rawValue: 100)
    /// Waits until the device is online, before a host is chosen and the call is admitted. 150.
    public static let connectivity = PluginPlace(rawValue: 150)
    /// Chooses among the hosts of a server. 200.
    public static let failover = PluginPlace(rawValue: 200)
    /// Starts, delays or rejects a call. 300.
    public static let admission = PluginPlace(rawValue: 300)
    /// The default place. 400.
    public static let standard = PluginPlace(rawValue: 400)
    /// Retries failed calls. 450.
    public static let retrying = PluginPlace(rawValue: 450)
    /// Adds credentials. 500.
    public static let authentication = PluginPlace(rawValue: 500)
    /// Adds cookies. Surrounds a ``caching`` plugin, which must know the owner of a response. 580.
    public static let cookies = PluginPlace(rawValue: 580)
    /// Provides stored responses. 585.
    public static let caching = PluginPlace(rawValue: 585)
    /// Signs the request that the preceding plugins prepared. 600.
    public static let signing = PluginPlace(rawValue: 600)
    /// Replaces errors, after the plugins that react to the original ones. 650.
    public static let errorHandling = PluginPlace(rawValue: 650)
    /// Records requests and responses. 700.
    public static let observation = PluginPlace(rawValue: 700)

    /// Waits until the rate limit allows another request. 310.
    package static let rateLimit = PluginPlace(rawValue: 310)
    /// Waits for a free slot. Follows every other plugin that waits, so that no call occupies a slot while waiting.
    /// 595.
    package static let concurrencyLimit = PluginPlace(rawValue: 595)
    /// Sends a signed request a second time. 620.
    package static let hedging = PluginPlace(rawValue: 620)
    /// Limits the rate of bytes, next to the transport. 630.
    package static let bandwidth = PluginPlace(rawValue: 630)

    /// Compares the positions.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The order of `retry`: first with a new credential, then with another host, then another attempt, and last after
    /// waiting for the network.
    private static let retryOrder: [PluginPlace] = [
        .authentication, .failover, .retrying, .connectivity, .admission, .standard, .start, .environment, .signing,
        .cookies, .caching, .errorHandling, .observation,
    ]

    /// The order in which plugins surround an exchange: first plugins that respond without the network, then plugins
    /// that wait for it, reject or delay the request, and last plugins that send it.
    private static let exchangeOrder: [PluginPlace] = [
        .start, .environment, .cookies, .caching, .connectivity, .failover, .admission, .standard, .retrying,
        .authentication,
        .concurrencyLimit, .signing, .errorHandling, .observation,
    ]

    /// The position in the order of `retry`. A custom place follows the largest place below it, here and in `exchange`.
    var retryPosition: Int { position(in: Self.retryOrder) }

    /// The position in the order of `exchange`.
    var exchangePosition: Int { position(in: Self.exchangeOrder) }

    private func position(in order: [PluginPlace]) -> Int {
        order.filter { $0 <= self }.max().flatMap(order.firstIndex) ?? -1
    }
}
