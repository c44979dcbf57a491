// SPDX-License-Identifier: MIT

/// The lock of a file that is only locked. It is released with its last reference or by ``release()``.
package final class HeldFileLock: Sendable {
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
        if let descriptor { FileLock.release(descriptor) }
    }
}

extension FileLock {
    package enum Outcome {
        /// The file is locked until ``FileLock/release(_:)``.
        case locked(Int32, FileStatus)
        /// The lock can't be taken; the code is `EWOULDBLOCK` if another call or process has it.
        case unavailable(Int32)
        /// The file can't be opened or created.
        case failed(Int32)
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
