// SPDX-License-Identifier: MIT

#if canImport(os)
import os
#else
import Synchronization
#endif

/// A value behind a lock: the system's unfair lock on Apple's systems, where `Mutex` requires iOS 18, else `Mutex`.
package final class Guarded<Value: Sendable>: Sendable {
    #if canImport(os)
    private let lock: OSAllocatedUnfairLock<Value>
    #else
    private let lock: Mutex<Value>
    #endif

    package init(_ value: Value) {
        #if canImport(os)
        lock = OSAllocatedUnfairLock(initialState: value)
        #else
        lock = Mutex(value)
        #endif
    }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        lock.withLock { value in body(&value) }
    }

    /// A copy of the value.
    package var value: Value { withLock { $0 } }
}
