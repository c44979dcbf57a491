// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKit
import TestSupport

/// A call that a test makes, with what it leaves out filled in.
struct TestCall: Sendable {
    var path = "/"
    var method = "GET"
    var headers: [String: String] = [:]
    var body = TransportRequest.Body.none
    var destination: TransportRequest.Destination = .memory()
    var timeout: Duration?
    var progress: (@Sendable (TransferProgress) -> Void)?

    func request(to base: URL) -> TransportRequest {
        let text = base.absoluteString + path
        var request = URLRequest(url: URL(string: text, encodingInvalidCharacters: false) ?? base)
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        return TransportRequest(
            urlRequest: request,
            body: body,
            destination: destination,
            timeout: timeout,
            progress: progress
        )
    }

    @discardableResult
    func send(to server: LoopbackServer, with transport: some Transport) async throws -> TransportResponse {
        try await transport.send(request(to: server.baseURL))
    }

    /// The code of the `URLError` that the call ends with; `nil` when it ends otherwise.
    func failure(at base: URL, with transport: some Transport) async -> URLError.Code? {
        do {
            _ = try await transport.send(request(to: base))
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }
}

extension TransportResponse {
    /// The body as text; empty when it is not in memory.
    var text: String {
        if case .data(let data) = body { String(decoding: data, as: UTF8.self) } else { "" }
    }
}
#endif
