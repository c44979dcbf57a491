// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends the requests of a call for its ``TransferDriver``.
///
/// Each request passes the plugins' `prepare`, `willSend`, `exchange` and `didReceive`, the redirects and the validation,
/// has the call's timeout for an exchange, and is cancelled with the call. They are sent one after another; those that
/// are sent at the same time need ``concurrent()``.
public struct CallExchanges: Sendable {
    /// The context of the attempt.
    public let context: RequestContext
    package let call: Call
    package let target: Call.Resolved
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
        to target: Call.Resolved,
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

    /// The body of the call's task.
    ///
    /// - Throws: An error if it can't be read.
    public var body: TransportRequest.Body {
        get throws { try target.endpoint.body(of: original) }
    }

    /// Receives the progress of the transfer, in bytes of the whole; `nil` if there is no observer.
    public var progress: (@Sendable (TransferProgress) -> Void)? { call.progress }

    /// Returns exchanges whose requests can be in flight at the same time as other ones. Each request has a context of
    /// its own, with what the plugins have stored by now, and reports no progress.
    public func concurrent() -> CallExchanges {
        var exchanges = self
        exchanges.stored = call.handle.storedEntries
        return exchanges
    }

    /// Sends a request with its own bytes, or else the body of the task, and returns its response.
    ///
    /// - Parameter request: The request, before plugins prepare it.
    /// - Throws: ``TargetKitError``: that of a plugin or of the exchange, or of a status that the target does not accept.
    public func send(_ request: URLRequest) async throws -> Response {
        let exchange = try await prepare(request)
        return try await send(exchange)
    }

    /// Sends a request with a body and returns its response.
    ///
    /// - Parameters:
    ///   - request: The request, before plugins prepare it.
    ///   - body: The body, in place of that of the request or the task.
    /// - Throws: ``TargetKitError``: that of a plugin or of the exchange, or of a status that the target does not accept.
    public func send(_ request: URLRequest, body: TransportRequest.Body) async throws -> Response {
        let exchange = try await prepare(request, body: body)
        return try await send(exchange)
    }

    /// Returns a request as the plugins have prepared it, for ``send(_:validation:)``, with its own bytes, or else the
    /// body of the task.
    ///
    /// - Throws: ``TargetKitError`` of stage `.request`.
    public func prepare(_ request: URLRequest) async throws -> TransportRequest {
        let known = prepared.withLock { prepared in
            defer { prepared = nil }
            return prepared
        }
        if let known {
            last.withLock { $0 = known.urlRequest }
            return known
        }
        return try await prepare(request) { [call, target] in try call.transportRequest($0, to: target) }
    }

    /// Returns a request as the plugins have prepared it, for ``send(_:validation:)``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The body, in place of that of the request or the task.
    /// - Throws: ``TargetKitError`` of stage `.request`.
    public func prepare(_ request: URLRequest, body: TransportRequest.Body) async throws -> TransportRequest {
        var request = request
        request.httpBody = if case .data(let data) = body { data } else { nil }
        return try await prepare(request) { [call, target] in try call.transportRequest($0, body: body, to: target) }
    }

    /// Sends a prepared request, whose body, destination and progress may be changed, and returns its response.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - validation: The statuses that are accepted; default `nil`: those of the target.
    /// - Throws: ``TargetKitError``.
    public func send(_ request: TransportRequest, validation: StatusValidation? = nil) async throws -> Response {
        try await send(request) { [target, context] call, request in
            let result = try await call.transfer(request, to: target)
            return try call.response(result, validation ?? context.target.validation)
        }
    }

    /// Sends a request without a body that does not end with the call. Its response is ignored.
    ///
    /// The request has a context of its own. The call's scope waits for it when it is shut down.
    ///
    /// - Parameter request: The request, before plugins prepare it.
    public func sendInBackground(_ request: URLRequest) {
        sendInBackground { [target] call in
            try await call.prepare(request, call.context) {
                try call.transportRequest($0, body: TransportRequest.Body.none, to: target)
            }
        }
    }
}

extension CallExchanges {
    /// Sends a request that does not end with the call.
    ///
    /// - Parameter request: Returns the request, for a call of its own.
    package func sendInBackground(_ request: @escaping @Sendable (Call) async throws -> TransportRequest) {
        let (handle, scope) = (RequestHandle(), context.scope)
        let part = call.part(in: context.ofExchange(handle))
        // Before the task begins, so that a shutdown waits for it.
        scope.beginExchange()
        Task.detached { [target] in
            var context = part.context
            if let request = try? await request(part) {
                _ = try? await part.exchange(request, with: target, &context) { call, request in
                    try call.response(await call.transfer(request, to: target), StatusValidation.none)
                }
            }
            handle.releaseAtEnd()
            scope.endExchange()
        }
    }

    /// The last request that the plugins have prepared.
    var lastRequest: URLRequest? { last.withLock(\.self) }

    /// Prepares a request, and makes the transport's request of it.
    package func prepare(
        _ request: URLRequest,
        _ transportRequest: @escaping @Sendable (URLRequest) throws -> TransportRequest
    ) async throws -> TransportRequest {
        let request = try await call.prepare(request, context, transportRequest)
        last.withLock { $0 = request.urlRequest }
        return request
    }

    /// Performs an exchange between `willSend` and `didReceive`.
    package func send(
        _ request: TransportRequest,
        _ transfer: @escaping Call.Transfer
    ) async throws -> Response {
        var (call, context) = (call, context)
        guard let stored else {
            return try await call.exchange(request, with: target, &context, transfer).get()
        }
        let handle = RequestHandle(deadline: call.handle.deadline)
        context = context.ofExchange(handle, stored: stored)
        call = call.part(in: context)
        context.scope.beginExchange()
        defer {
            handle.releaseAtEnd()
            context.scope.endExchange()
        }
        var request = request
        request.progress = nil
        return try await call.exchange(request, with: target, &context, transfer).get()
    }
}
