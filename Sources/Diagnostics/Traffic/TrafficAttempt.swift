// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A time, as a date and on the clock that measures exchanges.
struct TrafficTime: Sendable {
    let date: Date
    let elapsed: Duration
}

/// The exchanges of one attempt.
final class TrafficAttempt: Sendable {
    private struct State: Sendable {
        var nextNumber = 0
        var inFlightCount = 0
        var hop = 0
        /// Whether the response of the current hop leads to another request.
        var isRedirected = false
        /// The URLs whose responses were redirects.
        var redirectingURLs: [String] = []
        /// The time when the last exchange ended, or initially, when the attempt started.
        var lastEnd: Duration
        /// The last entry, which waits for the result of the attempt.
        var pending: HAREntry?
        /// The entry that the result of the attempt, or the end of its stream, can change.
        var reported: HAREntry?
        /// The end of the attempt.
        var end: Duration?
    }

    let call: RequestContext.ID
    let number: Int
    let date: Date
    let start: Duration
    let isRefresh = RefreshTask.isCurrent
    /// Whether the exchange continues after its call.
    let isBackground: Bool
    /// The time since the last attempt of the call; `nil` if it is the first one.
    let retryWait: Duration?
    private let state: Locked<State>

    /// - Parameters:
    ///   - last: The last attempt of the call, or the last request of the attempt.
    ///   - time: The time of the start.
    init(
        _ context: RequestContext,
        after last: TrafficAttempt? = nil,
        at time: TrafficTime,
        isBackground: Bool = false
    ) {
        call = context.id
        number = context.attempt
        date = time.date
        start = time.elapsed
        self.isBackground = isBackground
        let lastEnd = last.flatMap { $0.number < context.attempt ? $0.end : nil }
        retryWait = lastEnd.map { time.elapsed - $0 }
        // A transfer driver sends several requests in one attempt.
        let nextNumber = last?.number == context.attempt ? last?.state.withLock(\.nextNumber) ?? 0 : 0
        state = Locked(State(nextNumber: nextNumber, lastEnd: time.elapsed))
    }

    var end: Duration? { state.withLock(\.end) }

    /// Starts an entry, and returns the previous one, whose attempt continues.
    ///
    /// - Parameter isSent: Whether the transport sends the request.
    func begin(
        _ context: RequestContext,
        at time: Duration,
        isSent: Bool
    ) -> (start: HAREntry.Start, earlier: HAREntry?) {
        state.withLock { state in
            if state.isRedirected {
                state.hop += 1
                state.isRedirected = false
            }
            defer {
                state.nextNumber += 1
                if isSent { state.inFlightCount += 1 }
                state.pending = nil
            }
            // A hedged request is sent while another one is in flight.
            let wait = state.inFlightCount > 0 || !isSent ? .zero : max(.zero, time - state.lastEnd)
            let begin = isSent ? time - wait : state.lastEnd
            let offset = begin - start
            let start = HAREntry.Start(
                attempt: self,
                number: state.nextNumber,
                hop: state.hop,
                time: begin,
                wait: wait,
                date: date.addingTimeInterval(offset.milliseconds / 1000),
                context: context
            )
            return (start, state.pending)
        }
    }

    /// Records an entry whose exchange ended, and returns the entry that is complete, if any.
    func end(_ entry: HAREntry, at time: Duration) -> HAREntry? {
        state.withLock { state in
            state.inFlightCount -= 1
            state.lastEnd = time
            if entry.hop == state.hop, entry.isRedirect {
                state.isRedirected = true
                state.redirectingURLs.append(entry.content.request?.url?.absoluteString ?? "")
            }
            // A hedged request can end after its attempt, or after the response to the other request.
            if state.end != nil || isBackground || entry.failure == .cancelled && state.pending != nil { return entry }
            defer { state.pending = entry }
            return state.pending
        }
    }

    /// Ends the attempt, and returns its last entry.
    func finish(at time: Duration) -> HAREntry? {
        state.withLock { state in
            defer { state.pending = nil }
            state.end = time
            return state.pending
        }
    }

    /// The redirects that didn't come from the transport, such as cached ones, with their positions.
    func unsent(of redirects: [Redirect]) -> [(hop: Int, redirect: Redirect)] {
        let known = state.withLock(\.redirectingURLs)
        let unknown = redirects.enumerated().filter { !known.contains($0.element.from.absoluteString) }
        return unknown.prefix(max(0, redirects.count - known.count)).map { (hop: $0.offset, redirect: $0.element) }
    }

    /// The last reported entry of the attempt.
    var reported: HAREntry? {
        get { state.withLock(\.reported) }
        set { state.withLock { $0.reported = newValue } }
    }
}

/// The numbers of scopes, in the order of their first calls.
final class ScopeNumbers: Sendable {
    private struct Known: Sendable {
        weak var scope: RequestScope?
        let number: Int
    }

    private struct State: Sendable {
        var known: [Known] = []
        var last = 0
    }

    private let state = Locked(State())

    /// The numbers of a scope's parents and the scope, for example `1.2`.
    func name(of scope: RequestScope) -> String {
        var (names, next) = (["\(number(of: scope))"], scope.parent)
        while let parent = next {
            names.append("\(number(of: parent))")
            next = parent.parent
        }
        return names.reversed().joined(separator: ".")
    }

    private func number(of scope: RequestScope) -> Int {
        state.withLock { state in
            if let known = state.known.first(where: { $0.scope === scope }) { return known.number }
            state.known.removeAll { $0.scope == nil }
            state.last += 1
            state.known.append(Known(scope: scope, number: state.last))
            return state.last
        }
    }
}
