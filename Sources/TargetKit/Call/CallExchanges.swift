// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends the requests of a call for its ``TransferDriver``.
///
/// Each request passes the plugins' `prepare`, `willSend`, `exchange` and `didReceive`, the redirects and the
/// validation, has the call's timeout for an exchange, and is cancelled with the call. They are sent one after another;
/// those that are sent at the same time need ``concurrent()``.
public struct CallExchanges: Sendable {
    /// The context of the attempt.
    public let context: RequestContext
    private let call: Call
    private let target: ResolvedTarget
    private let original: URLRequest
    /// The request of the attempt if it was prepared to be compared with those of other calls.
    private let prepared: Locked<TransportRequest?>
    /// The last request that was prepared.
    private let last = Locked<URLRequest?>(nil)
    /// What plugins had stored for requests that are in flight at the same time; `nil` for the other ones.
    private var stored: [StoredEntry]?

    init(
        _ call: Call,
        of original: URLRequest,
        to target: ResolvedTarget,
        _ context: RequestContext,
        prepared: TransportRequest? = nil
    ) {
        self.call = call
        self.original = original
        self.target = target
        self.context = context
        self.prepared = Locked(prepared)
    }

    /// Whether a sample answers the requests.
    public var isStubbed: Bool { target.stub != .never }

    /// Whether the caller reads the body while it arrives, as a stream.
    public var isStreamed: Bool { call.kind.isStream }

    /// The transport that sends the requests, which says what it can do: ``Transport/streamsResponses``.
    public var transport: any Transport { call.configuration.transport }

    /// Whether redirects are followed, and where to.
    public var redirects: RedirectPolicy { call.configuration.redirects.policy }

    /// The task of the call's endpoint.
    public var task: HTTPTask { target.endpoint.task }

    /// The body of the call's task.
    ///
    /// - Throws: An error if it can't be read.
    public var body: TransportRequest.Body {
        get throws { try target.endpoint.body(of: original) }
    }

    /// Receives the progress of the transfer, in bytes of the whole; `nil` if there is no observer.
    public var progress: (@Sendable (TransferProgress) -> Void)? { call.progress }

    /// The last request that the plugins have prepared.
    var lastRequest: URLRequest? { last.withLock(\.self) }
}

// MARK: - Requests

extension CallExchanges {
    /// Returns exchanges whose requests can be in flight at the same time as other ones. Each request has a context of
    /// its own, with what the plugins have stored by now, and reports no progress.
    public func concurrent() -> CallExchanges {
        var exchanges = self
        exchanges.stored = call.handle.storedEntries
        return exchanges
    }

    /// Returns a request as the plugins have prepared it, for ``send(_:validation:endsWhenPaused:receive:)``, with its
    /// own bytes, or else the body of the task.
    ///
    /// - Throws: ``TargetKitError`` of stage `.request`.
    public func prepare(_ request: URLRequest) async throws -> TransportRequest {
        let known = prepared.withLock { prepared in
            defer { prepared = nil }
            return prepared
        }
        return if let known { noting(known) } else { try await preparing(request, body: nil, restriction: nil) }
    }

    /// Returns a request as the plugins have prepared it, for ``send(_:validation:endsWhenPaused:receive:)``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The body, in place of that of the request or the task.
    ///   - restriction: Removes from the prepared and the signed request what may not be sent with it, such as
    ///     credentials for another server; default `nil`. What plugins add in `exchange` is not restricted: set
    ///     ``TransportRequest/isCrossOrigin`` of a request to another server, so that they add no secrets.
    /// - Throws: ``TargetKitError`` of stage `.request`.
    public func prepare(
        _ request: URLRequest,
        body: TransportRequest.Body,
        restriction: (@Sendable (URLRequest) -> URLRequest)? = nil
    ) async throws -> TransportRequest {
        var request = request
        request.httpBody = if case .data(let data) = body { data } else { nil }
        return try await preparing(request, body: body, restriction: restriction)
    }

    private func preparing(
        _ request: URLRequest,
        body: TransportRequest.Body?,
        restriction: (@Sendable (URLRequest) -> URLRequest)?
    ) async throws -> TransportRequest {
        // The call goes on, whatever its last exchange has put in place.
        if stored == nil { call.handle.revokeCommit() }
        return noting(
            try await call.prepare(request, body: body, to: target, restriction: restriction, in: context)
        )
    }

    private func noting(_ request: TransportRequest) -> TransportRequest {
        last.withLock { $0 = request.urlRequest }
        return request
    }

    /// Sends a request with its own bytes, or else the body of the task, and returns its response.
    ///
    /// - Parameter request: The request, before plugins prepare it.
    /// - Throws: ``TargetKitError``: that of a plugin or of the exchange, or of a status that the target does not
    ///   accept.
    public func send(_ request: URLRequest) async throws -> Response {
        try await send(prepare(request))
    }

