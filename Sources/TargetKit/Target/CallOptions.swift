// SPDX-License-Identifier: MIT

/// A key for an option of a call. TargetKit, plugins and apps declare their options in the same way.
///
/// ```swift
/// enum CachePolicyKey: CallOptionKey {
///     static let defaultValue = CachePolicy.useProtocol
/// }
///
/// extension CallOptions {
///     nonisolated var cachePolicy: CachePolicy {
///         get { self[CachePolicyKey.self] }
///         set { self[CachePolicyKey.self] = newValue }
///     }
/// }
/// ```
public protocol CallOptionKey: Sendable {
    /// The type of the option's value.
    associatedtype Value: Sendable

    /// The value if the option isn't set.
    static var defaultValue: Value { get }
}

/// The options of a call, such as its timeout and decoder. Plugins and apps can add options.
///
/// You can set an option on the provider, the target and the call. The target overrides the provider, and the call
/// overrides both, separately for each option.
///
/// ```swift
/// let provider = Provider<Shop>(options: .setting(\.timeout, .exchange(.seconds(20))))
///
/// extension Shop {
///     var options: CallOptions {
///         switch self {
///         case .report: .setting(\.timeout, .wholeCall(.seconds(60)))
///         default: .init()
///         }
///     }
/// }
///
/// let report = try await provider.request(.report, options: .setting(\.sharesInFlight, true))
/// ```
///
/// Plugins read the resolved options from ``RequestContext/options``.
public struct CallOptions: Sendable {
    @usableFromInline var values: [ObjectIdentifier: any Sendable] = [:]

    /// Creates options that set nothing.
    public init() {}

    /// The value of an option, or its default if it isn't set.
    @inlinable
    public subscript<Key: CallOptionKey>(key: Key.Type) -> Key.Value {
        get { value(of: key) ?? Key.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }

    /// Returns options that set one value.
    public static func setting<Value>(
        _ option: any WritableKeyPath<CallOptions, Value> & Sendable,
        _ value: Value
    ) -> CallOptions {
        CallOptions().setting(option, value)
    }

    /// Returns these options with an additional value.
    public func setting<Value>(
        _ option: any WritableKeyPath<CallOptions, Value> & Sendable,
        _ value: Value
    ) -> CallOptions {
        var options = self
        options[keyPath: option] = value
        return options
    }

    /// Returns these options, overridden by others.
    func overridden(by other: CallOptions) -> CallOptions {
        if other.values.isEmpty { return self }
        if values.isEmpty { return other }
        var options = self
        options.values.merge(other.values) { $1 }
        if let lower = value(of: HeadersKey.self), let upper = other.value(of: HeadersKey.self) {
            options.headers = lower.merging(upper)
        }
        return options
    }

    /// Whether no option is set.
    var isEmpty: Bool { values.isEmpty }

    @inlinable
    func value<Key: CallOptionKey>(of key: Key.Type) -> Key.Value? {
        // Casting `nil` to an optional `Key.Value` would succeed and hide the default.
        guard !values.isEmpty, let value = values[ObjectIdentifier(key)] else { return nil }
        return value as? Key.Value
    }
}

extension CallOptions {
    /// The timeouts of the call; default: ``CallTimeout/none``. The exchange limit and the whole-call limit are
    /// overridden separately.
    public var timeout: CallTimeout {
        get { CallTimeout(exchange: self[ExchangeTimeoutKey.self], wholeCall: self[CallTimeoutKey.self]) }
        set {
            // `.none` overrides both limits. Otherwise, a limit overrides only its own kind.
            let isNone = newValue == .none
            values[ObjectIdentifier(ExchangeTimeoutKey.self)] = nil
            values[ObjectIdentifier(CallTimeoutKey.self)] = nil
            if isNone || newValue.exchange != nil { self[ExchangeTimeoutKey.self] = newValue.exchange }
            if isNone || newValue.wholeCall != nil { self[CallTimeoutKey.self] = newValue.wholeCall }
        }
    }

    /// Whether the call shares one exchange with identical calls that are in flight; default `false`.
    ///
    /// Two calls are identical if the following are equal after the plugins' `prepare`: method, URL, header fields,
    /// apart from the identifiers of a trace, body (files are compared by path), cache policy, limit of the response,
    /// exchange timeout, whether redirects are followed, validation, and responder (the transport or the same sample).
    /// Each call has its own `prepare`, `process`, decoding, progress and cancellation. The exchange has its own
    /// ``RequestContext`` for `willSend`, `exchange`, `didReceive` and `retry`; it is cancelled with the last of its
    /// calls. Downloads to a file, streams and calls of several requests are never shared.
    public var sharesInFlight: Bool {
        get { self[SharesInFlightKey.self] }
        set { self[SharesInFlightKey.self] = newValue }
    }

    /// Whether the call follows redirects, by the provider's ``RedirectPolicy``; default `true`. If `false`, the
    /// redirect is returned as the response.
    public var followsRedirects: Bool {
        get { self[FollowsRedirectsKey.self] }
        set { self[FollowsRedirectsKey.self] = newValue }
    }

    /// Header fields that replace the target's fields of the same name; default: none. The fields of the provider, the
    /// target and the call are merged.
    public var headers: HTTPHeaders {
        get { self[HeadersKey.self] }
        set { self[HeadersKey.self] = newValue }
    }

    /// Identifies the transfer across launches, for a `BackgroundTransport` of TargetKitTransfers; default `nil`, which
    /// means that the request identifies itself. A response that arrives while the app isn't running is delivered to
    /// the next call with this identifier.
    ///
    /// Tasks with a driver, such as resumable uploads and downloads, ignore it. A `TransferQueue` sets it.
    public var transferID: String? {
        get { self[TransferIDKey.self] }
        set { self[TransferIDKey.self] = newValue }
    }

