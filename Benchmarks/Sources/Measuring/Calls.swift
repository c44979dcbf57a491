// SPDX-License-Identifier: MIT

/// Makes `count` calls, with at most `inFlight` at a time.
public func makeCalls(_ count: Int, inFlight: Int, _ call: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<inFlight {
            group.addTask {
                for _ in stride(from: worker, to: count, by: inFlight) { try await call() }
            }
        }
        try await group.waitForAll()
    }
}
