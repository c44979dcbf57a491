// SPDX-License-Identifier: MIT
import Foundation

/// A value behind a lock: the package's only lock, so no other file has to say why it is safe.
///
/// The closure runs with the lock held: it neither calls back into other code nor waits.
///
/// It is pthread's mutex because `Synchronization.Mutex` needs iOS 18, and because the thread sanitizer sees this one on Linux
/// (of `Mutex` it reports races that are none, Swift 6.3.1).
///
/// It is `@unchecked Sendable` because nothing can check this: the value is only touched between lock and unlock, in
/// ``withLock(_:)``, and made before anybody else has the lock. A value that is no `Sendable` itself is refused.
package struct Locked<Value: Sendable>: @unchecked Sendable {
    // Both in one piece of memory, and reached by pointer: Swift would note each access to a class's property, to find those
    // that overlap.
    private let storage: ManagedBuffer<Value, pthread_mutex_t>

    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { storage in
            storage.withUnsafeMutablePointerToElements { mutex in
                mutex.initialize(to: pthread_mutex_t())
                pthread_mutex_init(mutex, nil)
            }
            return value
        }
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeMutablePointers { (value, mutex) throws(Failure) in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }

    private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            withUnsafeMutablePointerToElements { mutex in
                pthread_mutex_destroy(mutex)
                mutex.deinitialize(count: 1)
            }
        }
    }
}

extension Locked: CustomReflectable {
    /// Empty: the value may only be read under the lock, and can be a secret.
    package var customMirror: Mirror { Mirror(self, children: [:] as KeyValuePairs<String, Any>) }
}
