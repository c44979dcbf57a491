// SPDX-License-Identifier: MIT

/// Writes bytes in order on a queue, so that a slow disk doesn't block the transport or a thread of Swift's pool.
package final class WriteBuffer: Sendable {
    private struct State: Sendable {
        var pending: [UInt8] = []
        var isWriting = false
        /// Whether bytes were rejected and have to be offered again.
        var isFull = false
        var failure: (any Error)?
        var resume: (@Sendable () -> Void)?
    }

    private let limit: Int
    private let turn: Int
    private let queue: DispatchQueue
    private let write: @Sendable (UnsafeRawBufferPointer) throws -> Void
    private let state = Locked(State())

    /// Creates a buffer.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes that may wait to be written.
    ///   - turn: The number of bytes after which another buffer of the queue can write; default: no limit.
    ///   - queue: The serial queue to write on.
    ///   - write: Writes bytes on the queue. Nothing is written after its first error.
    package init(
        limit: Int,
        turn: Int = .max,
        on queue: DispatchQueue,
        write: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) {
        self.limit = limit
        self.turn = turn
        self.queue = queue
        self.write = write
    }

    /// The error of a failed write.
    package var failure: (any Error)? { state.withLock(\.failure) }

    /// Sets the closure that is called when there is space again after bytes were rejected, and when writing fails.
    package func begin(resume: @escaping @Sendable () -> Void) {
        state.withLock { $0.resume = resume }
    }

    /// Copies bytes; returns `false` if they have to be offered again later.
    ///
    /// - Parameter canWait: Whether bytes can be rejected.
    /// - Throws: The error of a failed write.
    package func append(_ bytes: UnsafeRawBufferPointer, canWait: Bool = true) throws -> Bool {
        let (isTaken, begins) = try state.withLock { state -> (Bool, Bool) in
            if let failure = state.failure { throw failure }
            state.isFull = canWait && state.pending.count >= limit
            if state.isFull { return (false, false) }
            state.pending.append(contentsOf: bytes)
            defer { state.isWriting = true }
            return (true, !state.isWriting)
        }
        if begins { queue.async { self.writePending(turn: self.turn) } }
        return isTaken
    }
}

// MARK: - On the queue

extension WriteBuffer {
    /// Writes all pending bytes.
    package func flush() { writePending(turn: .max) }

    private func writePending(turn: Int) {
        var bytes: [UInt8] = []
        var count = 0
        while takePending(&bytes) {
            do {
                try bytes.withUnsafeBytes(write)
            } catch {
                let resume = state.withLock { state in
                    state.failure = error
                    state.pending = []
                    return state.resume
                }
                resume?()
                return
            }
            count += bytes.count
            if count >= turn { return queue.async { self.writePending(turn: turn) } }
        }
    }

    /// Moves all pending bytes into an array that retains its capacity; returns `false` if there are none.
    private func takePending(_ bytes: inout [UInt8]) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        let resume = state.withLock { state in
            swap(&bytes, &state.pending)
            state.isWriting = !bytes.isEmpty
            defer { state.isFull = false }
            return state.isFull ? state.resume : nil
        }
        resume?()
        return !bytes.isEmpty
    }
}
