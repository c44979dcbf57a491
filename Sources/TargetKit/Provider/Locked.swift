// SPDX-License-Identifier: MIT
#if canImport(os)
import os
#else
import Synchronization
#endif

/// A value behind a lock: the package's only lock, so no other file has to say why it is safe.
///
/// The closure runs with the lock held: it neither calls back into other code nor waits.
package final class Locked<Value: Sendable>: Sendable {
    #if canImport(os)
    // `Mutex` needs iOS 18; this one is there from iOS 16 on.
    private let lock: OSAllocatedUnfairLock<Value>

    package init(_ value: Value) {
        lock = OSAllocatedUnfairLock(initialState: value)
    }

    package func withLock<Result: Sendable, Failure: Error>(
        _ body: @Sendable (inout Value) throws(Failure) -> Result
    ) rethrows -> Result {
        try lock.withLock(body)
    }
    #else
    private let lock: Mutex<Value>

    package init(_ value: Value) {
        lock = Mutex(value)
    }

    package func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { value in try body(&value) }
    }
    #endif
}
