// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The failures after which ``OfflineOutbox/send(_:)`` keeps a call. Each case includes the ones before it.
///
/// Except with ``ifUnsent``, a kept call is retried after failures without a response, after the statuses 408, 425, 429
/// and 500–599, and after status 409 with `Retry-After`.
public enum OutboxPolicy: String, Sendable, Codable {
    /// The call isn't kept.
    case never
    /// Failures in which nothing was sent, because there was no network or no connection to the server. The call is
    /// sent at most once, and fails permanently if the connection is lost or the app ends before the response arrives.
    /// It has no `Idempotency-Key` unless its target sets one.
    case ifUnsent
    /// Also failures in which the server may have processed the call, because the connection was lost or the request
    /// timed out. The call is sent with an `Idempotency-Key`, with which the server must detect retries.
    case ifUnanswered
    /// Also responses of a server that is unavailable: the statuses 408, 425, 429 and 500–599.
    case ifUnavailable
}

extension CallOptions {
    /// The failures after which an `OfflineOutbox` keeps the call; default: `OutboxPolicy.ifUnanswered`.
    public var outboxPolicy: OutboxPolicy {
        get { self[OutboxPolicyKey.self] }
        set { self[OutboxPolicyKey.self] = newValue }
    }

    /// The group of the call in an `OfflineOutbox`, for example the identifier of the object that the call changes;
    /// default `nil`: the common group. The entries of a group are sent in order. A status such as 503
    /// delays only the entries of its group.
    public var outboxGroup: String? {
        get { self[OutboxGroupKey.self] }
        set { self[OutboxGroupKey.self] = newValue }
    }
}

private enum OutboxPolicyKey: CallOptionKey { static let defaultValue = OutboxPolicy.ifUnanswered }
private enum OutboxGroupKey: CallOptionKey { static let defaultValue: String? = nil }

/// The outcome of an entry's call.
enum OutboxOutcome: Sendable {
    case sent(Response)
    /// It isn't sent again.
    case failed(TargetKitError)
    /// The server has rejected the credentials.
    case needsSignIn
    /// No response was received. Other entries also wait.
    case noResponse
    /// The server is unavailable. The value is the delay that it requested, if any.
    case unavailable(Duration?)
    /// The call wasn't sent, because the credential belongs to another user or can't be read.
    case otherOwner

    init(_ result: Result<Response, TargetKitError>, policy: OutboxPolicy, now: Date) {
        switch result {
        case .success(let response): self = .sent(response)
        case .failure(let error): self.init(error, policy: policy, now: now)
        }
    }

    private init(_ error: TargetKitError, policy: OutboxPolicy, now: Date) {
        if error.underlying as? CredentialError == .ofOtherOwner {
            self = .otherOwner
        } else if policy == .ifUnsent, !error.isMarked(.safeToRepeat) {
            self = .failed(error)
        } else if error.kind == .unauthorized {
            self = .needsSignIn
        } else if policy == .ifUnsent {
            self = error.isUnsent || error.stage == .shutDown ? .noResponse : .failed(error)
        } else if error.isUnavailable || error.isInProgress(now) {
            self = .unavailable(error.response.flatMap { RetryAfter.delay(in: $0.headers, now: now) })
        } else if error.isUnanswered || error.stage == .cancelled || error.stage == .shutDown {
            self = .noResponse
        } else {
            self = .failed(error)
        }
    }
}

extension OutboxPolicy {
    /// Whether a call is kept after its first failure.
    func keeps(_ error: TargetKitError) -> Bool {
        switch self {
        case .never: false
        case .ifUnsent: error.isUnsent && error.isMarked(.safeToRepeat) && error.isWithoutConnection
        case .ifUnanswered: error.isWithoutConnection
        case .ifUnavailable: error.isWithoutConnection || error.isUnavailable
        }
    }
}

extension TargetKitError {
    /// Whether there was no network, or the connection failed before the response.
    fileprivate var isWithoutConnection: Bool {
        guard stage == .transport || stage == .request, response == nil else { return false }
        return switch kind {
        case .offline, .cannotConnect, .connectionLost, .timedOut: true
        default: false
        }
    }

    /// Whether a later attempt can succeed, although no response arrived. A captive portal can cause a failed TLS
    /// handshake.
    fileprivate var isUnanswered: Bool {
        switch kind {
        case .insecureConnection, .storageFull, .unknown: stage == .transport || stage == .request
        // The connection was lost during the response.
        case .connectionLost: stage == .transport
        default: isWithoutConnection
        }
    }

    /// Whether the server is still processing an earlier request with the same key
    /// (draft-ietf-httpapi-idempotency-key-header §2.6). Without `Retry-After`, the status can mean that the call
    /// itself conflicts.
    fileprivate func isInProgress(_ now: Date) -> Bool {
        guard rejectedStatusCode == 409, let response else { return false }
        return RetryAfter.delay(in: response.headers, now: now) != nil
    }
}
