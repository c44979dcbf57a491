// SPDX-License-Identifier: MIT
import TargetKit

/// The compression of messages that client and server negotiate in the handshake (RFC 7692).
package struct PerMessageDeflate: Sendable, Hashable {
    /// Whether the client starts each message with an empty window (RFC 7692 §7.1.1.2).
    package var clientNoContextTakeover = false
    /// Whether the server starts each message with an empty window (RFC 7692 §7.1.1.1).
    package var serverNoContextTakeover = false
    /// The size of the client's window as a power of two, 8–15 (RFC 7692 §7.1.2.2).
    package var clientWindowBits = 15
    /// The size of the server's window as a power of two, 8–15 (RFC 7692 §7.1.2.1).
    package var serverWindowBits = 15
    /// The size in bytes from which messages are compressed. Default: 64.
    package var minimumSize = 64

    package init(
        clientNoContextTakeover: Bool = false,
        serverNoContextTakeover: Bool = false,
        clientWindowBits: Int = 15,
        serverWindowBits: Int = 15,
        minimumSize: Int = 64
    ) {
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientWindowBits = clientWindowBits
        self.serverWindowBits = serverWindowBits
        self.minimumSize = minimumSize
    }

    static let name = "permessage-deflate"
    /// The bytes at the end of a sync flush, which messages omit (RFC 7692 §7.2.1).
    static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]

    /// Whether this system can compress messages.
    package static var isAvailable: Bool {
        #if os(Linux)
        ZlibLibrary.loaded != nil
        #else
        false
        #endif
    }

    /// The client's offer, as the value of `Sec-WebSocket-Extensions`. It always accepts a limit of the client's
    /// window.
    var offer: String {
        var parameters = [Self.name]
        if clientNoContextTakeover { parameters.append(Parameter.clientNoContextTakeover.rawValue) }
        if serverNoContextTakeover { parameters.append(Parameter.serverNoContextTakeover.rawValue) }
        let clientBits = clientWindowBits < 15 ? "=\(clientWindowBits)" : ""
        parameters.append(Parameter.clientWindowBits.rawValue + clientBits)
        if serverWindowBits < 15 { parameters.append("\(Parameter.serverWindowBits.rawValue)=\(serverWindowBits)") }
        return parameters.joined(separator: "; ")
    }

    /// The server's choice, as the value of `Sec-WebSocket-Extensions`.
    package var response: String {
        var parameters = [Self.name]
        if clientNoContextTakeover { parameters.append(Parameter.clientNoContextTakeover.rawValue) }
        if serverNoContextTakeover { parameters.append(Parameter.serverNoContextTakeover.rawValue) }
        if clientWindowBits < 15 { parameters.append("\(Parameter.clientWindowBits.rawValue)=\(clientWindowBits)") }
        if serverWindowBits < 15 { parameters.append("\(Parameter.serverWindowBits.rawValue)=\(serverWindowBits)") }
        return parameters.joined(separator: "; ")
    }

    private enum Parameter: String {
        case clientNoContextTakeover = "client_no_context_takeover"
        case serverNoContextTakeover = "server_no_context_takeover"
        case clientWindowBits = "client_max_window_bits"
        case serverWindowBits = "server_max_window_bits"
    }
}

// MARK: - Negotiation

