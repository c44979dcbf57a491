// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

/// The server side of the opening handshake (RFC 6455 §4.2).
struct ServerHandshake {
    let request: TestServer.Request
    let options: TestServer.WebSocketOptions

    /// The response to the request, and the WebSocket if the request is a handshake.
    func upgrade(script: [TestServer.WebSocketStep]) -> TestServer.Upgrade {
        if let problem {
            options.log.failed.append(problem)
            return TestServer.Upgrade(steps: TestServer.Response.text("\(problem)\n", status: 400).steps)
        }
        let offers = WebSocketExtension.list(request.headers.values(for: "Sec-WebSocket-Extensions")) ?? []
        let isCompressed = options.compresses && PerMessageDeflate.isAvailable
        let deflate = isCompressed ? options.deflate.chosen(from: offers) : nil
        let session = ServerWebSocket(script: script, options: options, deflate: deflate)
        return TestServer.Upgrade(
            steps: steps(headers(deflate: deflate)) + session.start(),
            receive: options.handshakeFault == nil ? session.receive : { _ in [] }
        )
    }

    /// The reason why the request isn't a valid handshake.
    private var problem: String? {
        let headers = request.headers
        let key = Data(base64Encoded: headers["Sec-WebSocket-Key"] ?? "")
        if request.method != .get { return "the method of a WebSocket's handshake is GET, not \(request.method)" }
        if !has("websocket", in: "Upgrade") { return "the request has no field Upgrade: websocket" }
        if !has("upgrade", in: "Connection") { return "the request has no field Connection: Upgrade" }
        if headers["Sec-WebSocket-Version"] != "13" { return "the request has no field Sec-WebSocket-Version: 13" }
        if key?.count != 16 { return "Sec-WebSocket-Key isn't 16 bytes in Base64" }
        return nil
    }

    private func has(_ token: String, in name: HTTPHeaderName) -> Bool {
        elements(of: name).contains { $0.lowercased() == token }
    }

    private func elements(of name: HTTPHeaderName) -> [String] {
        request.headers.values(for: name).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private func headers(deflate: PerMessageDeflate?) -> HTTPHeaders {
        let key = options.handshakeFault == .wrongAccept ? "" : request.headers["Sec-WebSocket-Key"] ?? ""
        var headers: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Accept": WebSocketHandshake.accept(for: key),
        ]
        let chosen = elements(of: "Sec-WebSocket-Protocol").first(where: options.subprotocols.contains)
        headers["Sec-WebSocket-Protocol"] = chosen
        headers["Sec-WebSocket-Extensions"] = deflate?.response
        switch options.handshakeFault {
        case .missingAccept: headers["Sec-WebSocket-Accept"] = nil
        case .missingUpgrade: headers["Upgrade"] = nil
        case .missingConnection: headers["Connection"] = nil
        case .unrequestedSubprotocol: headers["Sec-WebSocket-Protocol"] = "unrequested"
        case .unrequestedExtension: headers["Sec-WebSocket-Extensions"] = "x-unrequested"
        case .wrongStatus: headers["Content-Length"] = "0"
        default: break
        }
        return headers
    }

    private func steps(_ headers: HTTPHeaders) -> [TestServer.Step] {
        let status = options.handshakeFault == .wrongStatus ? 200 : 101
        switch options.handshakeFault {
        case .endlessHead:
            let line = Data(String(repeating: "X-Endless: yes\r\n", count: 1024).utf8)
            return [
                .text("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"),
                .generate(byteCount: .max, repeating: line),
            ]
        case .truncatedHead: return [.text("HTTP/1.1 101 Switching Protocols\r\nUpgra"), .close]
        default: return [.head(status: status, headers: headers)]
        }
    }
}
