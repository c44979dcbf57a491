// SPDX-License-Identifier: MIT
import Foundation

/// Writes bytes in their order on a queue, so that a slow disk blocks neither the transport nor a thread of Swift's
/// pool.
package final class WriteBuffer: Sendable {
    private struct State: Sendable {
        var pending: [UInt8] = []
        var isWriting = false
        /// Whether bytes were refused and have to be offered again.
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
    ///   - turn: The number of bytes after which other buffers of the queue can write; default: no limit.
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

    /// The error with which writing has failed.
    package var failure: (any Error)? { state.withLock(\.failure) }

    /// Sets the closure that is called when there is room again after bytes were refused, and when writing has failed.
    package func begin(resume: @escaping @Sendable () -> Void) {
        state.withLock { $0.resume = resume }
    }

    /// Copies bytes; returns `false` when they have to be offered again later.
    ///
    /// - Parameter canWait: Whether bytes may be refused.
    /// - Throws: The error with which writing has failed.
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
    /// Writes what waits.
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

    /// Moves all pending bytes into an array that keeps its capacity; returns `false` when there are none.
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
