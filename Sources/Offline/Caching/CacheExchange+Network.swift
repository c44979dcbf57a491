// SPDX-License-Identifier: MIT
import TargetKit

extension CacheExchange {
    /// Loads the response, and stores it.
    ///
    /// - Parameter stored: The stored response that the request's own conditions may confirm.
    func load(_ directives: RequestDirectives, stored: CachedResponse? = nil) async throws
        -> TransportResponse
    {
        guard let network else { throw CancellationError() }
        let requestTime = cache.now()
        do {
            let response = try await network(request)
            return await received(
                response,
                context: context,
                requestTime: requestTime,
                directives: directives,
                stored: stored,
                isOwnCondition: true
            )
        } catch {
            guard let stored, error.allowsCachedResponse,
                stored.freshness.allowsStaleIfError(for: directives, at: cache.now())
            else { throw error }
            return serve(stored)
        }
    }

    /// Validates a stored response (RFC 9111 §4.3).
    func validate(
        _ stored: CachedResponse,
        directives: RequestDirectives
    ) async throws -> TransportResponse {
        guard let network, !Validators(stored).isEmpty else { return try await load(directives, stored: stored) }
        let requestTime = cache.now()
        do {
            let response = try await network(conditional(stored))
            if response.head.statusCode == 304, !Validators(response.head.headers).validates(Validators(stored)) {
                // The result doesn't apply to this stored response (RFC 9111 §4.3.3).
                return try await load(directives)
            }
            return await received(
                response,
                context: context,
                requestTime: requestTime,
                directives: directives,
                stored: stored
            )
        } catch {
            guard error.allowsCachedResponse, stored.freshness.allowsStaleIfError(for: directives, at: cache.now())
            else { throw error }
            return serve(stored)
        }
    }

    /// Validates a stored response in the background, unless a validation is in progress (RFC 5861 §3).
    func revalidate(_ stored: CachedResponse, directives: RequestDirectives) {
        guard let network else { return }
        let revalidation = ResponseCache.Revalidation(of: stored)
        guard cache.revalidations.withLock({ $0.insert(revalidation).inserted }) else { return }
        let requestTime = cache.now()
        var exchange = self
        // The call doesn't receive its response.
        exchange.call = nil
        let begins = network.inBackground(conditional(stored)) { [exchange, cache] result, context in
            if case .success(let response) = result {
                if response.head.statusCode == 304, !Validators(response.head.headers).validates(Validators(stored)) {
                    cache.remove(stored, in: storage)
                } else {
                    let received = await exchange.received(
                        response,
                        context: context,
                        requestTime: requestTime,
                        directives: directives,
                        stored: stored
                    )
                    if received.origin == .network { exchange.decide(received, replacing: stored, over: network) }
                }
            }
            _ = cache.revalidations.withLock { $0.remove(revalidation) }
        }
        if !begins { _ = cache.revalidations.withLock { $0.remove(revalidation) } }
    }

    /// Stores a response that no call receives if the call would accept it. Otherwise, the next call validates the stored
    /// response before it uses it, for example because its token must be refreshed.
    private func decide(_ response: TransportResponse, replacing stored: CachedResponse, over network: Exchange) {
        let status = response.head.statusCode
        let type = response.head.headers[.contentType]?.mediaType
        // A redirect isn't followed, and the page of a captive portal may have another media type.
        let isAccepted =
            status.isRedirect
            ? stored.statusCode.isRedirect
            : stored.mediaType == type && network.accepts(response, to: request)
        if !isAccepted, !status.isOfServerThatCannotAnswer { cache.requireValidation(of: stored) }
        response.decide(isAccepted: isAccepted)
    }

    /// The request with the conditions of a stored response instead of its own (RFC 9111 §4.3.1).
    private func conditional(_ stored: CachedResponse) -> TransportRequest {
        let validators = Validators(stored)
        var request = request
        request.urlRequest.setValue(validators.entityTag, forHTTPHeaderField: "If-None-Match")
        request.urlRequest.setValue(validators.lastModified, forHTTPHeaderField: "If-Modified-Since")
        return request
    }

    /// Handles a response of the server (RFC 9111 §4.3.3).
    private func received(
        _ response: TransportResponse,
        context: RequestContext,
        requestTime: Date,
        directives: RequestDirectives,
        stored: CachedResponse?,
        isOwnCondition: Bool = false
    ) async -> TransportResponse {
        let responseTime = cache.now()
        switch response.head.statusCode {
        case 304:
            let validators = Validators(response.head.headers)
            guard let stored, validators.validates(Validators(stored)),
                // Without a validator, a 304 refers to the response of the request's own condition.
                !isOwnCondition || !validators.isEmpty || isAbout(stored)
            else { return response }
            let updated = stored.updated(
                with: response.head,
                requestTime: requestTime,
                responseTime: responseTime,
                usesHeuristics: cache.usesHeuristics
            )
            if isOfUser(response, context) { replace(stored, with: updated, directives) }
            if isOwnCondition { return response }
            cache.report(.revalidated(url))
            var answer = serve(updated, isValidated: true)
            answer.metrics = response.metrics
            return answer.settingCookies(of: response)
        case 500, 502, 503, 504:
            if let stored, stored.freshness.allowsStaleIfError(for: directives, at: responseTime) {
                return serve(stored)
            }
        default: break
        }
        guard isOfUser(response, context) else { return deciding(response, nil) }
        let change =
            if isHead {
                await freshening(by: response.head, from: requestTime, to: responseTime, directives)
            } else {
                await storing(response, from: requestTime, to: responseTime, directives, replacing: stored)
            }
        let answer = deciding(response, change)
        if let change { call?.withLock { $0.changes.append(change) } }
        return answer
    }

