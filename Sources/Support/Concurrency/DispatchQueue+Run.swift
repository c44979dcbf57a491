// SPDX-License-Identifier: MIT
import Dispatch

extension DispatchQueue {
    /// Runs work that can wait for a disk, without blocking a thread of Swift's pool.
    @inlinable
    package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withUnsafeContinuation { continuation in
            async { continuation.resume(returning: work()) }
        }
    }
}
