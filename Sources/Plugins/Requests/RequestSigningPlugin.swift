// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Signs requests: adds header fields that depend on the method, URL, header fields and body that are sent.
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
/// - The closure gets the request after the other plugins, with a body of any kind: bytes, a file, a form with files.
///   ``SignableRequest/readBody(_:)`` reads it in chunks.
/// - Each request that is sent is signed. A retried call has a new date and a new signature, and a redirect
///   within the origin is followed with a signature of its own. A redirect to another origin is followed without one.
/// - Other plugins and loggers don't see the signature, and stored responses need none.
///
/// Several of these plugins sign in the order of the provider's array, and a later one gets the fields of the earlier
/// ones.
public struct RequestSigningPlugin: Plugin {
    private typealias Signature = @Sendable (SignableRequest, RequestContext) async throws -> HTTPHeaders

    /// The fields that the signature may set.
    public let secretHeaders: Set<HTTPHeaderName>
    private let signature: Signature

    /// `PluginPlace.signing`.
    public var place: PluginPlace { .signing }

    /// The hooks that it implements.
    public var hooks: PluginHooks { [.exchange, .waiting] }

    /// Creates a plugin that signs with a closure.
    ///
    /// - Parameters:
    ///   - fields: The fields that the closure may set; any other one is an error. They aren't sent to another origin.
    ///   - signature: Returns the fields to set, which replace fields of the same name. An error that it throws ends
    ///     the call, with stage `.request`.
    public init(
        fields: Set<HTTPHeaderName>,
        signature: @escaping @Sendable (SignableRequest, RequestContext) async throws -> HTTPHeaders
    ) {
        secretHeaders = fields
        self.signature = signature
    }

    /// Sets the fields of the signature.
    ///
    /// - Throws: `TargetKitError` of stage `.request`, with the closure's error, that of a value with a line break, or
    ///   that of a field that wasn't named.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        guard !request.isCrossOrigin else { return try await next(request) }
        var request = request
        do {
            try await sign(&request, context: context)
        } catch  where !error.isCancellation {
            throw TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
        }
        return try await next(request)
    }

    private func sign(_ request: inout TransportRequest, context: RequestContext) async throws {
        guard let signable = SignableRequest(request) else { return }
        let fields = try await SigningTask.$isRunning.withValue(true) { try await signature(signable, context) }
        for field in fields {
            let name = field.name.rawValue
            guard secretHeaders.contains(field.name) else { throw RequestSigningError.undeclaredField(name: name) }
            try request.urlRequest.setField(field.name, to: field.value)
        }
    }
}

/// Whether this code runs for a signature. A call that it makes doesn't wait for the slot of the call that is signed.
enum SigningTask {
    @TaskLocal static var isRunning = false
}

/// Why a request couldn't be signed.
package enum RequestSigningError: Error, Sendable, Hashable {
    /// The signature has a header field that the plugin doesn't know as secret: a redirect would send it to another
    /// origin.
    case undeclaredField(name: String)
}

extension RequestSigningError: DescribedError {
    /// The problem in one line.
    package var redactedDescription: String {
        switch self {
        case .undeclaredField(let name): "the signature sets \(name), which is not among the plugin's fields"
        }
    }
}
