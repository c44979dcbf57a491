// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Writes the pieces of a body to a segment of a part, on a queue, so that a slow disk blocks no thread of Swift's pool.
final class DownloadWriter: Sendable {
    /// The number of bytes that may wait to be written. They are lost when the process is killed.
    private static let limit = 128 << 10
    /// The number of bytes that are written in one turn.
    private static let turn = 1 << 20

    /// The body is longer than the response announced.
    struct Overlong: Error {}
    /// The segment is complete, and the rest of the body is not needed.
    struct EndOfSegment: Error {}

    private struct State: Sendable {
        var pending: [UInt8] = []
        var receivedByteCount: Int64 = 0
        var isWriting = false
        /// Whether bytes were refused and have to be offered again.
        var isFull = false
        var failure: PartialFile.Failure?
        /// Called when there is room again.
        var resume: (@Sendable () -> Void)?
        /// Waits for room, if the transport cannot.
        var waiter: UnsafeContinuation<Void, Never>?

        /// Notes that there is room. Returns what to call without the lock.
        mutating func makeRoom() -> (resume: (@Sendable () -> Void)?, waiter: UnsafeContinuation<Void, Never>?) {
            defer { (isFull, waiter) = (false, nil) }
            return isFull ? (resume, waiter) : (nil, nil)
        }
    }

    private let segments: PartSegments
    private let index: Int
    /// The size of the body; `nil` if the response does not say.
    private let announcedByteCount: Int64?
    /// The number of bytes until the end of a segment before which the body does not end.
    private let neededByteCount: Int64?
    private let state = Locked(State())

    /// - Parameter announcedByteCount: The size of the body; `nil` if the response does not say.
    init(_ segments: PartSegments, _ index: Int, announcedByteCount: Int64?) {
        self.segments = segments
        self.index = index
        self.announcedByteCount = announcedByteCount
        let segment = segments.segments[index]
        neededByteCount = segment.end.flatMap { end in
            let count = end - segment.position
            return count < announcedByteCount ?? .max ? count : nil
        }
    }

    /// Writes a body, and waits until it has ended.
    ///
    /// - Throws: The error of the body, a failure to write, ``Overlong`` or ``EndOfSegment``.
    func write(_ body: ResponseBody) async throws {
        if try await body.drain(into: self) { return }
        for try await piece in body {
            while try !piece.withUnsafeBytes({ try receive($0, canWait: true) }) { await waitForRoom() }
        }
    }

    private func waitForRoom() async {
        await withUnsafeContinuation { waiter in
            let isFull = state.withLock { state in
                if state.isFull { state.waiter = waiter }
                return state.isFull
            }
            if !isFull { waiter.resume() }
        }
    }

    /// Waits until everything is written, and records what is there unless the file is complete.
    func finish(isAtEnd: Bool = false) async throws(PartialFile.Failure) {
        await segments.perform { [self] in
            // What waits for another turn, too.
            writePending(turn: .max)
            segments.finish(index, isAtEnd: isAtEnd && state.withLock { $0.failure == nil })
        }
        if let failure = state.withLock(\.failure) { throw failure }
    }

    /// The number of bytes of the body that have been received.
    var receivedByteCount: Int64 { state.withLock(\.receivedByteCount) }
}

extension DownloadWriter: BodyReceiver {
    func begin(resume: @escaping @Sendable () -> Void) {
        state.withLock { $0.resume = resume }
    }

    func receive(_ bytes: UnsafeRawBufferPointer, canWait: Bool) throws -> Bool {
        let (isTaken, begins) = try state.withLock { state -> (Bool, Bool) in
            if let failure = state.failure { throw URLError(failure) }
            state.isFull = canWait && state.pending.count >= Self.limit
            if state.isFull { return (false, false) }
            let count = state.receivedByteCount + Int64(bytes.count)
            if let announcedByteCount, count > announcedByteCount { throw Overlong() }
            let excess = neededByteCount.map { max(0, count - $0) } ?? 0
            state.receivedByteCount = count - excess
            state.pending.append(contentsOf: bytes.dropLast(Int(excess)))
            defer { state.isWriting = true }
            return (true, !state.isWriting)
        }
        if begins { segments.async { self.writePending() } }
        if isTaken, receivedByteCount == neededByteCount { throw EndOfSegment() }
        return isTaken
    }
}

// MARK: - On the queue

extension DownloadWriter {
    /// - Parameter turn: The number of bytes after which other segments can write.
    private func writePending(turn: Int = turn) {
        var bytes: [UInt8] = []
        var count = 0
        while takePending(&bytes) {
            let result = bytes.withUnsafeBytes { bytes in
                Result { () throws(PartialFile.Failure) in try segments.write(bytes, to: index) }
            }
            if case .failure(let failure) = result { return fail(failure) }
            count += bytes.count
            // Other segments write on the same queue.
            if count >= turn { return segments.async { self.writePending() } }
        }
    }

    /// Moves all pending bytes into an array that keeps its capacity; returns `false` when there are none.
    private func takePending(_ bytes: inout [UInt8]) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        let (resume, waiter) = state.withLock { state in
            swap(&bytes, &state.pending)
            state.isWriting = !bytes.isEmpty
            return state.makeRoom()
        }
        resume?()
        waiter?.resume()
        return !bytes.isEmpty
    }

    private func fail(_ failure: PartialFile.Failure) {
        let (resume, waiter) = state.withLock { state in
            state.failure = failure
            state.pending = []
            return state.makeRoom()
        }
        resume?()
        waiter?.resume()
    }
}
