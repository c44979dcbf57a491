// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// The method, as it goes out.
    var method: HTTPMethod { httpMethod.map(HTTPMethod.init(rawValue:)) ?? .get }

    /// Whether the server can tell a repetition by a key.
    var hasIdempotencyKey: Bool { value(forHTTPHeaderField: HTTPHeaderName.idempotencyKey.rawValue) != nil }

    /// Whether it does no harm when the server gets it twice: the method is idempotent (RFC 9110 §9.2.2), or it has a key.
    var isSafeToRepeat: Bool { hasIdempotencyKey || RetryPolicy.idempotentMethods.contains(method) }
}
