// SPDX-License-Identifier: MIT

/// The timing and the size of one exchange. Durations are measured from the start of the exchange.
public struct TransportMetrics: Sendable, Hashable {
    /// The time until the name lookup ended; `nil` if unknown.
    public var nameLookup: Duration?
    /// The time until the connection was open; zero for a reused connection.
    public var connect: Duration?
    /// The time until the TLS handshake ended; `nil` without TLS.
    public var secureConnect: Duration?
    /// The time until the first byte of the response arrived.
    public var firstByte: Duration?
    /// The time until the end of the exchange.
    public var total: Duration
    /// The number of bytes sent for the request's body.
    public var bytesSent: Int64
    /// The number of bytes received for the response's body, before decoding.
    public var bytesReceived: Int64
    /// Whether an existing connection was reused.
    public var reusedConnection: Bool
    /// The HTTP version, for example `HTTP/1.1` or `HTTP/2`.
    public var httpVersion: String
    /// Whether the server's certificate wasn't verified because of ``TLSPolicy/Trust/insecureTrustAll(for:)``.
    public var trustedBlindly: Bool
    /// The server's address, without the port; `nil` if unknown.
    public var remoteAddress: String?

    /// Creates the metrics of one exchange.
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
