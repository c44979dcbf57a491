// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Responds to calls from a ``ResponseCache``, and stores responses in it, as RFC 9111 specifies for a private cache.
///
/// ```swift
/// let provider = Provider<Catalog>(plugins: [ResponseCachePlugin(cache)])
/// let list = try await provider.request(.list, options: .setting(\.cachePolicy, .staleOnFailure))
/// if case .stale(let age) = list.origin { showAge(age) }
/// ```
///
/// Each request of a redirected call is cached individually. The cache isn't used by stubbed calls, requests with a
/// body, downloads to files, streams, and requests with `Range`, `If-Range`, `If-Match` or `If-Unmodified-Since`. A
/// successful request with an unsafe method, unless it is stubbed, invalidates stored responses (RFC 9111 §4.4).
///
/// - `max-age`, `Expires`, `no-store`, `no-cache`, `must-revalidate`, `must-understand`, `Vary`, `Age` and request
///   directives are honored, as are `stale-while-revalidate` and `stale-if-error` (RFC 5861). `s-maxage` and
///   `proxy-revalidate`, which apply to shared caches, are ignored.
/// - A stale response is validated with its `ETag` and `Last-Modified`; a `304` refreshes it.
/// - A request with `only-if-cached` that the cache can't satisfy receives status 504 (RFC 9111 §5.2.1.7).
/// - A response is stored when the call that loaded it accepts it: its status, its envelope, the codes in its body that
///   reject the credential, the value that is decoded from it, and the plugins' `process`. A response that is loaded in
///   the background is stored if the call would accept it without decoding a value; otherwise, the next call validates
///   the stored response first. A rejected response never replaces a stored one. A stored response that a call rejects
///   is removed, so that its retry and the next call load it.
/// - A cached response doesn't set cookies. `Response.origin` indicates that it is from the cache, and its `Age` field
///   contains its age.
/// - **Credentials.** Responses to requests with credentials are stored separately for each credential:
///   `Authorization`, `Cookie`, `Plugin.secretHeaders`, and other fields that the log redacts. The responses of an
///   `AuthenticationPlugin` session persist across refreshes and launches. When the session ends, all responses to
///   requests with credentials are removed if a call of the session used the cache since launch. For other credentials
///   that change, pass `user`. Without it, requests whose only credential is a signature don't use the cache, and
///   responses to requests that receive their credential in another plugin's `exchange` aren't stored.
///
/// A provider can have only one plugin of this type.
public struct ResponseCachePlugin: Plugin {
    /// `PluginPlace.caching`: after plugins that prepare requests, so that a call's policy overrides theirs, and around
    /// plugins that wait for the network.
    public var place: PluginPlace { .caching }

