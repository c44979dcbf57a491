// SPDX-License-Identifier: MIT

/// Applies a ``RedirectPolicy``.
struct RedirectFollower: Sendable {
    /// A redirect and the request that it leads to.
    struct Step {
        let redirect: Redirect
        let request: TransportRequest
    }

    let policy: RedirectPolicy
    /// The fields that aren't sent to another origin, in addition to fields with secret names.
    let secretNames: Set<HTTPHeaderName>

    /// Returns the next step; `nil` if the response isn't a redirect or isn't followed.
    func step(after head: ResponseHead, to request: TransportRequest) throws -> Step? {
        guard let redirect = try redirect(head, of: request) else { return nil }
        return try step(redirect, request: request)
    }

    /// Checks the number of redirects.
    ///
    /// - Throws: `URLError(.httpTooManyRedirects)` if it exceeds the policy's limit.
    func check(_ redirects: [Redirect]) throws {
        guard redirects.count > policy.limit, let last = redirects.last else { return }
        throw failure(
            .httpTooManyRedirects,
            redirect: last,
            words: "the server redirects more than \(policy.limit) times"
        )
    }

    /// Returns the redirect of a response, or `nil`.
    private func redirect(_ head: ResponseHead, of request: TransportRequest) throws -> Redirect? {
        guard policy.limit > 0, [301, 302, 303, 307, 308].contains(head.statusCode), let from = request.urlRequest.url,
            let location = head.headers.values(for: .location).first
        else { return nil }
        let isHandshake = if case .upgrade = request.destination { true } else { false }
        // Several fields are ambiguous, and proxies may use another one.
        if Set(head.headers.values(for: .location)).count > 1 {
            throw refusal("it has several different Location fields", of: from)
        }
        if location[...].trimmingSpaces.isEmpty { throw refusal("its Location is empty", of: from) }
        guard let to = URL(redirectTo: location, from: from, isHandshake: isHandshake), to.isCallable else {
            let problem = location.authorityProblem.map { "\($0) in its Location" }
            throw refusal(problem ?? "its Location isn't an http or https URL", of: from)
        }
        return Redirect(statusCode: head.statusCode, from: from, to: to)
    }

    /// The next step; `nil` if the closure returns the redirect as the response.
    private func step(_ redirect: Redirect, request: TransportRequest) throws -> Step? {
        let next = next(after: redirect, request: request)
        switch policy {
        case .follow(_, let allowsDowngrade):
            if !allowsDowngrade { try checkSecurity(of: redirect) }
            return Step(redirect: redirect, request: next)
        case .none: return nil
        case .custom(let decide):
            guard let decided = decide(next.urlRequest, redirect) else { return nil }
            return try step(decided, redirect: redirect, shown: next)
        }
    }

    /// The request that the rules of ``RedirectPolicy`` produce.
    private func next(after redirect: Redirect, request: TransportRequest) -> TransportRequest {
        var next = request
        next.urlRequest.url = redirect.to
        let method = request.urlRequest.httpMethod ?? "GET"
        let becomesGet = redirect.statusCode == 303 ? method != "HEAD" : redirect.statusCode < 303 && method == "POST"
        if becomesGet {
            next.urlRequest.httpMethod = "GET"
            next.urlRequest.httpBody = nil
            next.body = .none
        }
        next.urlRequest.removeFields { name, _ in
            becomesGet && name.describesBody || redirect.isCrossOrigin && isForOneOrigin(name)
        }
        return next
    }

    /// The step for the closure's request, which is checked like any request.
    private func step(_ decided: URLRequest, redirect: Redirect, shown: TransportRequest) throws -> Step {
        var next = shown
        next.urlRequest = decided
        if decided.httpBody != shown.urlRequest.httpBody {
            next.body = decided.httpBody.map(TransportRequest.Body.data) ?? .none
        } else if decided.httpBody == nil, !HTTPMethod(rawValue: decided.httpMethod ?? "GET").allowsBody {
            // A body that is read while it is sent isn't part of the closure's request.
            next.body = .none
            next.urlRequest.removeFields { name, _ in name.describesBody }
        }
        do {
            try RequestCheck.check(decided, hasBody: next.body.isBody)
        } catch {
            throw TargetKitError(stage: .request, request: decided, underlying: error)
        }
        var step = redirect
        step.to = decided.url ?? redirect.to
        try checkSecurity(of: step)
        if step.isCrossOrigin, !redirect.isCrossOrigin {
            // Fields that the closure set are intended for the new origin.
            next.urlRequest.removeFields { name, value in
                isForOneOrigin(name) && shown.urlRequest.value(forHTTPHeaderField: name) == value
            }
        }
        return Step(redirect: step, request: next)
    }

    /// Whether the field must not be sent to another origin.
    func isForOneOrigin(_ name: String) -> Bool {
        HeaderRedaction(secretNames: secretNames).isForOneOrigin(HTTPHeaderName(rawValue: name))
    }

    private func checkSecurity(of redirect: Redirect) throws {
        guard redirect.isDowngrade else { return }
        let words = "the redirect leads from https to http"
        throw failure(.appTransportSecurityRequiresSecureConnection, redirect: redirect, words: words)
    }

    /// The failure of a redirect without a URL that can be called.
    @inline(never)
    private func refusal(_ reason: String, of url: URL) -> URLError {
        TransportFailure.quotable(.redirectToNonExistentLocation, "the redirect can't be followed: \(reason)")
            .error(for: url)
    }

    @inline(never)
    private func failure(_ code: URLError.Code, redirect: Redirect, words: String) -> URLError {
        let message = "\(words), last from \(RedactedURL(redirect.from)) to \(RedactedURL(redirect.to))"
        return .failure(code, message: message, for: redirect.to)
    }
}

extension URLRequest {
    /// Removes the header fields for which the closure returns `true`.
    @inline(never)
    fileprivate mutating func removeFields(_ isRemoved: (_ name: String, _ value: String) -> Bool) {
        for (name, value) in allHTTPHeaderFields ?? [:] where isRemoved(name, value) {
            setValue(nil, forHTTPHeaderField: name)
        }
    }
}

extension String {
    /// Whether a header field of that name describes the body.
    fileprivate var describesBody: Bool { lowercased().hasPrefix("content-") }
}
