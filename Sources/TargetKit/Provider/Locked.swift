// SPDX-License-Identifier: MIT
import Foundation

/// A value behind a lock: the package's only lock, so no other file has to say why it is safe.
///
/// The closure runs with the lock held: it neither calls back into other code nor waits.
///
/// It is pthread's mutex because `Synchronization.Mutex` needs iOS 18, and because the thread sanitizer sees this one on Linux
/// (of `Mutex` it reports races that are none, Swift 6.3.1).
package struct Locked<Value: Sendable>: Sendable {
    private let storage: Storage

    package init(_ value: Value) {
        storage = Storage(value)
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        storage.lock()
        defer { storage.unlock() }
        return try body(&storage.value)
    }

    // `@unchecked`: `value` is only touched between `lock` and `unlock`, both private to this file.
    private final class Storage: @unchecked Sendable {
        var value: Value
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>

        init(_ value: Value) {
            self.value = value
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deinitialize(count: 1)
            mutex.deallocate()
        }

        func lock() { pthread_mutex_lock(mutex) }
        func unlock() { pthread_mutex_unlock(mutex) }
    }
}
