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
    /// The outcome of one call.
    public typealias Element = RequestOutcome<Target>

    /// Makes the calls and reads their outcomes.
    public struct Iterator: AsyncIteratorProtocol, RedactedDescription {
        private let outcomes: RequestOutcomes
        private var startedCount = 0
        private var deliveredCount = 0
        /// Outcomes that arrived out of order, for delivery in order.
        private var early: [Int: Element] = [:]
        private var runningCount: Int { startedCount - deliveredCount - early.count }
        private let calls = RunningCalls<Target>()

        /// The number of calls and of started calls.
        var redactedDescription: String { "\(outcomes.targets.count) calls, \(startedCount) started" }

        fileprivate init(_ outcomes: RequestOutcomes) {
            self.outcomes = outcomes
        }

        /// The next outcome, in order of completion or of the targets; `nil` after the last one, or if the task is
        /// cancelled.
        public mutating func next() async -> Element? {
            while deliveredCount < outcomes.targets.count {
                startCalls()
                if let outcome = early.removeValue(forKey: deliveredCount) {
                    deliveredCount += 1
                    return outcome
                }
                guard let outcome = await calls.next() else { return nil }
                if outcomes.isInOrder, outcome.index != deliveredCount {
                    early[outcome.index] = outcome
                } else {
                    deliveredCount += 1
                    return outcome
                }
            }
            return nil
        }

        private mutating func startCalls() {
            let (targets, limit) = (outcomes.targets, outcomes.limit)
            while startedCount < targets.count, runningCount < limit, (startedCount - deliveredCount) / 2 < limit {
                let (index, target) = (startedCount, targets[startedCount])
                calls.start(index) { [run = outcomes.run] in
                    RequestOutcome(index: index, target: target, result: await run(target))
                }
                startedCount += 1
            }
        }
    }

    private let targets: [Target]
    private let limit: Int
    private let isInOrder: Bool
    private let run: @Sendable (Target) async -> Result<Response, TargetKitError>

    init(
        _ targets: [Target],
        limit: Int,
        isInOrder: Bool,
        run: @escaping @Sendable (Target) async -> Result<Response, TargetKitError>
    ) {
        self.targets = targets
        self.limit = Swift.max(1, limit)
        self.isInOrder = isInOrder
        self.run = run
    }

    /// Starts the first calls.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }
}

/// The calls in flight of one iteration. They are cancelled when the object is deallocated.
private final class RunningCalls<Target: TargetType>: Sendable {
    private let tasks = Locked<[(index: Int, task: Task<Void, Never>)]>([])
    private let ends: AsyncStream<RequestOutcome<Target>>
    private let continuation: AsyncStream<RequestOutcome<Target>>.Continuation

    init() {
        (ends, continuation) = AsyncStream.makeStream()
    }

    deinit {
        for (_, task) in tasks.withLock(\.self) { task.cancel() }
    }

    func start(_ index: Int, call: @escaping @Sendable () async -> RequestOutcome<Target>) {
        let task = Task { [continuation] in _ = continuation.yield(await call()) }
        tasks.withLock { $0.append((index, task)) }
    }

    func next() async -> RequestOutcome<Target>? {
        var ends = ends.makeAsyncIterator()
        guard let outcome = await ends.next() else { return nil }
        tasks.withLock { $0.removeAll { $0.index == outcome.index } }
        return outcome
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
        RequestOutcomes(Array(targets), limit: maxConcurrent, isInOrder: inOrder) { target in
            do throws(TargetKitError) {
                return .success(try await self.request(target))
            } catch {
                return .failure(error)
            }
        }
    }
}
