// SPDX-License-Identifier: MIT

/// A file lock that prevents two calls or processes from using a file at the same time. It is released with its last
/// reference or by ``release()``.
package final class FileLock: Sendable {
    private let descriptor: Locked<Int32?>

    /// Owns the descriptor of a locked file.
    package init(_ descriptor: Int32) {
        self.descriptor = Locked(descriptor)
    }

    deinit { release() }

    /// Releases the lock. Does nothing after the first call.
    package func release() {
        let descriptor = descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        if let descriptor { Self.release(descriptor) }
    }
}

// MARK: - Descriptors

extension FileLock {
    package enum Outcome {
        /// The file is locked until ``FileLock/release(_:)``.
        case locked(Int32, FileStatus)
        /// The lock can't be taken; the code is `EWOULDBLOCK` if another call or process has it.
        case unavailable(Int32)
        /// The file can't be opened or created.
        case failed(Int32)
    }

    /// Opens a file, creating it if necessary, and takes its lock.
    ///
    /// - Parameter time: The time for which the thread waits for another call or process that holds the lock; default:
    ///   zero.
    package static func open(_ url: URL, mode: mode_t, waiting time: Duration = .zero) -> Outcome {
        let start = ContinuousClock.now
        var pause: UInt32 = 100
        while true {
            let outcome = openNow(url, mode: mode)
            guard case .unavailable(EWOULDBLOCK) = outcome, start.duration(to: .now) < time else { return outcome }
            usleep(pause)
            pause = min(pause * 2, 5_000)
        }
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

    private static func openNow(_ url: URL, mode: mode_t) -> Outcome {
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
