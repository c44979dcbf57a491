// SPDX-License-Identifier: MIT
import TargetKit

/// The segments of a part and their positions. A part that isn't divided has one segment.
///
/// Used only on its queue, on which the part is also written.
final class PartSegments: Sendable {
    struct Segment: Sendable {
        let start: Int64
        /// The position after its last byte; `nil` until that is known.
        var end: Int64?
        /// The position after the last stored byte.
        var position: Int64

        var isComplete: Bool { position == end }
    }

    private struct State: Sendable {
        var record: PartRecord?
        var segments: [Segment]
        var hasWrittenRecord = false
        var newByteCount: Int64 = 0
        var lastFlush = ContinuousClock.now
        /// `nil` until progress has been reported.
        var lastProgress: ContinuousClock.Instant?
        /// Whether a report waits for its interval to end.
        var hasDelayedReport = false
        var positions: PositionsFile?

        /// Records that all bytes have been flushed.
        mutating func noteFlush() {
            if segments.count == 1 {
                record?.syncedByteCount = segments[0].position
            } else {
                for index in segments.indices { record?.segments?[index].syncedEnd = segments[index].position }
            }
        }
    }

    /// The number of bytes after which the record is first written.
    private static let recordThreshold: Int64 = 256 << 10
    /// The maximum number of bytes that are written before the position is noted.
    private static let pieceSize = 256 << 10
    /// The interval of flushes to permanent storage, after which bytes survive a system crash.
    private static let flushInterval = Duration.seconds(10)
    private static let progressInterval = Duration.milliseconds(50)
    /// The smallest size of a segment in bytes.
    private static let minimumSize: Int64 = 1 << 20

    let part: DownloadPart
    private let length: Int64?
    private let progress: (@Sendable (TransferProgress) -> Void)?
    let queue = DispatchQueue(label: "TargetKit.download")
    private let state: Locked<State>

    /// - Parameters:
    ///   - record: The record of the file; `nil` if it can't be continued later.
    ///   - segments: The stored segments of the file.
    ///   - length: The complete length, for the progress.
    init(
        _ part: DownloadPart,
        record: PartRecord?,
        segments: [Segment],
        length: Int64?,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) {
        self.part = part
        self.length = length
        self.progress = progress
        state = Locked(State(record: record, segments: segments))
    }

    /// Divides a file into at most `maxCount` empty segments.
    static func dividing(_ length: Int64, into maxCount: Int) -> [Segment] {
        let count = max(1, min(Int64(maxCount), length / minimumSize))
        let bounds = (0...count).map { length / count * $0 + min($0, length % count) }
        return zip(bounds, bounds.dropFirst()).map { Segment(start: $0, end: $1, position: $0) }
    }

    /// Performs work on the queue.
    func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await queue.run(work)
    }

    var segments: [Segment] { state.withLock(\.segments) }
    var record: PartRecord? { state.withLock(\.record) }
    var isComplete: Bool { segments.allSatisfy(\.isComplete) }
    /// The number of bytes written in this attempt.
    var newByteCount: Int64 { state.withLock(\.newByteCount) }

    /// The number of stored bytes.
    var storedByteCount: Int64 {
        state.withLock { $0.segments.reduce(0) { $0 + $1.position - $1.start } }
    }

    /// Whether the part is still the opened file, with all written bytes.
    var isIntact: Bool {
        let (segments, size) = (segments, part.size)
        guard part.isInPlace else { return false }
        if segments.count > 1, !segments.allSatisfy(\.isComplete) { return size >= segments.neededSize }
        return size == segments[segments.count - 1].position
    }
}

// MARK: - On the queue

extension PartSegments {
    /// Prepares a part, and discards the bytes after the position of an undivided file.
    func begin() throws {
        let segments = segments
        let isNew = segments.allSatisfy { $0.position == $0.start }
        if isNew {
            try part.restart()
        } else if segments.count == 1 {
            try part.truncate(to: segments[0].position)
        }
        if segments.count > 1 { openPositions(isNew: isNew) }
    }

