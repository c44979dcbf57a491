// SPDX-License-Identifier: MIT
import TargetKit

/// Hosts in a line: which one is used, which calls are on the way to which, and when the first is tried again.
struct HostPool: Sendable {
    /// What an attempt says about its host.
    enum Verdict: Sendable {
        case worked
        case failed
        /// Nothing: it was cancelled, or failed for a reason of its own.
        case nothing
    }

    /// A call that is under way.
    private struct Call: Sendable {
        var host = 0
        /// The choice that the attempt follows; `nil` for one that goes to another host than the chosen one.
        var choice: Int?
        var isProbe = false
        /// Whether the attempt may be followed by one at another host; known when it is sent.
        var isSafeToRepeat = false
        var failed: Set<Int> = []
        /// The host of the next attempt, where the one before has failed.
        var next: Int?
    }

    private let count: Int
    private let probeAfter: Duration
    /// The host that is used.
    private(set) var current = 0
    /// Grows with each change of ``current``: what a call says about an earlier choice does not move the line again.
    private var choice = 0
    /// When the first host was last found not to work.
    private var firstFailedAt: Duration?
    /// The call that tries the first host again.
    private var probe: RequestContext.ID?
    /// Begun at the first attempt and nowhere else: a shared exchange goes on when the call that began it was cancelled and has
    /// ended, and what is kept for it then would stay for ever.
    private var calls: [RequestContext.ID: Call] = [:]

    init(count: Int, probeAfter: Duration) {
        self.count = count
        self.probeAfter = probeAfter
    }

    /// The host of a call's next attempt.
    ///
    /// - Parameters:
    ///   - isAvailable: For each host, whether it may be used now.
    ///   - mayProbe: Whether the call can be moved when the first host still does not work.
    mutating func host(
        for id: RequestContext.ID,
        isFirstAttempt: Bool,
        mayProbe: Bool,
        isAvailable: [Bool],
        at now: Duration
    ) -> Int {
        leaveUnavailable(isAvailable, at: now)
        guard var call = calls[id] ?? (isFirstAttempt ? Call() : nil) else { return current }
        defer { calls[id] = call }
        if let next = call.next {
            (call.host, call.next) = (next, nil)
        } else if mayProbe, isProbeDue(at: now), isAvailable[0], !call.failed.contains(0) {
            (call.host, call.isProbe, probe) = (0, true, id)
        } else {
            call.host = current
        }
        call.choice = call.host == current && !call.isProbe ? choice : nil
        return call.host
    }

    /// Where the call's attempt went; `nil` for one that is not known.
    func host(of id: RequestContext.ID) -> Int? { calls[id]?.host }

    /// The attempt goes out.
    mutating func sends(_ id: RequestContext.ID, isSafeToRepeat: Bool) {
        calls[id]?.isSafeToRepeat = isSafeToRepeat
    }

    /// The attempt has ended.
    mutating func ended(_ id: RequestContext.ID, _ verdict: Verdict, at now: Duration) {
        guard var call = calls[id] else { return }
        if verdict == .failed {
            call.failed.insert(call.host)
            if call.host == 0 { firstFailedAt = now }
            if call.choice == choice { choose((current + 1) % count) }
        }
        if call.isProbe {
            endProbe(&call, of: id)
            if verdict == .worked { choose(0) }
        }
        calls[id] = call
    }

    /// Whether a call whose attempt has failed is sent to another host.
    ///
    /// - Parameter wasUnsent: Whether no server can have done anything.
    mutating func moves(_ id: RequestContext.ID, wasUnsent: Bool, isAvailable: [Bool]) -> Bool {
        guard let call = calls[id], call.failed.contains(call.host), wasUnsent || call.isSafeToRepeat else {
            return false
        }
        let rest = (0..<count).map { (current + $0) % count }.filter { isAvailable[$0] && !call.failed.contains($0) }
        calls[id]?.next = rest.first
        return !rest.isEmpty
    }

    /// The call has ended.
    mutating func forget(_ id: RequestContext.ID, isInterrupted: Bool, at now: Duration) {
        guard var call = calls.removeValue(forKey: id), call.isProbe else { return }
        // It was never sent. Others would end like it if they tried at once.
        if !isInterrupted { firstFailedAt = now }
        endProbe(&call, of: id)
    }

    private func isProbeDue(at now: Duration) -> Bool {
        guard current != 0, probe == nil else { return false }
        return firstFailedAt.map { now - $0 >= probeAfter } ?? true
    }

    private mutating func endProbe(_ call: inout Call, of id: RequestContext.ID) {
        call.isProbe = false
        if probe == id { probe = nil }
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
