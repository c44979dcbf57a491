// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitStorage

/// The opening handshake of a client (RFC 6455 §4.1).
package struct WebSocketHandshake: Sendable {
    /// The result of the negotiation.
    struct Agreement: Sendable, Hashable {
        /// The subprotocol that the server chose; `nil` if none.
        var subprotocol: String?
        /// The compression that the server chose; `nil` if none.
        var deflate: PerMessageDeflate?
    }

    /// 16 random bytes in Base64.
    let key: String
    /// The subprotocols that the client requests, the preferred one first.
    let subprotocols: [String]
    /// The compression that the client offers; `nil` if none.
    let deflate: PerMessageDeflate?

    /// Creates a handshake with a random key.
    init(
        subprotocols: [String] = [],
        deflate: PerMessageDeflate? = nil,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        var random = random
        let numbers: [UInt64] = [random.next(), random.next()]
        key = numbers.withUnsafeBytes { Data($0).base64EncodedString() }
        self.subprotocols = subprotocols
        self.deflate = deflate
    }

    /// The header fields that the handshake sets in a request.
    var headers: HTTPHeaders {
        var headers: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key,
        ]
        if !subprotocols.isEmpty { headers.add(.subprotocol, value: subprotocols.joined(separator: ", ")) }
        if let deflate { headers.add(.extensions, value: deflate.offer) }
        return headers
    }

    /// Checks the response.
    ///
    /// - Throws: The protocol violation. The connection must then be closed without a close frame.
    func check(_ head: ResponseHead) throws(WebSocketError) -> Agreement {
        guard head.statusCode == 101, head.httpVersion != "HTTP/1.0" else {
            throw WebSocketError(
                .handshakeRefused,
                "the server rejected the WebSocket with \(head.httpVersion) \(head.statusCode)"
            )
        }
        let headers = head.headers
        guard headers.elements(of: .upgrade).contains(where: { $0.equalsIgnoringASCIICase("websocket") }) else {
            throw WebSocketError(.wrongUpgrade, "the response has no field Upgrade: websocket")
        }
        guard headers.elements(of: .connection).contains(where: { $0.equalsIgnoringASCIICase("upgrade") }) else {
            throw WebSocketError(.wrongConnection, "the response has no field Connection: Upgrade")
        }
        guard headers.values(for: .webSocketAccept) == [Self.accept(for: key)] else {
            throw WebSocketError(.wrongAccept, "Sec-WebSocket-Accept doesn't match the key of the request")
        }
        return Agreement(subprotocol: try subprotocol(in: headers), deflate: try deflate(in: headers))
    }

    private func subprotocol(in headers: HTTPHeaders) throws(WebSocketError) -> String? {
        let values = headers.values(for: .subprotocol)
        guard let value = values.first else { return nil }
        guard values.count == 1, subprotocols.contains(value) else {
            throw WebSocketError(
                .unrequestedSubprotocol,
                "the server chose the subprotocol \(value.inOneLine), which wasn't requested"
            )
        }
        return value
    }

    private func deflate(in headers: HTTPHeaders) throws(WebSocketError) -> PerMessageDeflate? {
        guard let extensions = WebSocketExtension.list(headers.values(for: .extensions)) else {
            throw WebSocketError(.unrequestedExtension, "Sec-WebSocket-Extensions is malformed")
        }
        guard let first = extensions.first else { return nil }
        guard let deflate else { throw .unrequested(first) }
        guard extensions.count == 1 else { throw .unrequested(extensions[1]) }
        return try deflate.accepted(first)
    }

    /// The value of `Sec-WebSocket-Accept` for a key (RFC 6455 §4.2.2).
    package static func accept(for key: String) -> String {
        var hash = SHA1Hasher()
        Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8).withUnsafeBytes { hash.update($0) }
        return Data(hash.finalize()).base64EncodedString()
    }
}

extension HTTPHeaderName {
    static let connection = Self(rawValue: "Connection")
    static let upgrade = Self(rawValue: "Upgrade")
    static let key = Self(rawValue: "Sec-WebSocket-Key")
    static let version = Self(rawValue: "Sec-WebSocket-Version")
    static let webSocketAccept = Self(rawValue: "Sec-WebSocket-Accept")
    static let subprotocol = Self(rawValue: "Sec-WebSocket-Protocol")
    static let extensions = Self(rawValue: "Sec-WebSocket-Extensions")
}

extension HTTPHeaders {
    /// The list elements of all fields with a name (RFC 9110 §5.6.1).
    func elements(of name: HTTPHeaderName) -> [String] {
        values(for: name).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }
}
