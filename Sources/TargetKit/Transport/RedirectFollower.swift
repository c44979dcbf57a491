// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends a request with its cookies, and follows where its response leads.
final class RedirectFollower: Sendable {
    /// Takes a response for what it is.
    static let ofSamples = RedirectFollower(policy: .none)

    /// What came at the end of the way.
    struct Arrival: Sendable {
        let response: TransportResponse
        let request: URLRequest
        let redirects: [Redirect]
    }

    /// What an exchange goes through, and what ends it before its time: the task that waits, or a handle alone.
    enum Line: Sendable {
        case plain(any Transport)
        case tied(any InterruptibleTransport, to: RequestHandle)

        /// Tied to the handle, if there is one.
        init(_ transport: any Transport, tied: (any InterruptibleTransport)?, to handle: RequestHandle?) {
            if let tied, let handle { self = .tied(tied, to: handle) } else { self = .plain(transport) }
        }

        @inline(__always)
        fileprivate func send(_ request: TransportRequest) async throws -> TransportResponse {
            switch self {
            case .plain(let transport): try await transport.send(request)
            case .tied(let transport, let handle):
                // The checked kind would cost an allocation and a lock; what it checks is the protocol's one promise.
                try await withUnsafeThrowingContinuation { transport.start(request, tiedTo: handle, for: $0) }
            }
        }
    }

    private let policy: RedirectPolicy
    /// Fields that are not for another origin.
    private let secretNames: Set<HTTPHeaderName>
    /// Where cookies are kept; `nil`: nowhere.
    private let cookies: CookieStore?
    /// What a request's timeout is kept by; `nil`: by the transport itself, which costs no task.
    private let clock: (any Clock<Duration>)?

    init(
        policy: RedirectPolicy,
        secretNames: Set<HTTPHeaderName> = [],
        cookies: CookieStore? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.policy = policy
        self.secretNames = secretNames
        self.cookies = cookies
        // The continuous clock is the transport's own.
        self.clock = clock is ContinuousClock ? nil : clock
    }

    /// Sends within the request's timeout.
    ///
    /// Like ``follow(_:over:)`` it becomes a part of its caller: a call has few functions of its own to wait in, since each costs.
    @inline(__always)
    func send(_ request: TransportRequest, over line: Line) async throws -> Arrival {
        if clock != nil, request.timeout != nil, !request.isStreamed {
            return try await sendInTime(request, over: line)
        }
        return try await request.isDownload ? sendForFile(request, over: line) : follow(request, over: line)
    }