    /// `true`.
    public var isSingle: Bool { true }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .exchange, .process] }

    let cache: ResponseCache
    let user: (@Sendable (RequestContext) -> String?)?

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - cache: The cache, which several plugins can use.
    ///   - user: Returns an identifier of the call's user, for example the account number, so that responses remain
    ///     when the credential changes. Default `nil`: the credential identifies the user. Called when a request is
    ///     prepared and when its response arrives. The response is stored only if both identifiers are equal.
    public init(_ cache: ResponseCache, user: (@Sendable (RequestContext) -> String?)? = nil) {
        self.cache = cache
        self.user = user
    }

    /// Sets the `cachePolicy` of the request if the call sets a policy.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        if let call = context[CachedCall.Key.self] {
            // The responses of an earlier attempt aren't stored.
            call.withLock { $0.changes = [] }
        } else {
            context[CachedCall.Key.self] = Locked(CachedCall())
        }
        // Signatures differ for each request, and are added later.
        if let fields = request.allHTTPHeaderFields {
            let names = fields.keys.map(HTTPHeaderName.init(rawValue:)).filter {
                context.secretHeaders.contains($0) || $0.isCredential
            }
            if !names.isEmpty { context[CredentialNamesKey.self] = names }
        }
        if let user { context[UserKey.self] = user(context) }
        let options = context.options
        let validates =
            options.validatesCachedResponse && options.cachePolicy.urlRequestPolicy == .useProtocolCachePolicy
        let policy = validates ? .reloadRevalidatingCacheData : options.cachePolicy.urlRequestPolicy
        guard validates || options.cachePolicy != .useProtocol, request.cachePolicy != policy else { return request }
        var request = request
        request.cachePolicy = policy
        return request
    }

    /// Responds from the cache, or performs the exchange. Its response is stored when the call accepts it.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        let usesStaleOnFailure = context.options.cachePolicy == .staleOnFailure
        if usesStaleOnFailure { context[CachedCall.Key.self]?.withLock { $0.requests.append(request) } }
        let storage = await cache.open()
        guard let exchange = await exchange(of: request, context: context, storage: storage, network: next) else {
            var response = try await next(request)
            await cache.invalidate(
                after: request.urlRequest,
                head: response.head,
                canonical: { Self.canonical($0, context) },
                in: storage
            )
            // The redirects before this request.
            if let changes = context[CachedCall.Key.self]?.withLock(\.changes), !changes.isEmpty {
                response.onDecision { changes.decide(isAccepted: $0) }
            }
            return response
        }
        guard usesStaleOnFailure else { return try await exchange.response() }
        do {
            let response = try await exchange.response()
            guard response.head.statusCode.isOfServerThatCannotAnswer else { return response }
            return await exchange.storedRedirect() ?? response
        } catch  where error.allowsCachedResponse {
            guard let redirect = await exchange.storedRedirect() else { throw error }
            return redirect
        }
    }

    /// Returns a stored response for a failed call if its policy is `.staleOnFailure`.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard case .failure(let error) = result, context.options.cachePolicy == .staleOnFailure,
            error.allowsCachedResponse
        else { return result }
        let storage = await cache.open()
        for (index, request) in requests(of: error, context: context).enumerated() {
            guard var exchange = await exchange(of: request, context: context, storage: storage, network: nil) else {
                continue
            }
            // The changes of the failed attempt aren't made.
            exchange.call = nil
            // The server has replaced an earlier redirect.
            if let stored = await exchange.storedResponse(), index == 0 || !stored.head.statusCode.isRedirect,
                let response = try? Response(stored, to: request, of: context).filter(context.target.validation)
            {
                return .success(response)
            }
        }
        return result
    }

    /// The requests of a failed call, from the last one to those before its redirects. A call that joined the exchange
    /// of another call has no requests of its own.
    private func requests(of error: TargetKitError, context: RequestContext) -> [TransportRequest] {
        guard let call = context[CachedCall.Key.self] else { return [] }
        let requests = call.withLock(\.requests)
        if !requests.isEmpty { return requests.reversed() }
        return error.request.map { [TransportRequest(urlRequest: $0)] } ?? []
    }

    /// The URL under which the responses of a URL are stored. The hosts of a `HostFailoverPlugin` share their responses.
    private static func canonical(_ url: URL, _ context: RequestContext) -> URL {
        context[ReplicaHostsKey.self]?.canonical(url) ?? url
    }

    /// Returns `nil` for a request that doesn't use the cache.
    private func exchange(
        of request: TransportRequest,
        context: RequestContext,
        storage: ResponseCache.Storage,
        network: Exchange?
    ) async -> CacheExchange? {
        let urlRequest = request.urlRequest
        guard case .none = request.body, case .memory(let limit) = request.destination, let url = urlRequest.url else {
            return nil
        }
        let method = urlRequest.httpMethod ?? "GET"
        guard method == "GET" || method == "HEAD" else { return nil }
        let fields = urlRequest.allHTTPHeaderFields ?? [:]
        if !fields.isEmpty, fields.keys.contains(where: \.bypassesCache) { return nil }
        if user == nil, Self.hasUnknownCredential(fields, isSigned: network?.isSigned == true, context) { return nil }
        let credentials = context[AppliedCredentialsKey.self] ?? []
        let id = context[UserKey.self] ?? user?(context)
        for credential in credentials {
            credential.session.onEnd(of: ObjectIdentifier(cache)) { [cache] in cache.removePersonal() }
        }
        let canonicalURL = Self.canonical(url, context)
        let login = await login(of: request, url: canonicalURL, context: context, storage: storage)
        let credentialOwner = context.credentialOwner
        let key = CacheKey(
            url: canonicalURL,
            user: id.map { storage.salt.digest(of: ["user", $0]) }
                ?? owner(
                    of: request,
                    url: url,
                    context: context,
                    credentials: credentials,
                    login: login,
                    salt: storage.salt
                )
        )
        return CacheExchange(
            cache: cache,
            storage: storage,
            network: network,
            context: context,
            request: request,
            url: url,
            fields: fields,
            isHead: method == "HEAD",
            bodyLimit: limit,
            key: key,
            isOfUser: { [user] response, context in
                if credentials.contains(where: \.session.isEnded) { return false }
                if let user { return user(context) == id }
                let sessions = credentials.map { ObjectIdentifier($0.session) }
                let refreshed = context[RefreshedCredentialsKey.self] ?? []
                guard refreshed.allSatisfy({ sessions.contains(ObjectIdentifier($0.session)) }) else { return false }
                if credentials.isEmpty, context.credentialOwner != credentialOwner { return false }
                return !Self.hasUnknownCredential(response.request ?? urlRequest, after: urlRequest, context)
            },
            generation: cache.generation,
            call: context[CachedCall.Key.self]
        )
    }

}

extension Int {
    /// Whether the status indicates that the server is unavailable.
    var isOfServerThatCannotAnswer: Bool { self == 408 || self == 429 || self >= 500 }
}

extension String {
    /// Whether a field with this name sets a condition that a stored response can't decide (RFC 9111 §4.3.2), or names
    /// another server than the URL.
    fileprivate var bypassesCache: Bool {
        switch utf8.count {
        case 4: equalsIgnoringASCIICase("Host")
        case 5: equalsIgnoringASCIICase("Range")
        case 8: equalsIgnoringASCIICase("If-Range") || equalsIgnoringASCIICase("If-Match")
        case 19: equalsIgnoringASCIICase("If-Unmodified-Since")
        default: false
        }
    }
}

extension Error {
    /// Whether a cached response may replace a failed exchange.
    var allowsCachedResponse: Bool {
        if isCancellation { return false }
        let error = self as? TargetKitError ?? TargetKitError(stage: .transport, underlying: self)
        return error.allowsCachedResponse
    }
}

extension TargetKitError {
    /// Whether a cached response may be returned instead, because the server didn't respond or is unavailable.
    fileprivate var allowsCachedResponse: Bool {
        switch stage {
        case .cancelled, .shutDown, .endpoint, .decoding: false
        case .envelope: rejectedStatusCode?.isOfServerThatCannotAnswer ?? false
        case .request, .transport, .status:
            response.map { $0.statusCode.isOfServerThatCannotAnswer } ?? (kind != .unauthorized)
        }
    }
}