    /// Sends a request with a body and returns its response.
    ///
    /// - Parameters:
    ///   - request: The request, before plugins prepare it.
    ///   - body: The body, in place of that of the request or the task.
    /// - Throws: ``TargetKitError``: that of a plugin or of the exchange, or of a status that the target does not
    ///   accept.
    public func send(_ request: URLRequest, body: TransportRequest.Body) async throws -> Response {
        try await send(prepare(request, body: body))
    }

    /// Sends a prepared request, whose body, destination and progress may be changed, and returns its response.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - validation: The statuses that are accepted; default `nil`: those of the target.
    ///   - endsWhenPaused: Whether the exchange is cancelled when the call is paused; default `false`. See
    ///     ``waitWhilePaused()``.
    ///   - receive: Receives the response before the plugins' `didReceive`, with the body of a stream if that is the
    ///     request's destination, and returns it, changed or not. It is cancelled with the call, and within the timeout of
    ///     the exchange. An error that it throws is that of the exchange. Default `nil`.
    /// - Throws: ``TargetKitError``.
    public func send(
        _ request: TransportRequest,
        validation: StatusValidation? = nil,
        endsWhenPaused: Bool = false,
        receive: (@Sendable (ExchangeResult) async throws -> ExchangeResult)? = nil
    ) async throws -> Response {
        let reception = Reception(validation: validation, endsWhenPaused: endsWhenPaused, receive: receive)
        guard let stored else {
            var context = context
            return try await call.exchange(request, with: target, &context, reception).get()
        }
        let handle = RequestHandle(deadline: call.handle.deadline)
        let part = part(handle, stored: stored)
        context.scope.beginExchange()
        defer {
            handle.releaseAtEnd()
            context.scope.endExchange()
        }
        var (request, context) = (request, part.context)
        request.progress = nil
        return try await part.exchange(request, with: target, &context, reception).get()
    }

    /// Sends a request that has no body and continues after the call ends. The response is ignored.
    ///
    /// The request has a context of its own. The call's scope waits for it when it is shut down.
    ///
    /// - Parameter request: The request, before plugins prepare it.
    public func sendInBackground(_ request: URLRequest) {
        sendInBackground { [target] part in
            try await part.prepare(request, body: TransportRequest.Body.none, to: target, in: part.context)
        }
    }

    /// Sends a prepared request that continues after the call ends, as ``sendInBackground(_:)-(URLRequest)`` does.
    public func sendInBackground(_ request: TransportRequest) {
        sendInBackground { _ in request }
    }

    private func sendInBackground(_ request: @escaping @Sendable (Call) async throws -> TransportRequest) {
        let (handle, scope) = (RequestHandle(), context.scope)
        let part = part(handle)
        // Before the task begins, so that a shutdown waits for it.
        scope.beginExchange()
        Task.detached { [target] in
            var context = part.context
            if let request = try? await request(part) {
                _ = try? await part.exchange(
                    request,
                    with: target,
                    &context,
                    Reception(validation: StatusValidation.none)
                )
            }
            handle.releaseAtEnd()
            scope.endExchange()
        }
    }

    /// Returns a call for an exchange with a context of its own.
    private func part(_ handle: RequestHandle, stored: [StoredEntry]? = nil) -> Call {
        Call(.exchange, in: context.ofExchange(handle, stored: stored), call.configuration, plugins: call.plugins)
    }
}

// MARK: - Pausing and cancelling

extension CallExchanges {
    /// Whether the call has been cancelled or has timed out.
    public var isInterrupted: Bool { call.interruption != nil }

    /// Whether other calls may share the exchanges.
    private var isShared: Bool { call.kind == .exchange || call.kind == .shared && task.isShareable }

    /// The number of times that the caller has paused the call.
    public var pauseCount: Int { call.handle.pauseCount }

    /// Sets whether the caller can pause the call from now on; default: it cannot. Has no effect on a call that may
    /// share its exchanges.
    ///
    /// If it can, the driver waits in ``waitWhilePaused()`` before each request, and sends those that another one can
    /// continue with `endsWhenPaused`.
    public func setPausable(_ isPausable: Bool) {
        if !isShared { call.handle.setPausing(isPossible: isPausable) }
    }

    /// Waits until the call is not paused, and returns ``pauseCount``. An exchange that fails after the count has grown
    /// has ended because of the pause.
    ///
    /// - Throws: `CancellationError` if the call has been cancelled or has timed out.
    @discardableResult
    public func waitWhilePaused() async throws -> Int {
        let count = isShared ? 0 : await call.handle.waitWhilePaused()
        try call.checkCancellation()
        return count
    }
}
