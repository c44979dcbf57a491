// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("Throttled tests", .throttled, .timeLimit(.minutes(2)))
struct ThrottledTraitTests {
    /// The cases of `cases(number:)` that run now.
    private static let running = Locked(0)

    @Test("No more permits are given than there are, and each task gets its own in its turn", arguments: [1, 2, 3])
    func permits(needed: Int) async {
        let permits = Permits(3)
        let counts = Locked((current: 0, highest: 0, total: 0))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let count = index % needed + 1
                    await permits.acquire(count)
                    counts.withLock { counts in
                        counts.current += count
                        counts.highest = max(counts.highest, counts.current)
                        counts.total += 1
                    }
                    for _ in 0..<5 { await Task.yield() }
                    counts.withLock { $0.current -= count }
                    permits.release(count)
                }
            }
        }
        #expect(counts.withLock { $0.current } == 0)
        #expect(counts.withLock { $0.highest } <= 3)
        #expect(counts.withLock { $0.total } == 200)
    }

    @Test("The permit is for a test with all its cases, outside of the time limit of a case")
    func scope() throws {
        let test = try #require(Test.current)
        let testCase = try #require(Test.Case.current)
        let trait: ThrottledTrait = .throttled
        #expect(trait.isRecursive)
        #expect(trait.scopeProvider(for: test, testCase: nil) != nil)
        #expect(trait.scopeProvider(for: test, testCase: testCase) == nil)
    }

    @Test("A test that has the trait twice does not wait for itself", .throttled, .alone)
    func twice() {}

    @Test("The cases of a test run one after another", arguments: 0..<20)
    func cases(number: Int) async {
        let count = Self.running.withLock { running in
            running += 1
            return running
        }
        for _ in 0..<20 { await Task.yield() }
        Self.running.withLock { $0 -= 1 }
        #expect(count == 1)
    }
}
