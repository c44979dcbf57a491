// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The requests that a `StubTransport`, a ``TestServer`` or a ``RecordingPlugin`` has received, in order.
///
/// ```swift
/// let calls = RequestLog()
/// let provider = Provider<Catalog>(transport: StubTransport(routes: [.any: .targetSample], log: calls))
/// …
/// let order = try await calls.next(.post("/orders"))      // waits until the call is made
/// try calls.expect([.get("/products/:id"), .post("/orders").with(.json("count", 2))])
/// ```
///
/// A log can be shared by several transports and servers. It keeps the bodies of all requests in memory. The errors of
/// ``next(_:within:)``, ``expect(_:)`` and ``expect(_:times:)`` describe what was expected and what differs, so that a
/// test in any framework only has to throw them.
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
        let (id, waiters) = state.withLock { ($0.append(request), $0.waiters) }
        guard !waiters.isEmpty else { return }
        // Patterns call the test's own closures, so they are compared without the lock.
        for (waiter, value) in waiters.sorted(by: { $0.key < $1.key }) where value.pattern.matches(request) {
            if state.withLock({ $0.take(id, for: waiter) }) {
                value.continuation.resume(returning: request)
                return
            }
        }
    }
}

// MARK: - Waiting

extension RequestLog {
    /// Returns the first request that matches a pattern and that no earlier call of this method has returned. If there
    /// is none, waits until one arrives.
    ///
    /// Requests that do not match remain for other calls. ``requests``, ``count(of:)`` and the expectations include the
    /// requests that this method has returned.
    ///
    /// - Parameters:
    ///   - pattern: The request to wait for; default: any.
    ///   - limit: How long to wait, in real time; default: 30 seconds.
    /// - Throws: An error that lists the requests that have arrived, after the limit; `CancellationError`.
    public func next(
        _ pattern: RequestPattern = .any,
        within limit: Duration = .seconds(30)
    ) async throws -> RecordedRequest {
        try Task.checkCancellation()
        let id = state.withLock { $0.announce() }
        let timer = Locked<Task<Void, Never>?>(nil)
        defer { timer.withLock { $0 }?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard wait(id, LogState.Waiter(pattern: pattern, continuation: continuation)) else { return }
                let task = Task { await self.end(id, after: limit) }
                timer.withLock { $0 = task }
            }
        } onCancel: {
            state.withLock { $0.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    /// Resumes the caller with a request that has arrived, or keeps it until one arrives.
    ///
    /// - Returns: Whether the caller waits.
    private func wait(_ id: Int, _ waiter: LogState.Waiter) -> Bool {
        guard let entries = state.withLock({ $0.park(id, waiter) }) else {
            waiter.continuation.resume(throwing: CancellationError())
            return false
        }
        for entry in entries where waiter.pattern.matches(entry.request) {
            if state.withLock({ $0.take(entry.id, for: id) }) {
                waiter.continuation.resume(returning: entry.request)
                return false
            }
        }
        return true
    }

    /// Fails a caller that still waits after the limit.
    private func end(_ id: Int, after limit: Duration) async {
        do { try await ContinuousClock().wait(for: limit) } catch { return }
        let (waiter, entries) = state.withLock { ($0.waiters.removeValue(forKey: id), $0.entries) }
        guard let waiter else { return }
        let arrived = entries.map { entry -> (request: RecordedRequest, note: String?) in
            let isReturned = entry.isTaken && waiter.pattern.matches(entry.request)
            return (entry.request, isReturned ? "already returned by next(_:within:)" : nil)
        }
        let title = "No request matched \(waiter.pattern) within \(limit)."
        waiter.continuation.resume(throwing: ExpectationFailure(title, arrived, compared: waiter.pattern))
    }
}

/// The requests of a log, and the callers that wait for a request.
private struct LogState: Sendable {
    struct Entry: Sendable {
        let id: Int
        let request: RecordedRequest
        /// Whether a caller that waited for the request has got it.
        var isTaken = false
    }

    struct Waiter: Sendable {
        let pattern: RequestPattern
        let continuation: CheckedContinuation<RecordedRequest, any Error>
    }

    var entries: [Entry] = []
    /// The number of entries at the start that are taken.
    var takenCount = 0
    var waiters: [Int: Waiter] = [:]
    /// The callers that do not wait yet, and whether each has been cancelled.
    private var announced: [Int: Bool] = [:]
    private var lastID = 0

    mutating func append(_ request: RecordedRequest) -> Int {
        lastID += 1
        entries.append(Entry(id: lastID, request: request))
        return lastID
    }

    /// Returns an identifier for a caller that is about to wait.
    mutating func announce() -> Int {
        lastID += 1
        announced[lastID] = false
        return lastID
    }

    /// Lets a caller wait, and returns the entries that it may take; `nil` if it has been cancelled.
    mutating func park(_ id: Int, _ waiter: Waiter) -> [Entry]? {
        guard announced.removeValue(forKey: id) == false else { return nil }
        waiters[id] = waiter
        return entries[takenCount...].filter { !$0.isTaken }
    }

    /// Removes a cancelled caller, and returns its continuation if it waits.
    mutating func cancel(_ id: Int) -> CheckedContinuation<RecordedRequest, any Error>? {
        if announced[id] != nil { announced[id] = true }
        return waiters.removeValue(forKey: id)?.continuation
    }

    /// Takes an entry for a caller. Returns `false` if the entry is taken, or the caller no longer waits.
    mutating func take(_ entry: Int, for waiter: Int) -> Bool {
        guard waiters[waiter] != nil, let index = entries[takenCount...].firstIndex(where: { $0.id == entry }),
            !entries[index].isTaken
        else { return false }
        waiters[waiter] = nil
        entries[index].isTaken = true
        while takenCount < entries.count, entries[takenCount].isTaken { takenCount += 1 }
        return true
    }
}
