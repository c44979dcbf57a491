// SPDX-License-Identifier: MIT

/// How long a call may take, to the millisecond.
///
/// ```swift
/// let provider = Provider<Catalog>(options: .setting(\.timeout, .wholeCall(.seconds(30))))
/// let product = try await provider.request(.product(id: "7"), options: .setting(\.timeout, .exchange(.milliseconds(800))))
/// ```
///
/// A call that takes longer fails with stage `.transport` and `URLError(.timedOut)`.
public struct CallTimeout: Sendable, Hashable {
    /// The limit of one exchange with the server, redirects included; each attempt has the whole time. Default `nil`: the
    /// transport's own limits.
    ///
    /// A limit that is set for the call overrides ``Endpoint/timeout`` and the `timeoutInterval` that a request closure or plugin
    /// sets; these override a limit that the target or the provider sets.
    public var exchange: Duration?
    /// The limit of everything from the start of the call until its caller has the value: closures, plugins, repetitions and the
    /// delays before them, decoding, and the body of a stream. Default `nil`: no limit.
    public var wholeCall: Duration?

    /// A limit for one exchange, for the whole call, or for both.
    public init(exchange: Duration? = nil, wholeCall: Duration? = nil) {
        self.exchange = exchange
        self.wholeCall = wholeCall
    }

    /// No limits but the transport's own.
    public static let none = CallTimeout()

    /// A limit for each exchange.
    public static func exchange(_ limit: Duration) -> CallTimeout { CallTimeout(exchange: limit) }

    /// A limit for the whole call.
    public static func wholeCall(_ limit: Duration) -> CallTimeout { CallTimeout(wholeCall: limit) }

    func check() throws(InvalidRequest) {
        if let exchange, exchange <= .zero { throw .invalidTimeout(exchange) }
        if let wholeCall, wholeCall <= .zero { throw .invalidTimeout(wholeCall) }
    }
}
