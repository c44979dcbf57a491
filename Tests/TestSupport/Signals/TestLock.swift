// SPDX-License-Identifier: MIT

#if canImport(Darwin)
import os
#else
import Foundation
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
    // Swift 6.3.1 on Linux: the thread sanitizer does not see that `Mutex` synchronises (it is a bare futex) and reports
    // each access to its value as a race. It does see this lock, which is taken around it for that reason alone.
    private let visible = NSLock()
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
        visible.lock()
        defer { visible.unlock() }
        return try state.withLock { try body(&$0) }
        #endif
    }
}
