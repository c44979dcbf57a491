// SPDX-License-Identifier: MIT

/// How one of several calls has ended.
public struct RequestOutcome<Target: TargetType>: Sendable {
    /// The place of the target in the list, from 0.
    public let index: Int
    /// The target of the call.
    public let target: Target
    /// What the call has brought.
    public let result: Result<Response, TargetKitError>
}

extension RequestOutcome: ReflectsDescription {
    /// The position, target and result in one line, with secrets redacted.
    public var description: String {
        let outcome =
            switch result {
            case .success(let response): response.description
            case .failure(let error): error.description
            }
        return "\(index), \(target.name): \(outcome)"
    }
}

/// The outcomes of several calls, of which only so many run at a time.
///
/// The calls start with the iteration, and ending the iteration cancels those that run. Calls are started as outcomes are
/// read: a slow reader holds them back, so that at most twice as many responses as run at a time wait for it.
public struct RequestOutcomes<Target: TargetType>: AsyncSequence, Sendable {
    /// The outcome of one call.
    public typealias Element = RequestOutcome<Target>

    /// Makes the calls and reads their outcomes.
    public struct Iterator: AsyncIteratorProtocol {
        private let run: @Sendable (Target) async -> Result<Response, TargetKitError>
        private let limit: Int
        private let isInOrder: Bool
        private let targets: [Target]
        private var startedCount = 0
        private var deliveredCount = 0
        /// Outcomes that came before their turn; none unless they come in order.
        private var early: [Int: Element] = [:]
        private var runningCount: Int { startedCount - deliveredCount - early.count }
        private let calls = RunningCalls<Target>()

        fileprivate init(_ outcomes: RequestOutcomes) {
            run = outcomes.run
            limit = outcomes.limit
            isInOrder = outcomes.isInOrder
            targets = outcomes.targets
        }

        /// The outcome of the call that has ended next, or of the next target when they come in order; `nil` after the last,
        /// and when the task is cancelled.
        public mutating func next() async -> Element? {
            while deliveredCount < targets.count {
                startCalls()
                if let outcome = early.removeValue(forKey: deliveredCount) {
                    deliveredCount += 1
                    return outcome
                }
                guard let outcome = await calls.next() else { return nil }
                if isInOrder, outcome.index != deliveredCount {
                    early[outcome.index] = outcome
                } else {
                    deliveredCount += 1
                    return outcome
                }
            }
            return nil
        }

        private mutating func startCalls() {
            while startedCount < targets.count, runningCount < limit, (startedCount - deliveredCount) / 2 < limit {
                let (index, target) = (startedCount, targets[startedCount])
                calls.start(index) { [run] in
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

/// Calls whose ends are read one by one. They are cancelled with the last reference.
private final class RunningCalls<Target: TargetType>: Sendable {
    private let tasks = Locked<[Int: Task<Void, Never>]>([:])
    private let ends: AsyncStream<RequestOutcome<Target>>
    private let continuation: AsyncStream<RequestOutcome<Target>>.Continuation

    init() {
        (ends, continuation) = AsyncStream.makeStream()
    }

    deinit {
        for task in tasks.withLock({ Array($0.values) }) { task.cancel() }
    }

    func start(_ index: Int, _ call: @escaping @Sendable () async -> RequestOutcome<Target>) {
        let task = Task { [continuation] in _ = continuation.yield(await call()) }
        tasks.withLock { $0[index] = task }
    }

    func next() async -> RequestOutcome<Target>? {
        var ends = ends.makeAsyncIterator()
        guard let outcome = await ends.next() else { return nil }
        tasks.withLock { $0[outcome.index] = nil }
        return outcome
    }
}

extension RequestOutcomes: ReflectsDescription {
    /// The number of calls.
    public var description: String { "\(targets.count) calls" }
}

extension Provider {
    /// Makes many calls, some at a time, and gives their outcomes as they come. One that fails does not end the others.
    ///
    /// ```swift
    /// for await outcome in provider.requests(ids.map(Catalog.product), maxConcurrent: 6) {
    ///     show(try? outcome.result.get(), at: outcome.index)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - targets: The calls, started in this order.
    ///   - maxConcurrent: How many run at a time; less than 1 counts as 1.
    ///   - inOrder: Whether the outcomes come in the order of the targets. Default: no, each as soon as it is there.
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
