// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends a request and follows its redirects, each step with the cookies for its URL. The caller sets the cookies of
/// the first step, because plugins see that request.
final class RedirectFollower: Sendable {
    /// Takes a response for what it is.
    static let ofSamples = RedirectFollower(policy: .none)

    /// What an exchange brought, the request that it answered, and the redirects before it; in one place, since it is handed
    /// from step to step.
    final class Arrival: Sendable {
        let response: TransportResponse
        let request: OutgoingRequest
        let redirects: [Redirect]

        init(response: TransportResponse, request: OutgoingRequest, redirects: [Redirect]) {
            self.response = response
            self.request = request
            self.redirects = redirects
        }
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
        fileprivate func send(
            _ request: OutgoingRequest,
            after redirects: [Redirect] = []
        ) async throws -> Arrival {
            // Each case makes its own: where two responses meet in one variable, a waiting call holds every field of both.
            switch self {
            case .plain(let transport):
                let response = try await transport.send(request.content)
                return Arrival(response: response, request: request, redirects: redirects)
            case .tied(let transport, let handle):
                // The checked kind would cost an allocation and a lock; what it checks is the protocol's one promise.
                let response = try await withUnsafeThrowingContinuation {
                    transport.start(request.content, tiedTo: handle, for: $0)
                }
                return Arrival(response: response, request: request, redirects: redirects)
            }
        }
    }

    let policy: RedirectPolicy
    /// Fields that are not for another origin.
    let secretNames: Set<HTTPHeaderName>
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
    func send(_ request: OutgoingRequest, over line: Line) async throws -> Arrival {
        if let clock, let timeout = request.content.timeout, !request.content.isStreamed {
            return try await send(request, within: timeout, by: clock, over: line)
        }
        return try await follow(request, over: line)
    }

    private func send(
        _ request: OutgoingRequest,
        within timeout: Duration,
        by clock: any Clock<Duration>,
        over line: Line
    ) async throws -> Arrival {
        if case .tied(let transport, let handle) = line {
            // When the time is over the group cancels a task, of which a tied exchange would not hear.
            return try await handle.run {
                try await self.send(request, within: timeout, by: clock, over: .plain(transport))
            }
        }
        let untimed = request.with { $0.timeout = nil }
        return try await withThrowingTaskGroup(of: Arrival?.self) { group in
            group.addTask { try await self.send(untimed, over: line) }
            group.addTask {
                try await clock.wait(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            guard let arrival = try await group.next() ?? nil else { throw URLError(.timedOut) }
            return arrival
        }
    }

    @inline(__always)
    private func follow(_ request: OutgoingRequest, over line: Line) async throws -> Arrival {
        let deadline = request.content.timeout.map { ContinuousClock.now + LongestWait.limited($0) }
        let first: Step
        do {
            let arrival = try await line.send(request)
            keepCookies(of: arrival)
            guard let step = try step(after: arrival, to: request) else { return arrival }
            // What the redirect itself brought goes here: a body that still streams holds its connection.
            first = step
        }
        return try await follow(first, over: line, before: deadline)
    }

    /// From the first redirect on: apart, so that a call without one keeps no room for it.
    private func follow(
        _ first: Step,
        over line: Line,
        before deadline: ContinuousClock.Instant?
    ) async throws -> Arrival {
        var step = first
        var redirects: [Redirect] = []
        while true {
            redirects.append(step.redirect)
            guard redirects.count <= policy.limit else {
                let words = "the server redirects more than \(policy.limit) times"
                throw failure(.httpTooManyRedirects, step.redirect, words)
            }
            let arrival = try await send(withCookies(step.request), over: line, after: redirects, before: deadline)
            keepCookies(of: arrival)
            guard let next = try self.step(after: arrival, to: step.request) else { return arrival }
            step = next
        }
    }

    /// Sends a request that a redirect led to; an error says so.
    private func send(
        _ request: OutgoingRequest,
        over line: Line,
        after redirects: [Redirect],
        before deadline: ContinuousClock.Instant?
    ) async throws -> Arrival {
        do {
            let left = try deadline?.timeLeft
            return try await line.send(request.with { $0.timeout = left }, after: redirects)
        } catch let error as URLError {
            var userInfo = error.userInfo
            userInfo[FailureMark.redirects] = redirects.count
            if userInfo[NSURLErrorFailingURLErrorKey] == nil {
                userInfo[NSURLErrorFailingURLErrorKey] = request.urlRequest.url?.redacted
            }
            throw URLError(error.code, userInfo: userInfo)
        }
    }

    /// The request with the store's cookies for its URL. A `Cookie` field of the caller's own stands in for them.
    func withCookies(_ request: OutgoingRequest) -> OutgoingRequest {
        guard let cookies else { return request }
        let urlRequest = request.urlRequest
        guard let url = urlRequest.url, urlRequest.value(forHTTPHeaderField: "Cookie") == nil,
            let field = cookies.header(for: url)
        else { return request }
        var content = request.content
        content.urlRequest.setValue(field, forHTTPHeaderField: "Cookie")
        return OutgoingRequest(content, hasStoredCookies: true)
    }

    private func keepCookies(of arrival: Arrival) {
        guard let cookies, let url = arrival.request.urlRequest.url else { return }
        let fields = arrival.response.head.headers.values(for: .setCookie)
        if !fields.isEmpty { cookies.store(fields, from: url) }
    }
}

extension TransportRequest {
    fileprivate var isStreamed: Bool {
        if case .stream = destination { true } else { false }
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
