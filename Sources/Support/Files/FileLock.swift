// SPDX-License-Identifier: MIT

/// The lock of an open file, which prevents two calls or processes from using the file at the same time.
package enum FileLock {
    /// Takes the lock of an open file; returns `false` on failure, with the reason in `errno`: `EWOULDBLOCK` if another
    /// call or process has it.
    @discardableResult
    package static func take(_ descriptor: Int32) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    /// Releases the lock, if it was acquired, and closes the descriptor. Closing isn't enough, because a process that
    /// is being started may have a copy of the descriptor, which would hold the lock.
    package static func release(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
