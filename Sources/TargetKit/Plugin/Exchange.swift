// SPDX-License-Identifier: MIT

/// The plugins and the transport that follow a plugin in its ``Plugin/exchange(_:context:next:)``.
///
/// ```swift
/// func exchange(
///     _ request: TransportRequest,
///     context: RequestContext,
///     next: Exchange
/// ) async throws -> TransportResponse {
///     let start = ContinuousClock.now
///     let response = try await next(request)
///     log(context.id, start.duration(to: .now))
///     return response
/// }
/// ```
public struct Exchange: Sendable {
    private let rest: any FollowingExchange

    /// Creates an exchange, to test a plugin.
    ///
    /// - Parameter respond: Returns the response to a request.
    public init(_ respond: @escaping @Sendable (TransportRequest) async throws -> TransportResponse) {
        rest = TestedExchange(respond: respond)
    }

    init(_ rest: any FollowingExchange) {
        self.rest = rest
    }

    /// Whether a plugin at ``PluginPlace/signing`` or later adds secrets to requests that are passed on. If so, the
    /// response may belong to a user that the request doesn't identify yet. `false` in tests.
    public var isSigned: Bool { rest.isSigned }

    /// Passes on a request, and returns its response. It may be called once, several times or never.
    ///
    /// - Throws: The error of a following plugin or the transport: a `URLError` or a `CancellationError`.
    public func callAsFunction(_ request: TransportRequest) async throws -> TransportResponse {
        try await rest.response(to: request)
    }

    /// Passes on a request in a separate task that can outlive the call. The call's scope can cancel the task, and
    /// waits for it when the scope is shut down.
    ///
    /// The preceding plugins surround this exchange too, so they see, for example, the cookies that its response sets.
    ///
    /// - Parameters:
    ///   - request: The request; its progress isn't reported.
    ///   - finish: Receives the result and the context of this exchange, because the call may have ended.
    /// - Returns: Whether the exchange begins. If `false`, the scope is shut down and `finish` isn't called.
    @discardableResult
    public func inBackground(
        _ request: TransportRequest,
        finish: @escaping @Sendable (Result<TransportResponse, any Error>, RequestContext) async -> Void
    ) -> Bool {
        rest.begin(request, finish)
    }

    /// Whether the call would accept a response that it doesn't receive, such as that of
    /// ``inBackground(_:finish:)``: its status, its envelope, the plugins, and the target's ``ErrorMappingTarget``. Its
    /// value isn't decoded. `true` in tests.
    ///
    /// - Parameters:
    ///   - response: A response with its body in memory.
    ///   - request: The request that it responds to.
    public func accepts(_ response: TransportResponse, to request: TransportRequest) -> Bool {
        rest.accepts(response, to: request.urlRequest)
    }
}

/// What follows a plugin: the other plugins and the transport, or the closure of a test.
protocol FollowingExchange: Sendable {
    /// Whether one of the plugins adds secrets.
    var isSigned: Bool { get }

    func response(to request: TransportRequest) async throws -> TransportResponse

    /// Begins an exchange that can outlive the call. Returns whether the scope accepts it.
    func begin(
        _ request: TransportRequest,
        _ finish: @escaping @Sendable (Result<TransportResponse, any Error>, RequestContext) async -> Void
    ) -> Bool

    /// Whether the call would accept a response that it doesn't receive.
    func accepts(_ response: TransportResponse, to request: URLRequest) -> Bool
}

private struct TestedExchange: FollowingExchange {
    let respond: @Sendable (TransportRequest) async throws -> TransportResponse
    var isSigned: Bool { false }

    func response(to request: TransportRequest) async throws -> TransportResponse { try await respond(request) }

    func begin(
        _ request: TransportRequest,
        _ finish: @escaping @Sendable (Result<TransportResponse, any Error>, RequestContext) async -> Void
    ) -> Bool {
        let context = RequestContext(target: URLTarget(request.urlRequest.url ?? URL(filePath: "/")))
        Task { await finish(await Result.of { try await respond(request) }, context) }
        return true
    }

    func accepts(_ response: TransportResponse, to request: URLRequest) -> Bool { true }
}
