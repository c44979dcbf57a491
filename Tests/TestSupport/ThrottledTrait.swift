// SPDX-License-Identifier: MIT

// The library is built with Swift 6.0, whose Testing has no scopes; the tests require Swift 6.2.
#if compiler(>=6.2)
import Foundation
import TargetKit
import Testing

/// A trait that limits how many tests run at the same time, one case of each.
///
/// Swift Testing starts all tests of a run at once. Thousands of tests with servers, processes and time limits would
/// share the few threads of the machine, and each would get a response only after minutes.
package struct ThrottledTrait: SuiteTrait, TestTrait, TestScoping {
    /// The tests that run at the same time: enough to use the machine while some of them wait, and so few that one
    /// which takes long without waiting does not delay the others by much.
    package static let limit = max(4, 2 * ProcessInfo.processInfo.activeProcessorCount)

    @TaskLocal private static var hasPermits = false
    private static let permits = Permits(limit)

    /// The permits that a test needs.
    let count: Int

    package var isRecursive: Bool { true }

    /// Provides the scope of a test function with all its cases.
    ///
    /// A time limit applies to each case, inside of this scope, so waiting for a permit does not count. A suite has no
    /// scope, because it would hold a permit that its own tests wait for.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || testCase != nil ? nil : self
    }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        // A test has the trait twice if it and its suite name it.
        if Self.hasPermits { return try await function() }
        let count = test.traits.compactMap { ($0 as? Self)?.count }.max() ?? count
        await Self.permits.acquire(count)
        defer { Self.permits.release(count) }
        let serialized: ParallelizationTrait = .serialized
        try await Self.$hasPermits.withValue(true) {
            try await serialized.provideScope(for: test, testCase: testCase, performing: function)
        }
    }
}

extension Trait where Self == ThrottledTrait {
    /// Runs the tests of a suite a few at a time, together with all others that have this trait.
    package static var throttled: Self { Self(count: 1) }

    /// Runs a test while no other one runs that has this trait or ``throttled``, after those: for tests that measure time.
    package static var alone: Self { Self(count: Self.limit) }
}

/// A number of permits, which are given in the order of the requests. A request for more than there are at the moment
/// lets later, smaller ones pass: otherwise each test that runs alone would first leave the machine idle while the ones
/// before it end.
package final class Permits: Sendable {
    private struct State {
        var available: Int
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Locked<State>

    package init(_ count: Int) {
        state = Locked(State(available: count))
    }

    /// Waits for a number of permits.
    package func acquire(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            resume { $0.waiting.append((count, continuation)) }
        }
    }

    /// Returns permits.
    package func release(_ count: Int = 1) {
        resume { $0.available += count }
    }

    /// Resumes the tasks for which the permits suffice after the change.
    private func resume(after change: (inout State) -> Void) {
        let resumed = state.withLock { state in
            change(&state)
            var available = state.available
            var resumed: [CheckedContinuation<Void, Never>] = []
            state.waiting.removeAll { waiting in
                guard waiting.count <= available else { return false }
                available -= waiting.count
                resumed.append(waiting.continuation)
                return true
            }
            state.available = available
            return resumed
        }
        for continuation in resumed { continuation.resume() }
    }
}
#endif
