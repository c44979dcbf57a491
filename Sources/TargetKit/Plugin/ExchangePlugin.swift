// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plugin that takes part in each single exchange, between the redirects and the transport: a cache.
///
/// It is called once for each request that would be sent, with its cookies and its signature, and not for stubbed
/// calls. A provider has at most one.
package protocol ExchangePlugin: SinglePlugin {
    /// Returns the response to a request, from the network or instead of it.
    func exchange(_ request: TransportRequest, over network: NetworkExchange) async throws -> TransportResponse

    /// Returns the request of a call that has failed, if ``storedResponse(to:context:)`` may answer it instead.
    ///
    /// - Parameter unsent: Builds the request as it would be sent, without waiting for the network; `nil` if it cannot
    ///   be built.
    func request(
        insteadOf error: TargetKitError,
        context: RequestContext,
        unsent: @Sendable () async -> TransportRequest?
    ) async -> TransportRequest?

    /// Returns a response to a request without the network; `nil` if there is none.
    func storedResponse(to request: TransportRequest, context: RequestContext) async -> TransportResponse?
}

/// A plugin that may need the network to prepare a request.
package protocol OfflinePreparingPlugin: Plugin {
    /// Prepares a request with what is known without the network.
    func prepareOffline(_ request: URLRequest, context: RequestContext) async throws -> URLRequest
}

/// Sends the requests of an ``ExchangePlugin`` over the network, and stores the cookies of the responses.
package struct NetworkExchange: Sendable {
    let call: Call
    let target: Call.Resolved

    /// The context of the call.
    package var context: RequestContext { call.context }

    /// Performs one exchange, which is cancelled with the call.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await call.send(request, to: target, isFromPlugin: true)
    }

    /// Performs one exchange that does not end with the call. It belongs to the call's scope, which can cancel it and
    /// waits for it when it is shut down.
    ///
    /// - Parameter finish: Receives the result, and the context of the exchange, because that of the call ends with it.
    /// - Returns: Whether the exchange begins; otherwise the scope is shut down, and `finish` is not called.
    package func sendInBackground(
        _ request: TransportRequest,
        finish: @escaping @Sendable (Result<TransportResponse, any Error>, RequestContext) async -> Void
    ) -> Bool {
        let handle = RequestHandle(deadline: nil)
        let context = context.ofExchange(handle)
        let scope = context.scope
        guard scope.insert(context, owner: handle, handle: handle) else { return false }
        var request = request
        request.progress = nil
        let task = Task { [call, target, request] in
            let result: Result<TransportResponse, any Error>
            do {
                result = .success(try await call.send(request, to: target, isFromPlugin: true, isInBackground: true))
            } catch {
                result = .failure(error)
            }
            await finish(result, context)
            handle.releaseAtEnd()
            scope.remove(context.id)
        }
        handle.attach(task)
        return true
    }
}

extension Call {
    /// Performs one exchange with the exchange plugin. It keeps the plugin off the frame of calls without one.
    @inline(never)
    func exchange(_ request: TransportRequest, to target: Resolved) async throws -> TransportResponse {
        guard let plugin = plugins.exchange else { return try await send(request, to: target, isFromPlugin: true) }
        return try await plugin.exchange(request, over: NetworkExchange(call: self, target: target))
    }

    /// What a call was to send, if an exchange plugin may answer it when it has failed. It is an object, so that it
    /// costs nothing without such a plugin.
    final class Recovery: Sendable {
        let target: Resolved
        let original: URLRequest

        init?(_ call: Call, _ target: Resolved, _ original: URLRequest) {
            guard target.stub == .never, !call.delivery.isStream, target.endpoint.task.download == nil else {
                return nil
            }
            self.target = target
            self.original = original
        }
    }

    /// Asks the exchange plugin for a response to a call that has failed.
    func recovered(
        _ result: Result<Response, TargetKitError>,
        _ recovery: Recovery,
        _ context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard case .failure(let error) = result, let plugin = plugins.exchange, interruption != .cancelled else {
            return result
        }
        let (target, original) = (recovery.target, recovery.original)
        let unsent = { @Sendable [self] () async -> TransportRequest? in
            // In a task that is cancelled if the time of the call is over: a plugin may still wait for the network.
            let prepared = await cancellable(in: .prepare) { [plugins] in
                await plugins.prepareOffline(original, context: context)
            }
            guard var request = try? transportRequest(prepared, to: target) else { return nil }
            if let cookies = configuration.cookies { cookies.add(to: &request) }
            return request
        }
        guard let request = await plugin.request(insteadOf: error, context: context, unsent: unsent),
            let stored = try? await storedResult(of: request, from: plugin, context),
            let response = try? Response(stored, target: context.target, decoder: context.options.decoder)
                .filter(context.target.validation)
        else { return result }
        return decoded(.success(response))
    }

    /// Follows redirects from stored responses to stored responses; returns `nil` if one is missing.
    private func storedResult(
        of first: TransportRequest,
        from plugin: any ExchangePlugin,
        _ context: RequestContext
    ) async throws -> ExchangeResult? {
        var request = first
        var redirects: [Redirect] = []
        while let response = await plugin.storedResponse(to: request, context: context) {
            guard context.options.followsRedirects,
                let step = try configuration.redirects.step(after: response.head, to: request)
            else {
                return ExchangeResult(response: response, request: request, redirects: redirects)
            }
            redirects.append(step.redirect)
            try configuration.redirects.check(redirects)
            request = step.request
            if let cookies = configuration.cookies { cookies.add(to: &request) }
        }
        return nil
    }
}
