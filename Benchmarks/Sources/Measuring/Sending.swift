// SPDX-License-Identifier: MIT

/// Makes so many calls, so many at a time.
public func send(_ calls: Int, _ inFlight: Int, _ call: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<inFlight {
            group.addTask {
                for _ in stride(from: worker, to: calls, by: inFlight) { try await call() }
            }
        }
        try await group.waitForAll()
    }
}
