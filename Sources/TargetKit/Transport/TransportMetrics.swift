// SPDX-License-Identifier: MIT

/// How long the steps of one exchange took, and what went over the wire. Durations count from the start of the exchange.
public struct TransportMetrics: Sendable, Hashable {
    /// Until the host's name was looked up; `nil` when that is not known.
    public var nameLookup: Duration?
    /// Until the connection stood; zero when one was reused.
    public var connect: Duration?
    /// Until TLS was agreed; `nil` without TLS.
    public var secureConnect: Duration?
    /// Until the first byte of the response.
    public var firstByte: Duration?
    /// Until the end.
    public var total: Duration
    /// The bytes of the request's body.
    public var bytesSent: Int64
    /// The bytes of the response's body as they came over the wire.
    public var bytesReceived: Int64
    /// Whether a connection that was open already served the exchange.
    public var reusedConnection: Bool
    /// The version of HTTP, `HTTP/1.1` or `HTTP/2`.
    public var httpVersion: String
    /// Whether the server's certificate went unchecked, as ``TLSPolicy/Trust/insecureTrustAll(for:)`` asks for.
    public var trustedBlindly: Bool
    /// The server's address, without the port; `nil` when it is not known.
    public var remoteAddress: String?

    /// The figures of one exchange.
    public init(
        nameLookup: Duration? = nil,
        connect: Duration? = nil,
        secureConnect: Duration? = nil,
        firstByte: Duration? = nil,
        total: Duration,
        bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0,
        reusedConnection: Bool = false,
        httpVersion: String = "HTTP/1.1",
        trustedBlindly: Bool = false,
        remoteAddress: String? = nil
    ) {
        self.nameLookup = nameLookup
        self.connect = connect
        self.secureConnect = secureConnect
        self.firstByte = firstByte
        self.total = total
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.reusedConnection = reusedConnection
        self.httpVersion = httpVersion
        self.trustedBlindly = trustedBlindly
        self.remoteAddress = remoteAddress
    }
}
