// SPDX-License-Identifier: MIT

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
