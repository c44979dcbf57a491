// SPDX-License-Identifier: MIT

#if canImport(Darwin)
    import os
#else
    import Synchronization
#endif

/// A value behind a lock, for state that tests share between threads.
///
/// Hold it for a few lines only: never across an `await` or a call to somebody else's closure.
public final class TestLock<Value: Sendable>: Sendable {
    #if canImport(Darwin)
        // `Mutex` needs macOS 15, the package starts at macOS 13.
        private let state: OSAllocatedUnfairLock<Value>
    #else
        private let state: Mutex<Value>
    #endif

    /// A lock around that first value.
    public init(_ value: Value) {
        #if canImport(Darwin)
            state = OSAllocatedUnfairLock(initialState: value)
        #else
            state = Mutex(value)
        #endif
    }

    /// Runs the body with the value, alone, and returns what the body returns.
    public func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        #if canImport(Darwin)
            return try state.withLockUnchecked { try body(&$0) }
        #else
            return try state.withLock { try body(&$0) }
        #endif
    }
}
