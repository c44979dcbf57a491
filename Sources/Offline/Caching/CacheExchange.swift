// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// One exchange of a GET or HEAD request with a cache (RFC 9111 §4).
struct CacheExchange: Sendable {
    let cache: ResponseCache
    let storage: ResponseCache.Storage
    /// `nil` if the call failed and can only use a stored response.
    let network: Exchange?
    let context: RequestContext
    let request: TransportRequest
    let url: URL
    let fields: [String: String]
    let isHead: Bool
    /// The maximum size of the body, in bytes.
    let bodyLimit: Int
    let key: CacheKey
    /// Whether the response may be stored for the request's user. It may if the user is still signed in, and no other
    /// plugin added a credential that the cache doesn't know.
    let isOfUser: @Sendable (TransportResponse, RequestContext) -> Bool
    let generation: CacheRemovals.Generation
    /// Stores the changes that wait for the call's decision; `nil` in the background.
    var call: Locked<CachedCall>?

    func response() async throws -> TransportResponse {
        if context[HasStoredResponseKey.self] != nil { context[HasStoredResponseKey.self] = nil }
        let directives = fields.isEmpty ? RequestDirectives() : RequestDirectives(fields)
        let policy = request.urlRequest.cachePolicy
        switch CachePolicy(policy) {
        case .reload: return try await load(directives)
        case .onlyCached:
            if let stored = await stored() { return serve(stored) }
            cache.report(.miss(url))
            let text = "the response isn't in the cache"
            throw URLError(
                .resourceUnavailable,
                userInfo: [NSLocalizedDescriptionKey: text, FailureMark.words: text, FailureMark.notCached: true]
            )
        case .cachedElseLoad:
            if let stored = await stored() { return serve(stored) }
            cache.report(.miss(url))
            return try await load(directives)
        case .useProtocol, .staleOnFailure:
            return try await response(directives, isRevalidating: policy == .reloadRevalidatingCacheData)
        }
    }

    /// The stored response, regardless of its age; `nil` if there is none.
    func storedResponse() async -> TransportResponse? { await stored().map { serve($0) } }

    /// The stored redirect, regardless of its age; `nil` if there is none.
    func storedRedirect() async -> TransportResponse? {
        guard let stored = await stored(), stored.statusCode.isRedirect else { return nil }
        return serve(stored)
    }

    private func response(_ directives: RequestDirectives, isRevalidating: Bool) async throws -> TransportResponse {
        if directives.isUnstorable { return try await load(directives) }
        guard let stored = await stored() else {
            cache.report(.miss(url))
            return directives.isOnlyIfCached ? .gatewayTimeout : try await load(directives)
        }
        switch isRevalidating ? .mustValidate : stored.freshness.use(for: directives, at: cache.now()) {
        case .fresh, .stale: return serve(stored)
        case .staleWhileRevalidating:
            guard cache.mustValidate(stored) else {
                revalidate(stored, directives: directives)
                return serve(stored)
            }
            context[HasStoredResponseKey.self] = true
            // The response of the last validation in the background needs a call that decides about it. If the server
            // can't be reached, the stored response may still be used.
            do {
                let response = try await validate(stored, directives: directives)
                return response.head.statusCode.isOfServerThatCannotAnswer ? serve(stored) : response
            } catch  where error.allowsCachedResponse {
                return serve(stored)
            }
        case .mustValidate:
            if directives.isOnlyIfCached { return .gatewayTimeout }
            // A plugin that waits for the network doesn't delay a call that can do without it.
            context[HasStoredResponseKey.self] =
                stored.freshness.allowsStaleIfError(for: directives, at: cache.now())
                || context.options.cachePolicy == .staleOnFailure && isUsable(stored)
            return hasOwnConditions
                ? try await load(directives, stored: stored) : try await validate(stored, directives: directives)
        }
    }

    /// Whether the call would accept a stored response, or follow it, instead of a failure.
    private func isUsable(_ stored: CachedResponse) -> Bool {
        stored.statusCode.isRedirect || context.target.validation.accepts(stored.statusCode)
    }

    /// The stored response that the request selects (RFC 9111 §4.1).
    private func stored() async -> CachedResponse? {
        let stored = await cache.response(for: key, fields: fields, in: storage)
        guard let stored, isHead || stored.body.count <= bodyLimit else { return nil }
        return stored
    }

    /// The response to the call: a stored response, or 304 if it meets the request's own condition.
    func serve(_ stored: CachedResponse, isValidated: Bool = false) -> TransportResponse {
        let now = cache.now()
        // Limited as an `Age` field is, because the clock is the app's.
        let age = min(stored.freshness.age(at: now) ?? stored.freshness.initialAge, 0x8000_0000)
        let origin: Response.Origin =
            if isValidated { .revalidated } else if stored.freshness.isFresh(at: now) {
                .cache(age: .seconds(Int64(age)))
            } else {
                .stale(age: .seconds(Int64(age)))
            }
        if !isValidated { cache.report(.hit(url, origin)) }
        var answer = stored.answer(origin: origin, age: isValidated ? nil : age, isHead: isHead)
        if answersNotModified(stored) {
            answer.head.statusCode = 304
            answer.body = .data(Data())
        }
        // A call that receives no body can't reject it.
        let hasBody = !isHead && answer.head.statusCode != 304
        let removal = hasBody ? CacheChange { [cache, storage] in cache.drop(stored, in: storage) } : nil
        return deciding(answer, removal)
    }

    /// Returns a response whose change is made when the calls that receive it accept it. The changes for the redirects
    /// before it are also made then.
    func deciding(_ response: TransportResponse, _ change: CacheChange?) -> TransportResponse {
        var changes = call?.withLock(\.changes) ?? []
        if let change { changes.append(change) }
        if changes.isEmpty { return response }
        var response = response
        response.onDecision { [changes] in changes.decide(isAccepted: $0) }
        return response
    }

    /// Whether the request's own condition refers exactly to a stored response.
    func isAbout(_ stored: CachedResponse) -> Bool {
        let validators = Validators(stored)
        if let noneMatch = field("If-None-Match") { return validators.entityTag == noneMatch }
        return validators.lastModified.map { $0 == field("If-Modified-Since") } ?? false
    }

    /// Whether a stored response meets the request's own condition, so that the response is 304.
    private func answersNotModified(_ stored: CachedResponse) -> Bool {
        guard hasOwnConditions, stored.statusCode == 200 else { return false }
        return Validators(stored).answersNotModified(
            noneMatch: field("If-None-Match"),
            modifiedSince: field("If-Modified-Since"),
            now: cache.now()
        ) == true
    }

    private var hasOwnConditions: Bool {
        !fields.isEmpty && (field("If-None-Match") != nil || field("If-Modified-Since") != nil)
    }

    private func field(_ name: String) -> String? {
        fields.first { $0.key.equalsIgnoringASCIICase(name) }?.value
    }
}

/// The information that a call needs about its exchanges. Calls that share an exchange share it.
struct CachedCall: Sendable {
    enum Key: RequestContextKey { typealias Value = Locked<CachedCall> }

    /// The requests, with redirects.
    var requests: [TransportRequest] = []
    /// The changes for the responses of this attempt.
    var changes: [CacheChange] = []
}

extension TransportResponse {
    /// The response to a request with `only-if-cached` that the cache can't satisfy (RFC 9111 §5.2.1.7).
    fileprivate static var gatewayTimeout: TransportResponse {
        TransportResponse(head: ResponseHead(statusCode: 504), body: .data(Data()))
    }
}
