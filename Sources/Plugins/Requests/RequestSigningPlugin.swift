// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Signs requests: adds header fields that depend on method, URL, header fields and body as they go out.
///
/// ```swift
/// RequestSigningPlugin(fields: ["X-Date", "X-Signature"]) { request, _ in
///     let date = "\(Int(clock.now.timeIntervalSince1970))"
///     var text = "\(request.method.rawValue)\n\(request.url.absoluteString)\n\(date)\n"
///     text += try digest(of: request)
///     return ["X-Date": date, "X-Signature": key.sign(text)]
/// }
/// ```
///
/// - The closure sees what every other plugin has made of the request, wherever this one is in the array, and the body of any
///   kind: bytes, a file, a form with files. ``SignableRequest/readBody(_:)`` reads it in pieces.
/// - It is asked at each attempt, so a call that is tried again has a new date and a new signature. Of calls that share one
///   network call one is signed.
/// - A redirect within the origin is followed with the signature of the first request. One to another origin goes out without
///   it: the fields count as secret. A server that checks the signature of the second request needs `redirects: .none`, and
///   a call of its own.
/// - Loggers and other plugins see the signed request in `willSend`.
///
/// Order: anywhere. Several sign in the array's order, and a later one sees the fields of the earlier ones.
public struct RequestSigningPlugin: Plugin {
    private typealias Signature = @Sendable (SignableRequest, RequestContext) async throws -> HTTPHeaders

    /// The fields that the signature may set.
    public let secretHeaders: Set<HTTPHeaderName>
    private let signature: Signature

    /// A plugin that signs by a closure.
    ///
    /// - Parameters:
    ///   - fields: The fields that the closure may set; another one is an error. They are not sent to another origin.
    ///   - signature: The fields to set, in the place of those of the same name; none: the request goes out as it is. What it
    ///     throws ends the call, with stage `.request`.
    public init(
        fields: Set<HTTPHeaderName>,
        signature: @escaping @Sendable (SignableRequest, RequestContext) async throws -> HTTPHeaders
    ) {
        secretHeaders = fields
        self.signature = signature
    }
}

extension RequestSigningPlugin: RequestFinisher {
    package func finalFields(for request: TransportRequest, context: RequestContext) async throws -> HTTPHeaders {
        guard let url = request.urlRequest.url else { return [:] }
        let signable = SignableRequest(
            method: HTTPMethod(rawValue: request.urlRequest.httpMethod ?? HTTPMethod.get.rawValue),
            url: url,
            headers: HTTPHeaders(request.urlRequest.allHTTPHeaderFields ?? [:]),
            body: request.body
        )
        let fields = try await signature(signable, context)
        for name in fields.dictionary.keys where !secretHeaders.contains(HTTPHeaderName(rawValue: name)) {
            throw RequestSigningError.undeclaredField(name: name)
        }
        return fields
    }
}

/// Why a request could not be signed.
package enum RequestSigningError: Error, Sendable, Hashable {
    /// The signature has a header field that the plugin was not told of, so that a redirect would take it to another origin.
    case undeclaredField(name: String)
}

extension RequestSigningError: DescribedError {
    /// What is wrong, in one line.
    package var description: String {
        switch self {
        case .undeclaredField(let name): "the signature sets \(name), which is not among the plugin's fields"
        }
    }
}
