// SPDX-License-Identifier: MIT

/// The outcome of one of several calls.
public struct RequestOutcome<Target: TargetType>: Sendable {
    /// The index of the target in the list, from 0.
    public let index: Int
    /// The target of the call.
    public let target: Target
    /// The result of the call.
    public let result: Result<Response, TargetKitError>
}

extension RequestOutcome: RedactedDescription {
    /// The position, target and result in one line, with secrets redacted.
    var redactedDescription: String {
        let outcome =
            switch result {
            case .success(let response): response.description
            case .failure(let error): error.description
            }
        return "\(index), \(target.name): \(outcome)"
    }
}

/// The outcomes of several calls with limited concurrency.
///
/// The calls start when iteration starts; ending the iteration cancels calls in flight. New calls start as outcomes are
/// read, so a slow reader has a backlog of at most twice the concurrency limit.
public struct RequestOutcomes<Target: TargetType>: AsyncSequence, Sendable {
    fileprivate let targets: [Target]
    fileprivate let limit: Int
    fileprivate let isInOrder: Bool
    fileprivate let run: @Sendable (Target) async -> Result<Response, TargetKitError>

    /// Returns an iterator that makes the calls, of which the first ones start with its first outcome.
    public func makeAsyncIterator() -> AsyncStream<RequestOutcome<Target>>.Iterator {
        let calls = RunningCalls(self)
        return AsyncStream { await calls.next() }.makeAsyncIterator()
    }
}

/// The calls of one iteration. Those in flight are cancelled when the object is deallocated.
private final class RunningCalls<Target: TargetType>: Sendable {
    private struct State: Sendable {
        var startedCount = 0
        var deliveredCount = 0
        var tasks: [Int: Task<Void, Never>] = [:]
        /// Outcomes that aren't delivered yet.
        var arrived: [Int: RequestOutcome<Target>] = [:]
    }

    private let all: RequestOutcomes<Target>
    private let state = Locked(State())
    private let ends: AsyncStream<RequestOutcome<Target>>
    private let continuation: AsyncStream<RequestOutcome<Target>>.Continuation

    init(_ all: RequestOutcomes<Target>) {
        self.all = all
        (ends, continuation) = AsyncStream.makeStream()
    }

    deinit {
        for task in state.withLock(\.tasks).values { task.cancel() }
    }

    /// The next outcome, in order of completion or of the targets; `nil` after the last one, or if the task is
    /// cancelled.
    func next() async -> RequestOutcome<Target>? {
        while true {
            let (next, isOver) = state.withLock { state in
                start(&state)
                return (take(&state), state.deliveredCount >= all.targets.count)
            }
            if next != nil || isOver { return next }
            var ends = ends.makeAsyncIterator()
            guard let outcome = await ends.next() else { return nil }
            state.withLock { state in
                state.tasks[outcome.index] = nil
                state.arrived[outcome.index] = outcome
            }
        }
    }

    private func take(_ state: inout State) -> RequestOutcome<Target>? {
        let index = all.isInOrder ? state.deliveredCount : state.arrived.keys.first
        let next = index.flatMap { state.arrived.removeValue(forKey: $0) }
        if next != nil { state.deliveredCount += 1 }
        return next
    }

    private func start(_ state: inout State) {
        while state.startedCount < all.targets.count, state.tasks.count < all.limit,
            (state.startedCount - state.deliveredCount) / 2 < all.limit
        {
            let (index, target) = (state.startedCount, all.targets[state.startedCount])
            state.tasks[index] = Task { [continuation, run = all.run] in
                _ = continuation.yield(RequestOutcome(index: index, target: target, result: await run(target)))
            }
            state.startedCount += 1
        }
    }
}

extension RequestOutcomes: RedactedDescription {
    /// The number of calls.
    var redactedDescription: String { "\(targets.count) calls" }
}

extension Provider {
    /// Makes several calls with limited concurrency, and returns their outcomes. A failed call doesn't end the others.
    ///
    /// ```swift
    /// for await outcome in provider.requests(ids.map(Catalog.product), maxConcurrent: 6) {
    ///     show(try? outcome.result.get(), at: outcome.index)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - targets: The calls, started in this order.
    ///   - maxConcurrent: The maximum number of calls in flight; values below 1 count as 1.
    ///   - inOrder: Whether outcomes are in the order of the targets; default `false`, which means in order of
    ///     completion.
    public func requests(
        _ targets: some Sequence<Target>,
        maxConcurrent: Int,
        inOrder: Bool = false
    ) -> RequestOutcomes<Target> {
        RequestOutcomes(targets: Array(targets), limit: max(1, maxConcurrent), isInOrder: inOrder) { target in
            do throws(TargetKitError) {
                return .success(try await self.request(target))
            } catch {
                return .failure(error)
            }
        }
    }
}