    private func openPositions(isNew: Bool) {
        let identifier = isNew ? UInt64.random(in: .min ... .max) : record?.positions ?? 0
        let file = PositionsFile(part.positionsURL, identifier: identifier, positions: segments.map(\.position))
        state.withLock { state in
            state.positions = file
            guard isNew else { return }
            state.record?.positions = identifier
            state.record?.segments = state.segments.compactMap { segment in
                segment.end.map { PartRecord.Segment(start: segment.start, end: $0, syncedEnd: segment.start) }
            }
        }
        // Without the record, a later call can't find the segments.
        if isNew { writeRecord() }
    }

    /// Discards the bytes of a segment after a position.
    func discard(_ index: Int, from position: Int64) {
        let isDivided = state.withLock { state in
            state.segments[index].position = position
            state.positions?.write(position, of: index)
            return state.segments.count > 1
        }
        if !isDivided { try? part.truncate(to: position) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, to index: Int) throws {
        var rest = bytes[...]
        // When the disk is full, the record must already be there, and the position of what fitted.
        while !rest.isEmpty {
            try write(piece: UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceSize)), to: index)
            rest = rest.dropFirst(Self.pieceSize)
        }
    }

    private func write(piece bytes: UnsafeRawBufferPointer, to index: Int) throws {
        let position = state.withLock { $0.segments[index].position }
        try part.write(bytes, at: position)
        state.withLock { state in
            state.segments[index].position += Int64(bytes.count)
            state.newByteCount += Int64(bytes.count)
            state.positions?.write(position + Int64(bytes.count), of: index)
        }
        keepRecord()
        report(isLast: false)
    }

    /// Records the stored bytes, unless the file is complete, and reports the progress.
    ///
    /// - Parameter isAtEnd: Whether the body has its announced length.
    func finish(_ index: Int, isAtEnd: Bool) {
        let isComplete = state.withLock { state in
            if isAtEnd, state.segments[index].end == nil {
                state.segments[index].end = state.segments[index].position
                state.record?.length = state.segments[index].position
            }
            return state.segments.allSatisfy(\.isComplete)
        }
        if !isAtEnd || !isComplete { writeRecord() }
        report(isLast: true)
    }

    private func keepRecord() {
        let (isDue, flushes) = state.withLock { state -> (Bool, Bool) in
            guard state.record != nil else { return (false, false) }
            let flushes = state.lastFlush.duration(to: .now) >= Self.flushInterval
            return (!state.hasWrittenRecord && state.newByteCount >= Self.recordThreshold, flushes)
        }
        if flushes {
            let isFlushed = part.synchronize()
            state.withLock { state in
                if isFlushed { state.noteFlush() }
                state.lastFlush = .now
            }
        }
        if isDue || flushes { writeRecord() }
    }

    private func writeRecord() {
        guard let record else { return }
        part.write(record)
        state.withLock { $0.hasWrittenRecord = true }
    }

    private func report(isLast: Bool) {
        guard let progress else { return }
        let (isDue, delay) = state.withLock { state -> (Bool, Duration?) in
            let elapsed = state.lastProgress?.duration(to: .now) ?? Self.progressInterval
            guard isLast || elapsed >= Self.progressInterval else {
                defer { state.hasDelayedReport = true }
                return (false, state.hasDelayedReport ? nil : Self.progressInterval - elapsed)
            }
            state.lastProgress = .now
            state.hasDelayedReport = false
            return (true, nil)
        }
        if isDue {
            progress(TransferProgress(completed: storedByteCount, total: length, direction: .download))
        }
        // More bytes may never arrive, so the report is delayed, not dropped.
        if let delay {
            queue.asyncAfter(deadline: .now() + delay / .seconds(1)) { [weak self] in self?.reportDelayed() }
        }
    }

    private func reportDelayed() {
        if state.withLock(\.hasDelayedReport) { report(isLast: true) }
    }
}

extension [PartSegments.Segment] {
    /// The minimum size of a part that has the bytes up to each position.
    var neededSize: Int64 { filter { $0.position > $0.start }.map(\.position).max() ?? 0 }
}
