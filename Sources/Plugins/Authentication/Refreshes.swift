// SPDX-License-Identifier: MIT
import TargetKit

/// The limits of refreshes: their number, for a server that rejects every new credential, and their duration.
package struct RefreshLimit: Sendable, Hashable {
    /// The maximum number of refreshes, including failed ones. Refreshes without a response don't count.
    let count: Int
    /// The interval, measured by the plugin's clock.
    let interval: Duration
    /// The maximum time for which calls wait for a refresh.
    let timeout: Duration

    /// Creates a limit; default: 5 refreshes in 30 seconds, each of at most one minute.
    package init(_ count: Int = 5, within interval: Duration = .seconds(30), timeout: Duration = .seconds(60)) {
        self.count = count
        self.interval = interval
        self.timeout = timeout
    }
}

/// The refreshes of a session: one at a time, and a limited number in an interval.
struct Refreshes<Credential: Sendable>: Sendable {
    typealias Lease = CredentialLease<Credential>
    typealias Outcome = SharedOutcome<Result<Lease, RefreshFailure>>

    /// A refresh, with the credential that it refreshes.
    struct Refresh: Sendable {
        let number: Int
        let session: Int
        let lease: Lease
        let start: Duration
        /// Whether the refresh started before the server rejected the credential.
        let isEarly: Bool
        let outcome = Outcome()

        func failure(_ error: any Error) -> RefreshFailure { .passing(error, isEarly: isEarly) }
    }

    let limit: RefreshLimit
    /// The refresh in progress.
    private(set) var running: (refresh: Refresh, task: Task<Void, Never>)?
    private var count = 0
    /// The number of the refresh that returned the credential.
    private var keptNumber = 0
    /// The start times of the refreshes within the limit's interval.
    private var starts: [Duration] = []
    /// The refresh that returned the credential, and the generation of that; `nil` once the server accepts it.
    private var untested: (start: Duration, generation: Int)?
    /// The transient failure of the latest refresh.
    private var lastFailure: (any Error)?
    /// The requests that the server rejected with a credential that was refreshed for them.
    private var refusals: [(request: String, generation: Int, time: Duration)] = []

    init(_ limit: RefreshLimit) {
        self.limit = limit
    }

    /// Starts a refresh.
    ///
    /// - Throws: The error of the latest refresh if the limit is reached.
    mutating func start(
        of lease: Lease,
        in session: Int,
        isEarly: Bool,
        at now: Duration,
        run: (Refresh) -> Task<Void, Never>
    ) throws(RefreshFailure) -> Outcome {
        let refresh = Refresh(number: count + 1, session: session, lease: lease, start: now, isEarly: isEarly)
        starts = starts.filter { now - $0 < limit.interval }
        guard starts.count < limit.count else {
            throw refresh.failure(lastFailure ?? AuthenticationError.tooManyRefreshes(limit))
        }
        starts.append(now)
        count += 1
        running = (refresh, run(refresh))
        return refresh.outcome
    }

    func isRunning(_ refresh: Refresh) -> Bool { running?.refresh.number == refresh.number }

    /// Ends a refresh, unless it has ended.
    ///
    /// - Returns: The task that runs it.
    @discardableResult
    mutating func end(_ refresh: Refresh) -> Task<Void, Never>? {
        guard isRunning(refresh) else { return nil }
        defer { running = nil }
        return running?.task
    }

    /// Whether no later refresh has returned a credential.
    func isLatest(_ refresh: Refresh) -> Bool { refresh.number > keptNumber }

    /// Notes that a refresh returned the credential, which has this generation.
    mutating func keep(_ refresh: Refresh, generation: Int) {
        keptNumber = refresh.number
        untested = (refresh.start, generation)
        lastFailure = nil
    }

    /// Notes that another process had refreshed the credential. This doesn't count toward the limit.
    mutating func adopt(_ refresh: Refresh) {
        keptNumber = refresh.number
        lastFailure = nil
        forget(refresh)
    }

    /// Notes a transient failure. A refresh without a response doesn't count toward the limit.
    mutating func fail(_ refresh: Refresh, _ error: any Error) {
        guard isRunning(refresh) else { return }
        if error.isWithoutAnswer { forget(refresh) } else { lastFailure = error.withoutExchange }
    }

    /// Removes a refresh from those that count toward the limit.
    mutating func forget(_ refresh: Refresh) {
        if let index = starts.firstIndex(of: refresh.start) { starts.remove(at: index) }
    }

    /// Notes that the server accepted a credential. Refreshes whose credential is accepted don't count toward the limit.
    mutating func accept(_ generation: Int) {
        guard let untested, generation >= untested.generation else { return }
        self.untested = nil
        starts.removeAll { $0 <= untested.start }
    }

    /// Whether the server recently rejected a new credential for a request, so that another refresh wouldn't help.
    ///
    /// - Parameter isNew: Whether it now rejected this credential, which was refreshed for the request.
    mutating func refuses(_ request: String, with generation: Int, isNew: Bool, at now: Duration) -> Bool {
        refusals.removeAll { now - $0.time >= limit.interval || isNew && $0.request == request }
        if isNew { refusals.append((request, generation, now)) }
        return refusals.contains { $0.request == request && $0.generation == generation }
    }

    /// Starts a session. The numbers of refreshes continue, because a task can outlive the refresh that started it.
    mutating func reset() {
        let old = self
        self = Refreshes(limit)
        (count, keptNumber) = (old.count, old.keptNumber)
    }
}
