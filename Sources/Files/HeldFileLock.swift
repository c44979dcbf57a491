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
