// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The rules by which a WebSocket reconnects.
public struct WebSocketReconnection: Sendable {
    let policy: RetryPolicy
    let reachability: Reachability?
    let reconnects: (@Sendable (Result<WebSocketCloseCode?, TargetKitError>) -> Bool)?
    /// Returns the share of the maximum delay, from 0 to 1.
    var share: @Sendable () -> Double = { .random(in: 0...1) }

    /// Reconnects after random delays like a `RetryPlugin`. The upper limit doubles with each consecutive failure, which
    /// includes a connection that was open for less time than the next delay. After a rejected handshake with a
    /// `Retry-After` field (RFC 9110 §10.2.3), that is the delay, and a longer one than the policy's `retryAfterLimit` is
    /// a permanent failure.
    ///
    /// - Parameters:
    ///   - policy: The delays, the statuses of a rejected handshake after which to try again, and the maximum number of
    ///     consecutive failures; default: delays of up to 20 seconds, without a limit on failures.
    ///   - reachability: Suspends attempts while the device is offline, and ends the delay when it is online again;
    ///     default: `Reachability.shared`, which is started. `nil`: only delays apply.
    ///   - reconnects: Returns whether to reconnect after a close code of the server (`nil` if there is none) or a
    ///     failure. Default `nil`: reconnects after 1001, 1005, 1006, 1011–1014, lost connections, and handshakes that
    ///     failed without a response or with one of the policy's statuses.
    public static func backoff(
        _ policy: RetryPolicy = RetryPolicy(attempts: .max),
        reachability: Reachability? = .shared,
        reconnects: (@Sendable (Result<WebSocketCloseCode?, TargetKitError>) -> Bool)? = nil
    ) -> Self {
        Self(policy: policy, reachability: reachability, reconnects: reconnects)
    }

    /// Returns the delay before the next handshake; `nil` to stop.
    ///
    /// - Parameter failures: The number of consecutive failures, from 1.
    func delay(after end: Result<WebSocketCloseCode?, TargetKitError>, failures: Int) -> Duration? {
        guard failures < policy.attempts, reconnects?(end) ?? isTransient(end) else { return nil }
        if case .failure(let error) = end {
            if error.stage == .cancelled || error.stage == .shutDown { return nil }
            if error.rejectedStatusCode != nil, let headers = error.response?.headers,
                let requested = RetryAfter.delay(in: headers, now: Date()), requested > .zero
            {
                return requested > policy.retryAfterLimit ? nil : min(requested, LongestWait.year)
            }
        }
        return policy.longestDelay(before: failures - 1) * min(1, max(0, share()))
    }

    private func isTransient(_ end: Result<WebSocketCloseCode?, TargetKitError>) -> Bool {
        switch end {
        case .success(let code): code.map(Self.isTransient) ?? true
        case .failure(let error): isTransient(error)
        }
    }

    private func isTransient(_ error: TargetKitError) -> Bool {
        if let status = error.rejectedStatusCode { return policy.statuses.contains(status) }
        switch error.stage {
        case .transport: break
        default: return false
        }
        guard let problem = error.underlying as? WebSocketError else { return true }
        return switch problem.reason {
        case .closedByServer: problem.serverCode.map(Self.isTransient) ?? false
        case .closedWithoutCloseFrame, .noPong, .alreadyClosed: true
        default: false
        }
    }

    private static func isTransient(_ code: WebSocketCloseCode) -> Bool {
        [.goingAway, .noStatus, .abnormal, .internalError, .serviceRestart, .tryAgainLater, .badGateway].contains(code)
    }
}

/// The state of a ``ReconnectingWebSocket``.
public enum WebSocketState: Sendable {
    /// The handshake is in progress.
    case connecting
    /// The WebSocket is open.
    case open
    /// The next handshake starts at a time, or for `nil`, when there is a network.
    case waiting(until: Date?)
    /// It is closed permanently, with a failure, or `nil` after a regular close.
    case closed(TargetKitError?)
}
