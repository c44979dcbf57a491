// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// When a WebSocket is opened again.
public struct WebSocketReconnection: Sendable {
    let policy: RetryPolicy
    let reachability: Reachability?
    let reconnects: (@Sendable (Result<WebSocketCloseCode?, TargetKitError>) -> Bool)?
    /// The share of the longest delay, from 0 to 1.
    var share: @Sendable () -> Double = { .random(in: 0...1) }

    /// Opens the WebSocket again with the delays of a `RetryPlugin`: random ones, whose upper limit doubles with each
    /// failure in a row.
    ///
    /// - Parameters:
    ///   - policy: The delays, the statuses of a refused handshake after which another one follows, and how many may fail
    ///     in a row; default: up to 20 seconds, without end.
    ///   - reachability: While it says that the device is offline, nothing is tried, and when it is online again, the
    ///     delay ends; default: `Reachability.shared`, which is started. `nil`: only delays.
    ///   - reconnects: Decides after each end: a close code of the server, `nil` without one, or a failure. Default
    ///     `nil`: it is opened again after 1001, 1005, 1006, 1011–1014 and lost connections, and after handshakes that
    ///     failed without a response or with one of the policy's statuses.
    public static func backoff(
        _ policy: RetryPolicy = RetryPolicy(attempts: .max),
        reachability: Reachability? = .shared,
        reconnects: (@Sendable (Result<WebSocketCloseCode?, TargetKitError>) -> Bool)? = nil
    ) -> Self {
        Self(policy: policy, reachability: reachability, reconnects: reconnects)
    }

    /// Returns the delay before the next handshake; `nil`: there is no other one.
    ///
    /// - Parameter failures: The number of failures in a row, from 1.
    func delay(after end: Result<WebSocketCloseCode?, TargetKitError>, failures: Int) -> Duration? {
        guard failures < policy.attempts, reconnects?(end) ?? isTransient(end) else { return nil }
        if case .failure(let error) = end, error.stage == .cancelled || error.stage == .shutDown { return nil }
        return policy.longestDelay(before: failures - 1) * min(1, max(0, share()))
    }

    private func isTransient(_ end: Result<WebSocketCloseCode?, TargetKitError>) -> Bool {
        switch end {
        case .success(let code): code.map(Self.isTransient) ?? true
        case .failure(let error): isTransient(error)
        }
    }

    private func isTransient(_ error: TargetKitError) -> Bool {
        switch error.stage {
        case .status: return error.response.map { policy.statuses.contains($0.statusCode) } ?? false
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

/// What a ``ReconnectingWebSocket`` does.
public enum WebSocketState: Sendable {
    /// The handshake is in progress.
    case connecting
    /// The WebSocket is open.
    case open
    /// The next handshake begins at a time; `nil`: when there is a network.
    case waiting(until: Date?)
    /// It is closed and not opened again: with the failure, or `nil` after a regular close.
    case closed(TargetKitError?)
}
