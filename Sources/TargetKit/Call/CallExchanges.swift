// SPDX-License-Identifier: MIT

/// Sends the requests of a call for its ``TransferDriver``.
///
/// Each request passes the plugins' `prepare`, `willSend`, `exchange` and `didReceive`, the redirects and the
/// validation, has the call's exchange timeout, and is cancelled with the call. Requests are sent one after another. To
/// send requests concurrently, use ``concurrent()``.
public struct CallExchanges: Sendable {
    /// The context of the attempt.
    public let context: RequestContext
    let call: Call
    private let resolved: ResolvedRequest
    /// The plugins' stored values, for concurrent requests; otherwise `nil`.
    private var stored: [StoredEntry]?

    init(_ call: Call, of resolved: ResolvedRequest) {
        self.call = call
        self.resolved = resolved
        context = call.context.ofLastAttempt
    }

    /// Whether the requests are stubbed.
    public var isStubbed: Bool { resolved.isStubbed }

    /// Whether the caller reads the body while it arrives, as a stream.
    public var isStreamed: Bool { call.kind == .stream }

    /// The transport that sends the requests. For its abilities, see ``Transport/streamsResponses``.
    public var transport: any Transport { call.configuration.transport }

    /// The policy that decides which redirects are followed.
    public var redirects: RedirectPolicy { call.configuration.redirects.policy }

    /// The task of the call's endpoint.
    public var task: HTTPTask { resolved.endpoint.task }

    /// The body of the call's task.
    ///
    /// - Throws: An error if it can't be read.
    public var body: TransportRequest.Body {
        get throws { try resolved.endpoint.body(of: resolved.urlRequest) }
    }

    /// Receives the progress of the whole transfer, in bytes; `nil` if there is no observer.
    public var progress: (@Sendable (TransferProgress) -> Void)? { call.progress }
}

// MARK: - Requests

extension CallExchanges {
    /// Returns exchanges whose requests can be in flight concurrently. Each request has its own context, with a copy of
    /// the plugins' stored values, and reports no progress.
    public func concurrent() -> CallExchanges {
        var exchanges = self
        exchanges.stored = call.handle.storedEntries
        return exchanges
    }

    /// Returns a request prepared by the plugins, for ``send(_:validation:receive:)``. Its body is its own bytes or the
    /// body of the task.
    ///
    /// A request to another origin than the call's is restricted like that of ``prepare(_:body:restriction:)``.
    ///
    /// - Throws: ``TargetKitError`` of stage `.request`.
    public func prepare(_ request: URLRequest) async throws -> TransportRequest {
        try await prepare(request, givenBody: nil)
    }

    /// Returns a request prepared by the plugins, for ``send(_:validation:receive:)``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The body, which replaces the body of the request or the task.
    ///   - restriction: Removes fields that must not be sent, such as credentials for another server, from the prepared
    ///     request; it isn't applied to changes in `exchange`. Default `nil`: if the request is for another origin than
    ///     the call's, the fields that a redirect would remove are removed (``RedirectPolicy``), unless the driver set
    ///     them itself, and ``TransportRequest/isCrossOrigin`` is set, so that plugins add no secrets. To send the call's
    ///     credentials to a server of another origin, pass `{ $0 }`.
    /// - Throws: ``TargetKitError`` of stage `.request`.
    public func prepare(
        _ request: URLRequest,
        body: TransportRequest.Body,
        restriction: (@Sendable (URLRequest) -> URLRequest)? = nil
    ) async throws -> TransportRequest {
        var request = request
        request.httpBody = if case .data(let data) = body { data } else { nil }
        return try await prepare(request, givenBody: body, restriction: restriction)
    }

    private func prepare(
        _ request: URLRequest,
        givenBody body: TransportRequest.Body?,
        restriction: (@Sendable (URLRequest) -> URLRequest)? = nil
    ) async throws -> TransportRequest {
        // The call continues, even if its last exchange stored a file.
        if stored == nil { call.handle.revokeCommit() }
        let originRestriction = restriction == nil ? self.originRestriction(of: request) : nil
        var prepared = try await call.prepare(
            request,
            body: body,
            of: resolved,
            restriction: restriction ?? originRestriction
        )
        if originRestriction != nil {
            prepared.isCrossOrigin = true
        } else if restriction == nil, let origin = prepared.urlRequest.url?.origin, origin != request.url?.origin {
            call.handle.state.withLock { $0.movedOrigin = origin }
        }
        return prepared
    }

    /// Removes the secrets of the call from a request to another origin; `nil` for a request to the call's origin, or the
    /// origin to which a plugin moved the call. What the driver itself adds to the request is for its server.
    private func originRestriction(of request: URLRequest) -> (@Sendable (URLRequest) -> URLRequest)? {
        let original = resolved.urlRequest
        guard let origin = request.url?.origin, origin != original.url?.origin,
            origin != call.handle.state.withLock({ $0.movedOrigin })
        else { return nil }
        return { [redirects = call.configuration.redirects] prepared in
            var prepared = prepared
            // A plugin may have added a key to the query or the body.
            prepared.url = request.url
            prepared.httpBody = request.httpBody
            prepared.allHTTPHeaderFields = prepared.allHTTPHeaderFields?.filter { name, value in
                guard redirects.isForOneOrigin(name) else { return true }
                return request.value(forHTTPHeaderField: name) == value
                    && original.value(forHTTPHeaderField: name) != value
            }
            return prepared
        }
    }

    /// Sends a request with its own bytes or the body of the task, and returns its response.
    ///
    /// - Parameter request: The request, before the plugins' `prepare`.
    /// - Throws: ``TargetKitError`` of a plugin or the exchange, or if the target doesn't accept the status.
    public func send(_ request: URLRequest) async throws -> Response {
        try await send(prepare(request))
    }

