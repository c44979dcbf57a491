// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides whether the requests of a call may be sent, for example for a queue that must not send one twice.
package struct SendingGate: Sendable {
    /// Called for each request immediately before it is passed to the transport, after all plugins; default `nil`. If
    /// it throws, the request isn't sent, and the call ends with stage `.request`.
    package var admit: (@Sendable (inout TransportRequest, RequestContext) async throws -> Void)?

    package init(admit: (@Sendable (inout TransportRequest, RequestContext) async throws -> Void)? = nil) {
        self.admit = admit
    }
}

extension CallOptions {
    /// Decides whether the call's requests may be sent; default `nil`: they may.
    package var sendingGate: SendingGate? {
        get { self[SendingGateKey.self] }
        set { self[SendingGateKey.self] = newValue }
    }
}

private enum SendingGateKey: CallOptionKey { static let defaultValue: SendingGate? = nil }

extension Call {
    /// The request after the call's ``SendingGate``.
    func admitted(_ request: TransportRequest) async throws -> TransportRequest {
        guard let admit = context.options.sendingGate?.admit else { return request }
        var request = request
        do {
            try await admit(&request, context)
            return request
        } catch  where !(error is CancellationError) {
            var failure = TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
            failure.isOfPlugin = true
            throw failure
        }
    }
}
