// SPDX-License-Identifier: MIT

/// The lock of an open file, which prevents two calls or processes from using the file at the same time.
package enum FileLock {
    package enum Outcome {
        /// The file is locked until ``FileLock/release(_:)``.
        case locked(Int32, FileStatus)
        /// The lock can't be taken; the code is `EWOULDBLOCK` if another call or process has it.
        case unavailable(Int32)
        /// The file can't be opened or created.
        case failed(Int32)
    }

    /// Takes the lock of an open file; returns `false` on failure, with the reason in `errno`: `EWOULDBLOCK` if another
    /// call or process has it.
    ///
    /// - Parameter waits: Whether the thread waits for another call or process that has it; default `false`.
    @discardableResult
    package static func take(_ descriptor: Int32, waits: Bool = false) -> Bool {
        while flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    /// Releases the lock of a file that remains open.
    package static func unlock(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
    }

    /// Releases the lock, if it was acquired, and closes the descriptor. Closing isn't enough, because a process that
    /// is being started may have a copy of the descriptor, which would hold the lock.
    package static func release(_ descriptor: Int32) {
        unlock(descriptor)
        close(descriptor)
    }

    /// Opens a file, creating it if necessary, and takes its lock if no other call or process has it.
    package static func open(_ url: URL, mode: mode_t) -> Outcome {
        for _ in 0..<3 {
            // The name is predictable, so another user may have created a link with it.
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            let descriptor = Foundation.open(url.path, flags, mode)
            guard descriptor >= 0 else { return .failed(errno) }
            guard take(descriptor) else {
                let code = errno
                close(descriptor)
                return .unavailable(code)
            }
            // The call that held the lock may have moved or removed the file.
            if let status = FileStatus(of: descriptor), let named = FileStatus(of: url, followsLinks: false),
                named.isSameFile(as: status)
            {
                return .locked(descriptor, status)
            }
            release(descriptor)
        }
        return .unavailable(EWOULDBLOCK)
    }
}