    /// Sends a request with a body and returns its response.
    ///
    /// - Parameters:
    ///   - request: The request, before the plugins' `prepare`.
    ///   - body: The body, which replaces the body of the request or the task.
    /// - Throws: ``TargetKitError`` of a plugin or the exchange, or if the target doesn't accept the status.
    public func send(_ request: URLRequest, body: TransportRequest.Body) async throws -> Response {
        try await send(prepare(request, body: body))
    }

    /// Sends a prepared request and returns its response. You can change the request's body, destination and progress
    /// first.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - validation: The accepted statuses; default `nil`, which means the target's validation.
    ///   - receive: Receives the response before the plugins' `didReceive`, with a stream as the body if that is the
    ///     request's destination, and returns it, changed or not; default `nil`. It is cancelled with the call and when
    ///     the exchange times out. Its error is the error of the exchange.
    /// - Throws: ``TargetKitError``.
    public func send(
        _ request: TransportRequest,
        validation: StatusValidation? = nil,
        receive: (@Sendable (ExchangeResult) async throws -> ExchangeResult)? = nil
    ) async throws -> Response {
        call.handle.state.withLock { $0.hasSent = true }
        guard let stored else {
            return try await call.send(request, of: resolved, validation: validation, receive: receive)
        }
        let part = part(RequestHandle(deadline: call.handle.deadline), stored: stored)
        var request = request
        request.progress = nil
        context.scope.beginExchange()
        defer {
            call.handle.noteProcessing(part.call.handle.processedCount)
            part.end()
        }
        return try await part.send(request, validation: validation, receive: receive)
    }

    /// Sends a request that has no body and continues after the call ends. The response is ignored.
    ///
    /// The request has its own context. The call's scope waits for it when the scope is shut down.
    ///
    /// - Parameter request: The request, before the plugins' `prepare`.
    public func sendInBackground(_ request: URLRequest) {
        sendInBackground { part in try await part.prepare(request, body: .none) }
    }

    /// Sends a prepared request that continues after the call ends, like ``sendInBackground(_:)-(URLRequest)``.
    public func sendInBackground(_ request: TransportRequest) {
        sendInBackground { _ in request }
    }

    private func sendInBackground(_ request: @escaping @Sendable (CallExchanges) async throws -> TransportRequest) {
        let part = part(RequestHandle())
        // Called before the task begins, so that a shutdown waits for it.
        context.scope.beginExchange()
        Task.detached {
            _ = try? await part.send(request(part), validation: StatusValidation.none)
            part.end()
        }
    }

    /// Returns an exchange with its own context.
    private func part(_ handle: RequestHandle, stored: [StoredEntry]? = nil) -> CallExchanges {
        let context = context.ofExchange(handle, stored: stored)
        let part = Call(.part, in: context, by: call.configuration, exchangeTimeout: call.exchangeTimeout)
        return CallExchanges(part, of: resolved)
    }

    /// Ends an exchange with its own context.
    private func end() {
        call.handle.releaseAtEnd()
        context.scope.endExchange()
    }
}

extension CallExchanges {
    /// Whether the call was cancelled or timed out.
    public var isInterrupted: Bool { call.interruption != nil }

    /// Keeps something in the call's scope after the end of the call, such as an open connection.
    /// ``RequestScope/shutdown(grace:)`` waits for its end. ``RequestScope/inFlightCount`` doesn't include it.
    ///
    /// - Parameters:
    ///   - onShutdown: Called when the scope is being shut down, so that a connection can end according to its protocol
    ///     within the grace period. Called on any thread, possibly before the method returns, like `onCancel`.
    ///   - onCancel: Called when the calls of the scope or the provider are cancelled, or the grace period is over.
    /// - Returns: The entry that notes the end; `nil` if the scope is shut down, and the connection must be closed.
    public func keep(
        onShutdown: @escaping @Sendable () -> Void,
        onCancel: @escaping @Sendable () -> Void
    ) -> ScopeEntry? {
        // A call that its scope doesn't accept sends nothing.
        context.scope.state.withLock { $0.calls[context.id] }.flatMap { call in
            context.scope.keep(ScopeEntry.Kept(call: call, onShutdown: onShutdown, onCancel: onCancel))
        }
    }
}

/// Performs a call that consists of several requests, such as a resumable upload or an S3 multipart upload.
///
/// A task carries its driver (``HTTPTask/driver(_:)``). Without one, a call sends its request once.
///
/// ```swift
/// struct Polling: TransferDriver {
///     func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
///         var response = try await exchanges.send(request)
///         while response.statusCode == 202, let location = response.headers[.location],
///             let url = URL(string: location, relativeTo: response.url)
///         {
///             response = try await exchanges.send(URLRequest(url: url.absoluteURL), body: .none)
///         }
///         return response
///     }
/// }
/// ```
///
/// The provider calls the driver once for each attempt. To keep a value for the next attempt, store it in the context:
/// `exchanges.context[Key.self]`. If the driver rethrows an error of ``CallExchanges/send(_:)``, the attempt fails and
/// plugins can request another. Any other error ends the call: with stage `.request` before the driver's first request,
/// with stage `.transport` after it.
public protocol TransferDriver: Sendable {
    /// Returns the response of the call.
    ///
    /// - Parameters:
    ///   - request: The request of the endpoint, before the plugins' `prepare`.
    ///   - exchanges: Sends requests.
    func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response

    /// Called once after the last attempt, before the plugins' `process`. Default: does nothing.
    ///
    /// For example, a driver can delete the server's data of a failed transfer. The call may be cancelled, so send
    /// requests with ``CallExchanges/sendInBackground(_:)-(URLRequest)``.
    func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async
}

extension TransferDriver {
    /// Does nothing.
    public func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async {}
}
