// SPDX-License-Identifier: MIT

/// A value protected by a lock. It is the only lock of the package.
///
/// The closure runs with the lock held, so it must not wait or call back into other code.
///
/// The lock is a `pthread_mutex_t` because `Synchronization.Mutex` requires iOS 18, and because the thread sanitizer
/// reports false races for `Mutex` on Linux (Swift 6.3.1).
///
/// The type is `@unchecked Sendable` because the compiler can't check the lock. The value is accessed only in
/// ``withLock(_:)``, and initialized before the lock is shared. The value must be `Sendable`.
///
/// Frequently called functions are inlinable, because an unspecialized call would look up the metadata of its value.
@frozen @usableFromInline
package struct Locked<Value: Sendable>: @unchecked Sendable {
    // Both are in one allocation and accessed by pointer, to avoid the exclusivity checks of class properties.
    @usableFromInline let storage: ManagedBuffer<Value, pthread_mutex_t>

    @inlinable
    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { storage in
            storage.withUnsafeMutablePointerToElements { mutex in
                mutex.initialize(to: pthread_mutex_t())
                pthread_mutex_init(mutex, nil)
            }
            return value
        }
    }

    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeMutablePointers { (value, mutex) throws(Failure) in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }

    @usableFromInline
    final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            withUnsafeMutablePointerToElements { mutex in
                pthread_mutex_destroy(mutex)
                mutex.deinitialize(count: 1)
            }
        }
    }
}

extension Locked: CustomReflectable {
    /// An empty mirror, because the value may only be read under the lock and can be a secret.
    @usableFromInline package var customMirror: Mirror { Mirror(self, children: [:] as KeyValuePairs<String, Any>) }
}
