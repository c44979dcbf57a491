// SPDX-License-Identifier: MIT
import TargetKit

/// The requests that a `StubTransport`, a ``TestServer`` or a ``RecordingPlugin`` received, in order.
///
/// ```swift
/// let calls = RequestLog()
/// let provider = Provider<Catalog>(transport: StubTransport(routes: [.any: .targetSample], log: calls))
/// …
/// let order = try await calls.next(.post("/orders"))      // waits until the call is made
/// try calls.expect([.get("/products/:id"), .post("/orders").with(.json("count", 2))])
/// ```
///
/// Several transports and servers can share a log. It stores the bodies of all requests in memory. The errors of
/// ``next(_:within:)``, ``expect(_:)`` and ``expect(_:times:)`` describe the expectation and the differences, so that a
/// test in any framework only needs to throw them.
public final class RequestLog: Sendable {
    private let state = Locked(LogState())

    /// Creates an empty log.
    public init() {}

    /// All requests so far, in the order in which they arrived.
    public var requests: [RecordedRequest] {
        state.withLock { $0.entries.map(\.request) }
    }

    /// The number of requests that match a pattern.
    public func count(of pattern: RequestPattern) -> Int {
        requests.count { pattern.matches($0) }
    }

    /// Removes all requests.
    public func clear() {
        state.withLock { state in
            state.entries.removeAll()
            state.takenCount = 0
        }
    }

    /// Adds a request, and resumes the first caller of ``next(_:within:)`` that waits for it.
    package func append(_ request: RecordedRequest) {
        let (id, waiting) = state.withLock { ($0.append(request), $0.waiters.tasks) }
        // Patterns call the test's own closures, so they are compared outside the lock.
        for task in waiting where task.condition.matches(request) {
            guard let waiter = state.withLock({ $0.take(id, for: task.id) }) else { continue }
            return waiter.resume(returning: request)
        }
    }
}

// MARK: - Waiting

extension RequestLog {
    /// Returns the first request that matches a pattern and wasn't returned by an earlier call of this method. If there
    /// is none, waits until one arrives.
    ///
    /// Requests that don't match remain for other calls. ``requests``, ``count(of:)`` and the expectations include the
    /// requests that this method returned.
    ///
    /// - Parameters:
    ///   - pattern: The request to wait for; default: any.
    ///   - limit: The maximum wait in real time; default: 30 seconds.
    /// - Throws: An error that lists the requests that arrived by the limit, or `CancellationError`.
    public func next(
        _ pattern: RequestPattern = .any,
        within limit: Duration = .seconds(30)
    ) async throws -> RecordedRequest {
        try Task.checkCancellation()
        let id = state.withLock { $0.waiters.announce() }
        let timer = Locked<Task<Void, Never>?>(nil)
        defer { timer.withLock { $0 }?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard wait(id, for: pattern, continuation) else { return }
                let task = Task { await self.end(id, pattern: pattern, after: limit) }
                timer.withLock { $0 = task }
            }
        } onCancel: {
            state.withLock { $0.waiters.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    /// Resumes the caller with a request that arrived, or stores its continuation until one arrives.
    ///
    /// - Returns: Whether the caller waits.
    private func wait(_ id: Int, for pattern: RequestPattern, _ continuation: LogState.Continuation) -> Bool {
        let entries = state.withLock { $0.waiters.park(id, until: pattern, continuation) ? $0.freeEntries : nil }
        guard let entries else {
            continuation.resume(throwing: CancellationError())
            return false
        }
        for entry in entries where pattern.matches(entry.request) {
            guard let waiter = state.withLock({ $0.take(entry.id, for: id) }) else { continue }
            waiter.resume(returning: entry.request)
            return false
        }
        return true
    }

    /// Fails a caller that is still waiting after the limit.
    private func end(_ id: Int, pattern: RequestPattern, after limit: Duration) async {
        do { try await ContinuousClock().wait(for: limit) } catch { return }
        let (waiter, entries) = state.withLock { ($0.waiters.take(id), $0.entries) }
        guard let waiter else { return }
        let arrived = entries.map { entry -> (request: RecordedRequest, note: String?) in
            let isReturned = entry.isTaken && pattern.matches(entry.request)
            return (entry.request, isReturned ? "already returned by next(_:within:)" : nil)
        }
        let title = "No request matched \(pattern) within \(limit)."
        waiter.resume(throwing: ExpectationFailure(title, requests: arrived, compared: pattern))
    }
}

/// The requests of a log, and the callers that wait for a request.
private struct LogState: Sendable {
    struct Entry: Sendable {
        let id: Int
        let request: RecordedRequest
        /// Whether a waiting caller received the request.
        var isTaken = false
    }

    typealias Continuation = Waiters<RequestPattern, RecordedRequest>.Continuation

    var entries: [Entry] = []
    /// The number of taken entries at the start.
    var takenCount = 0
    var waiters = Waiters<RequestPattern, RecordedRequest>()
    private var lastID = 0

    /// The entries that no caller received.
    var freeEntries: [Entry] { entries[takenCount...].filter { !$0.isTaken } }

    mutating func append(_ request: RecordedRequest) -> Int {
        lastID += 1
        entries.append(Entry(id: lastID, request: request))
        return lastID
    }

    /// Takes an entry for a caller, and returns the caller; `nil` if the entry is taken, or the caller no longer waits.
    mutating func take(_ entry: Int, for waiter: Int) -> Continuation? {
        guard let index = entries[takenCount...].firstIndex(where: { $0.id == entry }), !entries[index].isTaken,
            let continuation = waiters.take(waiter)
        else { return nil }
        entries[index].isTaken = true
        while takenCount < entries.count, entries[takenCount].isTaken { takenCount += 1 }
        return continuation
    }
}
