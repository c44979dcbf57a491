// SPDX-License-Identifier: MIT

/// The code in a close frame, which indicates why a WebSocket was closed (RFC 6455 §7.4).
///
/// ```swift
/// if socket.closeCode == .policyViolation { showSignIn() }
/// extension WebSocketCloseCode {
///     static let sessionExpired = Self(rawValue: 4001)      // 4000–4999 are for applications
/// }
/// ```
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number, for example 1000.
    public let rawValue: UInt16

    /// Creates a code. Any number is accepted; see ``maySend``.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: the connection has fulfilled its purpose.
    public static let normal = Self(rawValue: 1000)
    /// 1001: the endpoint is going away, for example an app that ends or a server that shuts down.
    public static let goingAway = Self(rawValue: 1001)
    /// 1002: the peer violated the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// 1003: the endpoint can't accept this kind of message.
    public static let unsupportedData = Self(rawValue: 1003)
    /// 1005: the close frame had no code. It is never sent.
    public static let noStatus = Self(rawValue: 1005)
    /// 1006: the connection ended without a close frame. It is never sent.
    public static let abnormal = Self(rawValue: 1006)
    /// 1007: a message contains data that doesn't match its kind, for example text that isn't UTF-8.
    public static let invalidPayload = Self(rawValue: 1007)
    /// 1008: a message violates the endpoint's policy.
    public static let policyViolation = Self(rawValue: 1008)
    /// 1009: a message is too large.
    public static let messageTooBig = Self(rawValue: 1009)
    /// 1010: the server didn't accept an extension that the client requires.
    public static let mandatoryExtension = Self(rawValue: 1010)
    /// 1011: the server couldn't fulfill a request.
    public static let internalError = Self(rawValue: 1011)
    /// 1012: the server restarts (IANA's registry of WebSocket close codes).
    public static let serviceRestart = Self(rawValue: 1012)
    /// 1013: the server is overloaded (IANA's registry of WebSocket close codes).
    public static let tryAgainLater = Self(rawValue: 1013)
    /// 1014: a gateway received an invalid response from its upstream server (IANA's registry of WebSocket close
    /// codes).
    public static let badGateway = Self(rawValue: 1014)
    /// 1015: the TLS handshake failed. It is never sent.
    public static let tlsHandshake = Self(rawValue: 1015)

    /// Whether a close frame may contain the code: 1000–1003, 1007–1014 and 3000–4999 (RFC 6455 §7.4.2, and IANA's
    /// registry).
    public var maySend: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The number and, if the code has one, its name, for example `1001 (going away)`.
    public var description: String {
        guard let name = Self.names[rawValue] else { return "\(rawValue)" }
        return "\(rawValue) (\(name))"
    }

    private static let names: [UInt16: String] = [
        1000: "normal", 1001: "going away", 1002: "protocol error", 1003: "unsupported data", 1005: "no status",
        1006: "abnormal", 1007: "invalid payload", 1008: "policy violation", 1009: "message too big",
        1010: "mandatory extension", 1011: "internal error", 1012: "service restart", 1013: "try again later",
        1014: "bad gateway", 1015: "TLS handshake",
    ]
}