    private func sendInTime(_ request: TransportRequest, over line: Line) async throws -> Arrival {
        guard let clock, let timeout = request.timeout else { return try await follow(request, over: line) }
        if case .tied(let transport, let handle) = line {
            // When the time is over the group cancels a task, of which a tied exchange would not hear.
            return try await handle.run { try await self.sendInTime(request, over: .plain(transport)) }
        }
        var request = request
        request.timeout = nil
        return try await withThrowingTaskGroup(of: Arrival?.self) { [request] group in
            group.addTask { try await self.send(request, over: line) }
            group.addTask {
                try await clock.sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            guard let arrival = try await group.next() ?? nil else { throw URLError(.timedOut) }
            return arrival
        }
    }

    private func sendForFile(_ request: TransportRequest, over line: Line) async throws -> Arrival {
        guard case .file(let file) = request.destination, policy.limit > 0 else {
            return try await follow(request, over: line)
        }
        // The body of a redirect is not what was asked for: it must not replace the file.
        let part = file.deletingLastPathComponent().appending(
            path: ".\(file.lastPathComponent).\(UInt64.random(in: 0 ... .max))"
        )
        var request = request
        request.destination = .file(part)
        defer { try? FileManager.default.removeItem(at: part) }
        let arrival = try await follow(request, over: line)
        var response = arrival.response
        guard case .file = response.body else { return arrival }
        guard rename(part.path, file.path) == 0 else { throw URLError(.cannotMoveFile) }
        response.body = .file(file)
        return Arrival(response: response, request: arrival.request, redirects: arrival.redirects)
    }

    @inline(__always)
    private func follow(_ request: TransportRequest, over line: Line) async throws -> Arrival {
        var request = request
        var redirects: [Redirect] = []
        let deadline = request.timeout.map { ContinuousClock.now + $0 }
        while true {
            let sent = withCookies(request)
            let response = try await response(to: sent, over: line, after: redirects.count, before: deadline)
            keepCookies(of: response, to: sent)
            guard let redirect = try redirect(response.head, of: request.urlRequest),
                let next = try next(after: redirect, request)
            else {
                return Arrival(response: response, request: sent.urlRequest, redirects: redirects)
            }
            redirects.append(redirect)
            guard redirects.count <= policy.limit else {
                throw failure(.httpTooManyRedirects, redirect, "the server redirects more than \(policy.limit) times")
            }
            request = next
        }
    }

    /// The response to the next step; an error of a later one says that it is.
    @inline(__always)
    private func response(
        to request: TransportRequest,
        over line: Line,
        after steps: Int,
        before deadline: ContinuousClock.Instant?
    ) async throws -> TransportResponse {
        guard steps > 0 else { return try await line.send(request) }
        var request = request
        do {
            if let deadline { request.timeout = try deadline.timeLeft }
            return try await line.send(request)
        } catch let error as URLError {
            var userInfo = error.userInfo
            userInfo[FailureMark.redirects] = steps
            if userInfo[NSURLErrorFailingURLErrorKey] == nil {
                userInfo[NSURLErrorFailingURLErrorKey] = request.urlRequest.url
            }
            throw URLError(error.code, userInfo: userInfo)
        }
    }

    /// The request with the store's cookies for its URL. A `Cookie` field of the caller's own stands in for them.
    private func withCookies(_ request: TransportRequest) -> TransportRequest {
        guard let cookies, let url = request.urlRequest.url,
            request.urlRequest.value(forHTTPHeaderField: "Cookie") == nil, let field = cookies.header(for: url)
        else { return request }
        var request = request
        request.urlRequest.setValue(field, forHTTPHeaderField: "Cookie")
        return request
    }

    private func keepCookies(of response: TransportResponse, to request: TransportRequest) {
        guard let cookies, let url = request.urlRequest.url else { return }
        let fields = response.head.headers.values(for: .setCookie)
        if !fields.isEmpty { cookies.store(fields, from: url) }
    }

    /// The step that the response asks for; `nil` when it asks for none.
    private func redirect(_ head: ResponseHead, of request: URLRequest) throws -> Redirect? {
        guard policy.limit > 0, [301, 302, 303, 307, 308].contains(head.statusCode), let from = request.url,
            let location = head.headers[.location]
        else { return nil }
        guard let to = URL(string: location, relativeTo: from)?.absoluteURL, to.isCallable else {
            let step = Redirect(statusCode: head.statusCode, from: from, to: from)
            throw failure(.redirectToNonExistentLocation, step, "the redirect names no http URL")
        }
        return Redirect(statusCode: head.statusCode, from: from, to: to)
    }

    /// The request of the next step; `nil` when the closure takes the redirect as the response.
    private func next(after redirect: Redirect, _ request: TransportRequest) throws -> TransportRequest? {
        var next = request
        next.urlRequest.url = redirect.to
        let method = request.urlRequest.httpMethod ?? "GET"
        let becomesGet = redirect.statusCode == 303 ? method != "HEAD" : redirect.statusCode < 303 && method == "POST"
        if becomesGet {
            next.urlRequest.httpMethod = "GET"
            next.urlRequest.httpBody = nil
            next.body = .none
        }
        next.urlRequest.allHTTPHeaderFields = request.urlRequest.allHTTPHeaderFields?.filter { field in
            let name = HTTPHeaderName(rawValue: field.key)
            let describesBody = becomesGet && field.key.lowercased().hasPrefix("content-")
            return !describesBody && !(redirect.isCrossOrigin && (secretNames.contains(name) || name == .host))
        }
        switch policy {
        case .follow(_, let allowsDowngrade):
            guard allowsDowngrade || !redirect.isDowngrade else {
                let words = "the redirect leads from https to http"
                throw failure(.appTransportSecurityRequiresSecureConnection, redirect, words)
            }
            return next
        case .none: return nil
        case .custom(let decide):
            guard let decided = decide(next.urlRequest, redirect) else { return nil }
            next.urlRequest = decided
            return next
        }
    }

    private func failure(_ code: URLError.Code, _ redirect: Redirect, _ words: String) -> URLError {
        URLError(
            code,
            userInfo: [
                NSURLErrorFailingURLErrorKey: redirect.to,
                NSLocalizedDescriptionKey: words
                    + ", lastly from \(RedactedURL(redirect.from)) to \(RedactedURL(redirect.to))",
            ]
        )
    }
}

extension TransportRequest {
    fileprivate var isStreamed: Bool {
        if case .stream = destination { true } else { false }
    }

    fileprivate var isDownload: Bool {
        if case .file = destination { true } else { false }
    }
}

extension ContinuousClock.Instant {
    /// - Throws: `URLError(.timedOut)` when there is none.
    fileprivate var timeLeft: Duration {
        get throws {
            let left = ContinuousClock.now.duration(to: self)
            guard left > .zero else { throw URLError(.timedOut) }
            return left
        }
    }
}