extension PerMessageDeflate {
    /// The server's choice for this offer (RFC 7692 §7.1).
    ///
    /// - Throws: ``WebSocketError/Reason/unrequestedExtension`` if the response isn't a valid choice.
    func accepted(_ response: WebSocketExtension) throws(WebSocketError) -> PerMessageDeflate {
        guard response.name == Self.name else {
            throw WebSocketError(
                .unrequestedExtension,
                "the server chose the extension \(response.name.inOneLine), which wasn't offered"
            )
        }
        var choice = self
        (choice.clientNoContextTakeover, choice.serverNoContextTakeover) = (false, false)
        (choice.clientWindowBits, choice.serverWindowBits) = (15, 15)
        try choice.read(response.parameters) { bits in bits.flatMap(Self.windowBits) }
        if serverNoContextTakeover, !choice.serverNoContextTakeover {
            throw Self.invalid("the server didn't accept \(Parameter.serverNoContextTakeover.rawValue)")
        }
        guard choice.serverWindowBits <= serverWindowBits else {
            throw Self.invalid("the server didn't accept \(Parameter.serverWindowBits.rawValue)=\(serverWindowBits)")
        }
        // A client may always use less than the server allows.
        choice.clientNoContextTakeover = choice.clientNoContextTakeover || clientNoContextTakeover
        choice.clientWindowBits = min(choice.clientWindowBits, clientWindowBits)
        return choice
    }

    /// The choice of a server with this configuration from a client's offers, in order of preference; `nil` if it can't
    /// accept any (RFC 7692 §5.1).
    package func chosen(from offers: [WebSocketExtension]) -> PerMessageDeflate? {
        for offer in offers where offer.name == Self.name {
            var choice = PerMessageDeflate(minimumSize: minimumSize)
            // A server can't limit the window of a client that doesn't offer it (RFC 7692 §7.1.2.2).
            let isClientWindowOffered = offer.parameters.contains {
                $0.name == Parameter.clientWindowBits.rawValue
            }
            guard (try? choice.read(offer.parameters) { bits in bits.map(Self.windowBits) ?? 15 }) != nil,
                isClientWindowOffered || clientWindowBits == 15
            else { continue }
            choice.clientNoContextTakeover = choice.clientNoContextTakeover || clientNoContextTakeover
            choice.serverNoContextTakeover = choice.serverNoContextTakeover || serverNoContextTakeover
            choice.clientWindowBits = min(choice.clientWindowBits, clientWindowBits)
            choice.serverWindowBits = min(choice.serverWindowBits, serverWindowBits)
            return choice
        }
        return nil
    }

    /// Reads parameters. The closure converts the value of the client's window, which is optional in an offer.
    private mutating func read(
        _ parameters: [WebSocketExtension.Parameter],
        clientBits: (String?) -> Int?
    ) throws(WebSocketError) {
        var names: Set<String> = []
        for parameter in parameters {
            guard names.insert(parameter.name).inserted else {
                throw Self.invalid("the parameter \(parameter.name.inOneLine) occurs twice")
            }
            let isValid =
                switch Parameter(rawValue: parameter.name) {
                case .clientNoContextTakeover: set(\.clientNoContextTakeover, to: parameter.value == nil ? true : nil)
                case .serverNoContextTakeover: set(\.serverNoContextTakeover, to: parameter.value == nil ? true : nil)
                case .clientWindowBits: set(\.clientWindowBits, to: clientBits(parameter.value))
                case .serverWindowBits: set(\.serverWindowBits, to: parameter.value.flatMap(Self.windowBits))
                case nil: false
                }
            guard isValid else {
                throw Self.invalid("the parameter \(parameter.description.inOneLine) is invalid")
            }
        }
    }

    private mutating func set<Value>(_ path: WritableKeyPath<Self, Value>, to value: Value?) -> Bool {
        guard let value else { return false }
        self[keyPath: path] = value
        return true
    }

    /// A number from 8 to 15 without a leading zero (RFC 7692 §7.1.2.1).
    private static func windowBits(_ text: String) -> Int? {
        guard let bits = Int(text), (8...15).contains(bits), String(bits) == text else { return nil }
        return bits
    }

    private static func invalid(_ message: String) -> WebSocketError {
        WebSocketError(.unrequestedExtension, "in \(name), \(message)")
    }
}

extension WebSocketError {
    static func unrequested(_ choice: WebSocketExtension) -> Self {
        Self(.unrequestedExtension, "the server chose the extension \(choice.name.inOneLine), which wasn't offered")
    }
}
