// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// The method that is sent.
    package var method: HTTPMethod { httpMethod.map(HTTPMethod.init(rawValue:)) ?? .get }

    /// Whether the request may be sent again after the server may have processed it: its method is one of these, or it
    /// has an idempotency key by which the server recognizes the repetition.
    ///
    /// Retries, failover, hedged requests and transports all use this rule. Each body can be produced again: a
    /// ``BodySource`` can be opened again, and a request with an `httpBodyStream` is refused.
    package func isRepeatable(with methods: Set<HTTPMethod> = HTTPMethod.idempotent) -> Bool {
        methods.contains(method) || hasIdempotencyKey
    }

    /// Whether the request has an idempotency key that is not empty.
    private var hasIdempotencyKey: Bool {
        guard let key = value(forHTTPHeaderField: HTTPHeaderName.idempotencyKey.rawValue) else { return false }
        return key.utf8.contains { $0 != 0x20 && $0 != 0x09 }
    }
}
