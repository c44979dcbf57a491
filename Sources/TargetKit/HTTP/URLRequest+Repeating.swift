// SPDX-License-Identifier: MIT

extension URLRequest {
    /// The method that is sent.
    var method: HTTPMethod { httpMethod.map(HTTPMethod.init(rawValue:)) ?? .get }

    /// Whether the request may be sent again after the server may have processed it, because of its method or because
    /// an idempotency key lets the server recognize duplicates.
    ///
    /// Retries, failover, hedged requests and transports all use this rule. Every body can be sent again, because a
    /// ``BodySource`` can be reopened and a request with an `httpBodyStream` is rejected.
    package func isRepeatable(with methods: [HTTPMethod] = HTTPMethod.idempotent) -> Bool {
        methods.contains(method) || hasIdempotencyKey
    }

    /// Whether the request has a nonempty idempotency key.
    private var hasIdempotencyKey: Bool {
        guard let key = value(forHTTPHeaderField: HTTPHeaderName.idempotencyKey.rawValue) else { return false }
        return key.utf8.contains { $0 != 0x20 && $0 != 0x09 }
    }
}
