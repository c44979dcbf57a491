// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Writes the pieces of a body to a part on a queue of its own, so that a slow disk blocks no thread of Swift's pool.
final class DownloadWriter: Sendable {
    /// The number of bytes that may wait to be written. They are lost when the process is killed.
    private static let limit = 128 << 10
    /// The number of bytes after which the record is written for the first time.
    private static let recordThreshold: Int64 = 256 << 10
    /// The time between two flushes to permanent storage, whose bytes survive a crash of the system.
    private static let flushInterval = Duration.seconds(10)
    private static let progressInterval = Duration.milliseconds(50)

    /// The body is longer than the response announced.
    struct Overlong: Error {}

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

    /// Accessed only on the queue.
    private struct Position: Sendable {
        var record: PartRecord?
        var end: Int64
        var hasWrittenRecord = false
        var newByteCount: Int64 = 0
        var lastFlush = ContinuousClock.now
        var lastProgress = ContinuousClock.now
    }

    private let part: DownloadPart
    private let length: Int64?
    private let announcedByteCount: Int64?
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let queue = DispatchQueue(label: "TargetKit.download")
    private let state = Locked(State())
    private let position: Locked<Position>

    /// - Parameters:
    ///   - start: The position of the first byte.
    ///   - record: What is known of the file; `nil` if it cannot be continued later.
    ///   - length: The complete length, for the progress.
    ///   - announcedByteCount: The size of the body; `nil` if the response does not say.
    init(
        _ part: DownloadPart,
        from start: Int64,
        record: PartRecord?,
        length: Int64?,
        announcedByteCount: Int64?,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) {
        self.part = part
        self.length = length
        self.announcedByteCount = announcedByteCount
        self.progress = progress
        position = Locked(Position(record: record, end: start))
    }

    /// Discards what the part has from the first position on, and the record if that is the start of the file.
    func begin() async throws(PartialFile.Failure) {
        await withUnsafeContinuation { continuation in
            queue.async {
                let start = self.end
                do throws(PartialFile.Failure) {
                    if start == 0 { try self.part.restart() } else { try self.part.truncate(to: start) }
                } catch {
                    self.state.withLock { $0.failure = error }
                }
                continuation.resume()
            }
        }
        if let failure = state.withLock(\.failure) { throw failure }
    }

    /// Writes a body, and waits until it has ended.
    ///
    /// - Throws: The error of the body, a failure to write, or ``Overlong``.
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
    func finish(isComplete: Bool = false) async throws(PartialFile.Failure) {
        await withUnsafeContinuation { continuation in
            queue.async {
                if !isComplete { self.writeRecord() }
                continuation.resume()
            }
        }
        if let failure = state.withLock(\.failure) { throw failure }
        report(isLast: true)
    }

    /// The number of bytes of the body that have been received.
    var receivedByteCount: Int64 { state.withLock(\.receivedByteCount) }

    /// The position after the last byte that was written. Only for use when the writer has finished.
    var end: Int64 { position.withLock(\.end) }
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
            state.receivedByteCount = count
            state.pending.append(contentsOf: bytes)
            defer { state.isWriting = true }
            return (true, !state.isWriting)
        }
        if begins { queue.async { self.writePending() } }
        return isTaken
    }
}

// MARK: - On the queue

extension DownloadWriter {
    private func writePending() {
        var bytes: [UInt8] = []
        while takePending(&bytes) {
            let end = position.withLock(\.end)
            let result = bytes.withUnsafeBytes { bytes in
                Result { () throws(PartialFile.Failure) in try part.write(bytes, at: end) }
            }
            if case .failure(let failure) = result { return fail(failure) }
            let count = Int64(bytes.count)
            position.withLock { position in
                position.end += count
                position.newByteCount += count
            }
            keepRecord()
            report(isLast: false)
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

    private func keepRecord() {
        let (isDue, flushes) = position.withLock { position -> (Bool, Bool) in
            guard position.record != nil else { return (false, false) }
            let flushes = position.lastFlush.duration(to: .now) >= Self.flushInterval
            return (!position.hasWrittenRecord && position.newByteCount >= Self.recordThreshold, flushes)
        }
        if flushes {
            let isFlushed = part.synchronize()
            position.withLock { position in
                if isFlushed { position.record?.syncedByteCount = position.end }
                position.lastFlush = .now
            }
        }
        if isDue || flushes { writeRecord() }
    }

    private func writeRecord() {
        guard let record = position.withLock(\.record) else { return }
        part.write(record)
        position.withLock { $0.hasWrittenRecord = true }
    }

    private func report(isLast: Bool) {
        guard let progress else { return }
        let end = position.withLock { position -> Int64? in
            guard isLast || position.lastProgress.duration(to: .now) >= Self.progressInterval else { return nil }
            position.lastProgress = .now
            return position.end
        }
        if let end { progress(TransferProgress(completed: end, total: length, direction: .download)) }
    }
}
