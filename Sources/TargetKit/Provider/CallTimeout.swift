// SPDX-License-Identifier: MIT

/// How long a call may take, to the millisecond.
///
/// ```swift
/// let provider = Provider<Catalog>(timeout: .wholeCall(.seconds(30)))
/// let product = try await provider.request(.product(id: "7"), timeout: .exchange(.milliseconds(800)))
/// ```
///
/// What is said for one call goes before what its target says, and that before what the provider says, for each of the two
/// times by itself. A call that takes longer fails with stage `.transport` and `URLError(.timedOut)`.
public struct CallTimeout: Sendable, Hashable {
    /// For one exchange with the server, redirects included; each repetition has the time anew. Default `nil`: the transport's
    /// own limits. Said for one call it goes before ``TargetType/timeout``; said by target or provider, after it.
    public var exchange: Duration?
    /// For everything from the start of the call until its caller has the value: closures, plugins, repetitions and the
    /// waits before them, decoding. Of a stream it covers the body too. Default `nil`: no limit.
    public var wholeCall: Duration?

    /// A timeout for one exchange, for the whole call, or for both.
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

    /// This timeout, with the other one's times where it says none.
    func or(_ other: CallTimeout) -> CallTimeout {
        CallTimeout(exchange: exchange ?? other.exchange, wholeCall: wholeCall ?? other.wholeCall)
    }

    func check() throws(InvalidRequest) {
        if let exchange, exchange <= .zero { throw .invalidTimeout(exchange) }
        if let wholeCall, wholeCall <= .zero { throw .invalidTimeout(wholeCall) }
    }
}