    /// The change that updates or removes the stored response that the response to a HEAD request describes (RFC 9111
    /// §4.3.5).
    private func freshening(
        by head: ResponseHead,
        from requestTime: Date,
        to responseTime: Date,
        _ directives: RequestDirectives
    ) async -> CacheChange? {
        let recency = CacheRecency(head.headers, requestTime: requestTime, responseTime: responseTime)
        guard head.statusCode == 200, let stored = await cache.response(for: key, fields: fields, in: storage),
            stored.statusCode == 200, recency.replaces(stored.recency)
        else { return nil }
        guard Validators.describes(head.headers, stored: stored) else { return removal(of: stored) }
        let updated = stored.updated(
            with: head,
            requestTime: requestTime,
            responseTime: responseTime,
            usesHeuristics: cache.usesHeuristics
        )
        return CacheChange(make: { [self] in replace(stored, with: updated, directives) }, undo: {})
    }

    private func removal(of stored: CachedResponse) -> CacheChange {
        CacheChange(make: { [cache, storage] in cache.remove(stored, in: storage) }, undo: {})
    }

    private func replace(_ stored: CachedResponse, with updated: CachedResponse, _ directives: RequestDirectives) {
        let isStorable = updated.headers.isStorable(statusCode: updated.statusCode)
        if directives.isUnstorable || !isStorable || Credentials.prohibitStoring(updated.headers, Data(), key) {
            cache.remove(stored, in: storage)
        } else {
            cache.store(updated, in: storage, generation: generation)
        }
    }

    /// The change that stores a response (RFC 9111 §3). If it may not be stored, the change removes the response that it
    /// replaces.
    private func storing(
        _ response: TransportResponse,
        from requestTime: Date,
        to responseTime: Date,
        _ directives: RequestDirectives,
        replacing stored: CachedResponse?
    ) async -> CacheChange? {
        let head = response.head
        let headers = head.headers
        guard !directives.isUnstorable, case .data(let body) = response.body,
            headers.isStorable(statusCode: head.statusCode), let names = CacheVariant.names(in: headers),
            !Credentials.prohibitStoring(headers, body, key)
        else {
            let recency = CacheRecency(headers, requestTime: requestTime, responseTime: responseTime)
            return await removalOfReplaced(
                by: head.statusCode,
                recency: recency,
                directives: directives,
                stored: stored
            )
        }
        let new = CachedResponse(
            key: key,
            variant: names.isEmpty ? .only : CacheVariant(names: names, of: fields, storage.salt),
            statusCode: head.statusCode,
            httpVersion: head.httpVersion,
            headers: headers.storable,
            body: body,
            requestTime: requestTime,
            responseTime: responseTime,
            usesHeuristics: cache.usesHeuristics
        )
        if !HTTPHeaders.describesResource(head.statusCode), let current = await current(stored),
            HTTPHeaders.describesResource(current.statusCode)
        {
            // The stored response is used if the server can't be reached.
            return nil
        }
        let isReload = CachePolicy(request.urlRequest.cachePolicy) == .reload
        let former = stored == nil && isReload ? await current(nil) : stored
        return CacheChange(
            make: { [cache, storage, generation] in
                cache.store(new, in: storage, generation: generation)
                if let stored, stored.variant != new.variant { cache.drop(stored, in: storage) }
            },
            undo: { [cache, storage, generation] in
                cache.drop(new, in: storage)
                if let former { cache.store(former, in: storage, generation: generation) }
            }
        )
    }

    /// The change that removes the stored response that an unstorable response replaces; `nil` for server and client
    /// errors, which don't replace it.
    private func removalOfReplaced(
        by statusCode: Int,
        recency: CacheRecency,
        directives: RequestDirectives,
        stored: CachedResponse?
    ) async -> CacheChange? {
        guard HTTPHeaders.describesResource(statusCode), stored != nil || !directives.isUnstorable,
            let current = await current(stored), recency.replaces(current.recency)
        else { return nil }
        return removal(of: current)
    }

    /// The stored response that the request selects. It hasn't been looked up if the request had to go to the server.
    private func current(_ stored: CachedResponse?) async -> CachedResponse? {
        if let stored { return stored }
        return await cache.response(for: key, fields: fields, in: storage)
    }
}

extension TransportResponse {
    /// This response with the cookies of another one, because stored responses don't set cookies.
    fileprivate func settingCookies(of other: TransportResponse) -> TransportResponse {
        let fields = other.head.headers.values(for: .setCookie)
        if fields.isEmpty { return self }
        var headers = head.headers
        for field in fields { headers.add(.setCookie, value: field) }
        var response = self
        response.head = ResponseHead(statusCode: head.statusCode, headers: headers, httpVersion: head.httpVersion)
        return response
    }
}

extension Int {
    var isRedirect: Bool { (300...399).contains(self) && self != 304 }
}

extension CachedResponse {
    fileprivate var mediaType: String? { headers[.contentType]?.mediaType }
}
