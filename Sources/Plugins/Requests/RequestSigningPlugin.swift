// SPDX-License-Identifier: MIT
import TargetKit

/// Signs requests by adding header fields that depend on the method, URL, header fields and body of the request.
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
/// - The closure receives the request after the other plugins, with any kind of body, including files and forms with
///   files. ``SignableRequest/readBody(_:)`` reads the body in chunks.
/// - Each request is signed separately, including retries and redirects within the origin. Redirects to another origin
///   aren't signed.
/// - Other plugins and loggers don't receive the signature, and cached responses need none.
///
/// A signature identifies a request, not a user. If it is the only credential of a request, the plugin should name the
/// user with `owner`, so that an interrupted download of that user continues, and nobody else's, and that a stored call
/// of a queue or an outbox is only sent with that user's signature.
///
/// Several plugins of this type sign in the order of the provider's array. A later one receives the fields of the
/// earlier ones.
public struct RequestSigningPlugin: Plugin {
    private typealias Signature = @Sendable (SignableRequest, RequestContext) async throws -> HTTPHeaders

    /// The fields that the signature may set.
    public let secretHeaders: Set<HTTPHeaderName>
    private let owner: @Sendable (RequestContext) -> String?
    private let signature: Signature
    /// The owner that the plugin named for the call.
    private let namedOwner = PluginStorage<CredentialOwner>()

    /// `PluginPlace.signing`.
    public var place: PluginPlace { .signing }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .exchange] }

    /// Creates a plugin that signs with a closure.
    ///
    /// - Parameters:
    ///   - fields: The fields that the closure may set. Any other field is an error. They aren't sent to another
    ///     origin.
    ///   - owner: Returns what identifies the user whose key signs the request, for example the ID of the user's key.
    ///     The plugin sets `RequestContext.credentialOwner` to it, unless another plugin does. It must not be a secret,
    ///     or the ID of a key that users share. Default: `nil`, which means that the user isn't known.
    ///   - signature: Returns the fields to set, which replace fields with the same names. If it throws an error, the
    ///     call ends with stage `.request`.
    public init(
        fields: Set<HTTPHeaderName>,
        owner: @escaping @Sendable (RequestContext) -> String? = { _ in nil },
        signature: @escaping @Sendable (SignableRequest, RequestContext) async throws -> HTTPHeaders
    ) {
        secretHeaders = fields
        self.owner = owner
        self.signature = signature
    }

    /// Names the owner of the signature, which is set later.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        name(owner(context), in: context)
        return request
    }

    /// Sets the fields of the signature.
    ///
    /// - Throws: `TargetKitError` of stage `.request` if the closure throws an error, a value contains a line break, or
    ///   a field isn't in the list.
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
        for field in try await fields(of: signable, context: context) {
            let name = field.name.rawValue
            guard secretHeaders.contains(field.name) else { throw RequestSigningError.undeclaredField(name: name) }
            try request.urlRequest.setField(field.name, to: field.value)
        }
    }

    /// The fields of the signature, whose owner is the context's. Signs again if another user signed in meanwhile.
    private func fields(of request: SignableRequest, context: RequestContext) async throws -> HTTPHeaders {
        for _ in 0..<2 {
            let signer = owner(context)
            let fields = try await SigningTask.$isRunning.withValue(true) { try await signature(request, context) }
            guard owner(context) == signer else { continue }
            name(signer, in: context)
            return fields
        }
        throw RequestSigningError.changingOwner
    }

    private func name(_ owner: String?, in context: RequestContext) {
        // The owner of another credential takes precedence.
        guard context.credentialOwner == nil || context.credentialOwner == context[namedOwner] else { return }
        let named = owner.map { CredentialOwner(identifier: "signature " + $0, fields: secretHeaders) }
        context.credentialOwner = named
        context[namedOwner] = named
    }
}

/// Whether the current code runs for a signature. Its calls don't wait for the slot of the call that is being signed.
package enum SigningTask {
    @TaskLocal package static var isRunning = false
}

/// The reason why a request couldn't be signed.
package enum RequestSigningError: Error, Sendable, Hashable {
    /// The signature sets a field that isn't in the plugin's list, so that a redirect would send it to another origin.
    case undeclaredField(name: String)
    /// The user changed each time while the request was signed, so that its signature may be another user's.
    case changingOwner
}

extension RequestSigningError: DescribedError {
    /// The problem in one line.
    package var redactedDescription: String {
        switch self {
        case .undeclaredField(let name): "the signature sets \(name), which isn't one of the plugin's fields"
        case .changingOwner: "the user whose key signs the request changed while it was signed; make the call again"
        }
    }
}