    /// Replaces the base URL of the call's endpoint, for a stored call, which is made to the server for which it
    /// was stored; default `nil`: the endpoint's own.
    package var keptBaseURL: URL? {
        get { self[KeptBaseURLKey.self] }
        set { self[KeptBaseURLKey.self] = newValue }
    }
}

private enum ExchangeTimeoutKey: CallOptionKey { static let defaultValue: Duration? = nil }
private enum CallTimeoutKey: CallOptionKey { static let defaultValue: Duration? = nil }
private enum SharesInFlightKey: CallOptionKey { static let defaultValue = false }
private enum KeptBaseURLKey: CallOptionKey { static let defaultValue: URL? = nil }
private enum TransferIDKey: CallOptionKey { static let defaultValue: String? = nil }
private enum FollowsRedirectsKey: CallOptionKey { static let defaultValue = true }
private enum HeadersKey: CallOptionKey { static let defaultValue = HTTPHeaders() }

extension CallOptions: RedactedDescription {
    /// The number of options that are set.
    var redactedDescription: String { values.count == 1 ? "1 option" : "\(values.count) options" }
}

/// The time limits of a call, with millisecond precision.
///
/// ```swift
/// let provider = Provider<Catalog>(options: .setting(\.timeout, .wholeCall(.seconds(30))))
/// let product = try await provider.request(.product(id: "7"), options: .setting(\.timeout, .exchange(.milliseconds(800))))
/// ```
///
/// A call that takes longer fails with stage `.transport` and `URLError(.timedOut)`.
public struct CallTimeout: Sendable, Hashable {
    /// The limit of one exchange with the server, including redirects. Each attempt has the full limit. Default `nil`,
    /// which means the transport's own limits.
    ///
    /// A limit set for the call overrides ``Endpoint/timeout`` and a `timeoutInterval` set by a request closure or
    /// plugin. These override a limit set by the target or the provider.
    public var exchange: Duration?
    /// The limit from the start of the call until the caller receives the value, including closures, plugins, retries
    /// and their delays, decoding, and the body of a stream. Default `nil`: no limit.
    public var wholeCall: Duration?

    /// Creates a timeout that limits each exchange, the whole call, or both.
    public init(exchange: Duration? = nil, wholeCall: Duration? = nil) {
        self.exchange = exchange
        self.wholeCall = wholeCall
    }

    /// No limits other than the transport's own.
    public static let none = CallTimeout()

    /// A limit for each exchange.
    public static func exchange(_ limit: Duration) -> CallTimeout { CallTimeout(exchange: limit) }

    /// A limit for the whole call.
    public static func wholeCall(_ limit: Duration) -> CallTimeout { CallTimeout(wholeCall: limit) }
}

extension CallOptions {
    /// Whether the call may use a mobile network; default `true`.
    ///
    /// On Apple platforms URLSession rejects a call that isn't allowed to use the device's network. On Linux,
    /// `WaitsForConnectivityPlugin` does; without it, the option has no effect there.
    public var allowsCellular: Bool {
        get { self[AllowsCellularKey.self] }
        set { self[AllowsCellularKey.self] = newValue }
    }

    /// Whether the call may use a network that the system considers expensive, such as a mobile network or a phone's
    /// hotspot; default `true`. See ``allowsCellular``.
    public var allowsExpensive: Bool {
        get { self[AllowsExpensiveKey.self] }
        set { self[AllowsExpensiveKey.self] = newValue }
    }

    /// Whether the call may use the network in Low Data Mode; default `true`. See ``allowsCellular``.
    public var allowsConstrained: Bool {
        get { self[AllowsConstrainedKey.self] }
        set { self[AllowsConstrainedKey.self] = newValue }
    }

    /// Whether the call may use each kind of network.
    var allowedNetworks: [Bool] { [allowsCellular, allowsExpensive, allowsConstrained] }
}

extension CallOptions {
    /// Whether the first connection to the server already uses HTTP/3, on Apple platforms; default `false`.
    ///
    /// Otherwise, URLSession uses HTTP/3 from the second call on, if the server announced it. If the server or the
    /// network doesn't support HTTP/3, it uses HTTP/2. ``TransportMetrics/httpVersion`` is the version that was used. On
    /// Linux, there is no HTTP/3, and the option has no effect.
    public var assumesHTTP3Capable: Bool {
        get { self[AssumesHTTP3CapableKey.self] }
        set { self[AssumesHTTP3CapableKey.self] = newValue }
    }
}

extension URLRequest {
    /// Applies the options that only a transport that uses URLSession knows from the request. Never allows a kind of
    /// network that the request already disallows.
    mutating func apply(_ options: CallOptions) {
        if !options.allowsCellular { allowsCellularAccess = false }
        #if !canImport(FoundationNetworking)
        if !options.allowsExpensive { allowsExpensiveNetworkAccess = false }
        if !options.allowsConstrained { allowsConstrainedNetworkAccess = false }
        if options.assumesHTTP3Capable { assumesHTTP3Capable = true }
        #endif
    }
}

private enum AssumesHTTP3CapableKey: CallOptionKey { static let defaultValue = false }
private enum AllowsCellularKey: CallOptionKey { static let defaultValue = true }
private enum AllowsExpensiveKey: CallOptionKey { static let defaultValue = true }
private enum AllowsConstrainedKey: CallOptionKey { static let defaultValue = true }
