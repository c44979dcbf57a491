// SPDX-License-Identifier: MIT

/// The position of a plugin among the plugins of a provider.
///
/// A provider sorts its plugins by place; plugins of the same place keep the order of the array. Each hook visits the
/// places in its own order:
///
/// | place | plugins | `prepare`, `willSend`, `didReceive`, `process`, `didFinish` | `exchange` | `retry` |
/// |---|---|---|---|---|
/// | ``start`` | count and measure whole calls | 1st | 1st | 7th |
/// | ``environment`` | choose the server | 2nd | 2nd | 8th |
/// | ``connectivity`` | wait for the network | 3rd | 5th | 4th |
/// | ``failover`` | choose among the hosts of a server | 4th | 6th | 2nd |
/// | ``admission`` | let a call start, delay it or refuse it | 5th | 7th | 5th |
/// | ``standard`` | everything else | 6th | 8th | 6th |
/// | ``retrying`` | repeat failed calls | 7th | 9th | 3rd |
/// | ``authentication`` | add credentials | 8th | 10th | 1st |
/// | ``cookies`` | add cookies | 9th | 3rd | 10th |
/// | ``caching`` | answer without the server | 10th | 4th | 11th |
/// | ``signing`` | sign what the others have made | 11th | 11th | 9th |
/// | ``errorHandling`` | replace errors | 12th | 12th | 12th |
/// | ``observation`` | record what is sent and received | 13th | 13th | 13th |
///
/// Each `exchange` surrounds those of the later places. A stored response is therefore used without waiting for the
/// network, without being refused or counted, and without a refresh of the credential.
///
/// A failed call is retried with a new credential first, then with another host, then after a delay, and last after
/// waiting for the network. A place between two of them is between them in all orders, next to the one with the smaller
/// raw value.
///
/// The package's plugins have these places, some of which are between two of those above:
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
/// | `ConcurrencyLimitPlugin` | before ``signing``, also in `exchange` |
/// | `RequestSigningPlugin` | ``signing`` |
/// | `HedgingPlugin`, `BandwidthLimitPlugin` | after ``signing``, in this order |
/// | `TraceContextPlugin` | after ``signing``: servers on the way may change its fields |
/// | `ErrorHandlingPlugin` | ``errorHandling`` |
/// | `NetworkLoggerPlugin`, `EventLogPlugin`, `NetworkActivityPlugin`, `ErrorPresentationPlugin` | ``observation`` |
/// | `ServerClockPlugin`, `SignpostPlugin` | ``observation`` |
///
/// A provider can have only one `RetryPlugin`, one `WaitsForConnectivityPlugin` and one `ResponseCachePlugin`; with two
/// of a type, each call fails and its error says so.
///
/// To create a place between two others, choose a raw value between theirs:
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

    /// Counts and measures whole calls, other plugins' `prepare` included. 50.
    public static let start = PluginPlace(rawValue: 50)
    /// Chooses the server. 100.
    public static let environment = PluginPlace(rawValue: 100)
    /// Waits until the device is online, before a host is chosen and the call is admitted. 150.
    public static let connectivity = PluginPlace(rawValue: 150)
    /// Chooses among the hosts of a server. 200.
    public static let failover = PluginPlace(rawValue: 200)
    /// Lets a call start, delays it or refuses it. 300.
    public static let admission = PluginPlace(rawValue: 300)
    /// The default place. 400.
    public static let standard = PluginPlace(rawValue: 400)
    /// Repeats failed calls. 450.
    public static let retrying = PluginPlace(rawValue: 450)
    /// Adds credentials. 500.
    public static let authentication = PluginPlace(rawValue: 500)
    /// Adds cookies. They surround the exchange of a ``caching`` plugin, which must know whose response it stores. 580.
    public static let cookies = PluginPlace(rawValue: 580)
    /// Answers without the server. 585.
    public static let caching = PluginPlace(rawValue: 585)
    /// Signs the request that the preceding plugins have prepared. 600.
    ///
    /// From this place on, `prepare` belongs to the exchange: calls that share an exchange share its changes.
    public static let signing = PluginPlace(rawValue: 600)
    /// Replaces errors, after the plugins that react to the original ones. 650.
    public static let errorHandling = PluginPlace(rawValue: 650)
    /// Records what is sent and received. 700.
    public static let observation = PluginPlace(rawValue: 700)

    /// Ends the session, after plugins that delay a call and before ``standard`` plugins, which may replace the
    /// response in `process`. 350.
    package static let sessionEnd = PluginPlace(rawValue: 350)
    /// Adds the app's token, which an ``authentication`` plugin's credential replaces. 490.
    package static let accessToken = PluginPlace(rawValue: 490)
    /// Adds credentials to a request that has none. 510.
    package static let missingCredentials = PluginPlace(rawValue: 510)

    /// Waits until the rate of requests allows another one. 310.
    package static let rateLimit = PluginPlace(rawValue: 310)
    /// Waits until few enough calls are in flight; after everything else that waits, so that no call holds a slot
    /// meanwhile. 595.
    package static let concurrencyLimit = PluginPlace(rawValue: 595)
    /// Sends a signed request a second time. 620.
    package static let hedging = PluginPlace(rawValue: 620)
    /// Limits the rate of bytes, next to the transport. 630.
    package static let bandwidth = PluginPlace(rawValue: 630)

    /// Compares the positions.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The order in which plugins are asked to retry: for a new credential first, then for another host, then for
    /// another attempt, and after waiting for the network last.
    private static let retryOrder: [PluginPlace] = [
        .authentication, .failover, .retrying, .connectivity, .admission, .standard, .start, .environment, .signing,
        .cookies, .caching, .errorHandling, .observation,
    ]

    /// The order in which plugins surround an exchange: what answers without the network first, then what waits for it,
    /// what refuses or delays the request, and last what makes it.
    private static let exchangeOrder: [PluginPlace] = [
        .start, .environment, .cookies, .caching, .connectivity, .failover, .admission, .standard, .retrying,
        .authentication,
        .concurrencyLimit, .signing, .errorHandling, .observation,
    ]

    /// The place's position in the order of `retry`.
    var retryPosition: Int { position(in: Self.retryOrder) }

    /// The place's position in the order of `exchange`.
    var exchangePosition: Int { position(in: Self.exchangeOrder) }

    /// The place's position in an order. A place between two of its places is between them, next to the one with the
    /// smaller raw value.
    private func position(in order: [PluginPlace]) -> Int {
        if let index = order.firstIndex(of: self) { return 2 * index }
        let lower = order.indices.filter { order[$0] < self }.max { order[$0] < order[$1] }
        let upper = order.indices.filter { order[$0] > self }.min { order[$0] < order[$1] }
        switch (lower, upper) {
        case (let lower?, let upper?): return 2 * lower + (lower < upper ? 1 : -1)
        case (let lower?, nil): return 2 * lower + 1
        case (nil, let upper?): return 2 * upper - 1
        case (nil, nil): return 0
        }
    }
}
