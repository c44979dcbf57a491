// SPDX-License-Identifier: MIT

extension Task where Failure == Never {
    /// Starts a task that runs on the caller's thread until it first suspends, where the system supports it (SE-0472).
    @inlinable
    package static func startingNow(_ work: @escaping @isolated(any) @Sendable () async -> Success) -> Task {
        #if compiler(>=6.2)
        if #available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate(operation: work)
        }
        #endif
        return Task(operation: work)
    }
}
