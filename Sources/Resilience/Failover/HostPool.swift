// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The hosts of a ``HostFailoverPlugin``: the current one, and the time when the first one is tried again.
struct HostPool: Sendable {
    /// The attempts of one call.
    struct Call: Sendable {
        /// The host of the current attempt.
        fileprivate(set) var host = 0
        /// Whether the current attempt tries the first host again.
        fileprivate(set) var isProbe = false
        /// The number of the choice that the current attempt follows; `nil` if it uses another host.
        fileprivate var choice: Int?
        fileprivate var failed: Set<Int> = []
        /// Whether a circuit breaker rejected an attempt.
        fileprivate var wasRefused = false
        /// Whether the current attempt was redirected by a response after which the server has processed the request.
        var isProcessed = false
        /// The host of the next attempt, after a failed one.
        fileprivate var next: Int?

        /// Whether the next attempt uses another host.
        var isMoved: Bool { next != nil }

        /// Notes that a circuit breaker rejected the current attempt. The call may use another host, but other calls
        /// may use this host again before that one responds.
        mutating func refused() {
            failed.insert(host)
            wasRefused = true
        }
    }

    private let count: Int
    private let probeAfter: Duration
    /// The current host.
    private(set) var current = 0
    /// Increases with each change of ``current``, so that the failure of an attempt with an earlier choice doesn't
    /// change it again.
    private var choice = 0
    /// The time of the last failure of the first host.
    private var firstFailedAt: Duration?
    /// Whether a call tries the first host again.
    private var isProbing = false

    init(count: Int, probeAfter: Duration) {
        self.count = count
        self.probeAfter = probeAfter
    }

    /// Returns the call with the host of its next attempt.
    ///
    /// - Parameters:
    ///   - mayProbe: Whether the call may try the first host again, because it can then use another one.
    ///   - isAvailable: Whether each host may be used.
    mutating func nextAttempt(of call: Call, mayProbe: Bool, isAvailable: [Bool], at now: Duration) -> Call {
        leaveUnavailable(isAvailable, at: now)
        var call = call
        (call.isProbe, call.isProcessed) = (false, false)
        if let next = call.next {
            (call.host, call.next) = (next, nil)
        } else if mayProbe, isProbeDue(at: now), isAvailable[0], !call.failed.contains(0) {
            (call.host, call.isProbe, isProbing) = (0, true, true)
        } else {
            call.host = current
        }
        call.choice = call.host == current && !call.isProbe ? choice : nil
        return call
    }

    /// Returns the call after the end of its attempt.
    mutating func ended(_ call: Call, verdict: Verdict, at now: Duration) -> Call {
        var call = call
        if verdict == .failed {
            call.failed.insert(call.host)
            if call.host == 0 { firstFailedAt = now }
            if call.choice == choice { choose((current + 1) % count) }
        }
        if call.wasRefused, verdict == .worked, call.host != current {
            if call.failed.contains(0) { firstFailedAt = now }
            choose(call.host)
        }
        if call.isProbe, verdict == .worked {
            choose(0)
            call.choice = choice
        }
        return call
    }

    /// Returns the call with the host of the attempt after a failed one; `nil` if there is none.
    ///
    /// - Parameter isSafe: Whether no server can have processed the request, or it is safe to send again.
    func moved(_ call: Call, isSafe: Bool, isAvailable: [Bool]) -> Call? {
        guard call.failed.contains(call.host), isSafe else { return nil }
        var call = call
        call.next = (0..<count).map { (current + $0) % count }
            .first { isAvailable[$0] && !call.failed.contains($0) }
        return call.next == nil ? nil : call
    }

    /// Notes that the attempt that tries the first host again ended or isn't sent.
    ///
    /// - Parameter delaysNext: Whether to delay the next such attempt, as after a failure.
    mutating func endProbe(delaysNext: Bool, at now: Duration) {
        isProbing = false
        if delaysNext { firstFailedAt = now }
    }

    private func isProbeDue(at now: Duration) -> Bool {
        guard current != 0, !isProbing else { return false }
        return firstFailedAt.map { now - $0 >= probeAfter } ?? true
    }

    private mutating func leaveUnavailable(_ isAvailable: [Bool], at now: Duration) {
        guard !isAvailable[current],
            let next = (1..<count).map({ (current + $0) % count }).first(where: { isAvailable[$0] })
        else { return }
        if current == 0 { firstFailedAt = now }
        choose(next)
    }

    private mutating func choose(_ host: Int) {
        guard host != current else { return }
        current = host
        choice += 1
    }
}
