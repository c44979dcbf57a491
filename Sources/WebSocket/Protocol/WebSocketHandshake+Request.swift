// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension WebSocketHandshake {
    /// The head of the request (RFC 6455 §4.1). The request's own fields follow `Host`, and the handshake's fields
    /// replace those with the same names.
    ///
    /// - Throws: ``WebSocketError/Reason/invalidRequest`` if the URL has no host, a field could be read as two, or a
    ///   subprotocol isn't a token.
    func requestHead(for request: URLRequest) throws(WebSocketError) -> [UInt8] {
        guard let url = request.url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let host = parts.percentEncodedHost, !host.isEmpty
        else { throw WebSocketError(.invalidRequest, "the URL of the WebSocket has no host") }
        guard subprotocols.allSatisfy(\.isToken), Set(subprotocols).count == subprotocols.count else {
            throw WebSocketError(.invalidRequest, "a subprotocol is not an RFC 9110 token, or is requested twice")
        }
        var fields = HTTPHeaders(request.allHTTPHeaderFields ?? [:])
        fields.fields.removeAll { Self.replacedFields.contains($0.name) }
        let customHost = fields["Host"]
        fields["Host"] = nil
        var all = HTTPHeaders([.init(name: "Host", value: customHost ?? Self.authority(host, parts))])
        all.fields += fields.fields + headers.fields
        let query = parts.percentEncodedQuery.map { "?" + $0 } ?? ""
        let path = parts.percentEncodedPath
        var text = "GET \(path.hasPrefix("/") ? "" : "/")\(path)\(query) HTTP/1.1\r\n"
        for field in all {
            guard field.name.rawValue.isToken, !field.value.endsHeaderField else {
                throw WebSocketError(
                    .invalidRequest,
                    "the header field \(field.name.rawValue.inOneLine) has an invalid name or contains a line break"
                )
            }
            text += "\(field.name.rawValue): \(field.value)\r\n"
        }
        return Array((text + "\r\n").utf8)
    }

    /// The fields that only the handshake may set, and those of a body, which it doesn't have.
    private static let replacedFields: Set<HTTPHeaderName> = [
        .connection, .upgrade, .key, .version, .subprotocol, .extensions, .contentLength, .transferEncoding,
    ]

    /// The host, and the port unless it is the scheme's default (RFC 9110 §7.2).
    private static func authority(_ host: String, _ url: URLComponents) -> String {
        let scheme = url.scheme?.lowercased()
        let standard = scheme == "wss" || scheme == "https" ? 443 : 80
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        guard let port = url.port, port != standard else { return name }
        return "\(name):\(port)"
    }
}
