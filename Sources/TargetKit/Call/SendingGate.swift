// SPDX-License-Identifier: MIT

/// Decides whether the requests of a call may be sent, for example for a queue whose calls belong to one user.
package struct SendingGate: Sendable {
    /// Called for each request immediately before it is passed to the transport, after all plugins. If it throws, the
    /// request isn't sent, and the call ends with stage `.request`.
    var admit: @Sendable (inout TransportRequest, RequestContext) async throws -> Void

    package init(admit: @escaping @Sendable (inout TransportRequest, RequestContext) async throws -> Void) {
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
    func admitted(_ request: TransportRequest, by gate: SendingGate) async throws -> TransportRequest {
        var request = request
        do {
            try await gate.admit(&request, context)
            return request
        } catch  where !(error is CancellationError) {
            var failure = TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
            failure.marks.insert(.ofPlugin)
            throw failure
        }
    }
}

/// A request wasn't sent, because it had the credential of another user than the one to whom its call belongs.
package struct CredentialOfOtherOwner: Error, ErrorWithKind, RedactedDescription {
    package init() {}

    package var kind: TargetKitError.Kind? { .unauthorized }

    /// What happened, and how to resolve it.
    var redactedDescription: String {
        "the call belongs to another user than the one who is signed in; it can be made when that user signs in again"
    }
}
