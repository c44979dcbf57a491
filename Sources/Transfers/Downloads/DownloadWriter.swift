// SPDX-License-Identifier: MIT
import TargetKit

/// Writes the chunks of a body to a segment of a part, on a queue, so that a slow disk blocks no thread of Swift's
/// pool.
final class DownloadWriter: Sendable {
    /// The maximum number of unwritten bytes. They are lost when the process is killed. With an eighth of them, a busy
    /// disk pauses libcurl five times as often.
    private static let limit = 1 << 20
    /// The maximum number of bytes written in one turn of the queue.
    private static let turn = 1 << 20

    /// The body is longer than the response announced.
    struct Overlong: Error {}
    /// The segment is complete, and the rest of the body isn't needed.
    struct EndOfSegment: Error {}

    private let segments: PartSegments
    private let index: Int
    /// The size of the body; `nil` if the response doesn't announce it.
    private let announcedByteCount: Int64?
    /// The number of bytes up to the end of the segment; `nil` if the body doesn't extend past it.
    private let neededByteCount: Int64?
    private let received = Locked<Int64>(0)
    private let buffer: WriteBuffer

    /// - Parameter announcedByteCount: The size of the body; `nil` if the response doesn't announce it.
    init(_ segments: PartSegments, index: Int, announcedByteCount: Int64?) {
        self.segments = segments
        self.index = index
        self.announcedByteCount = announcedByteCount
        let segment = segments.segments[index]
        neededByteCount = segment.end.flatMap { end in
            let count = end - segment.position
            return count < announcedByteCount ?? .max ? count : nil
        }
        buffer = WriteBuffer(limit: Self.limit, turn: Self.turn, on: segments.queue) { bytes in
            try segments.write(bytes, to: index)
        }
    }

    /// Writes a body to its end.
    ///
    /// - Throws: The error of the body, a failure to write, ``Overlong`` or ``EndOfSegment``.
    func write(_ body: ResponseBody) async throws {
        if try await body.drain(into: self) { return }
        for try await piece in body {
            while try !piece.withUnsafeBytes({ try receive($0, canWait: true) }) {
                await segments.perform { self.buffer.flush() }
            }
        }
    }

    /// Waits until everything is written, and records the stored bytes unless the file is complete.
    func finish(isAtEnd: Bool = false) async throws {
        await segments.perform { [self] in
            // Includes the bytes that wait for another turn.
            buffer.flush()
            segments.finish(index, isAtEnd: isAtEnd && buffer.failure == nil)
        }
        if let failure = buffer.failure { throw failure }
    }

    /// The number of bytes of the body that have been received.
    var receivedByteCount: Int64 { received.withLock(\.self) }
}

extension DownloadWriter: BodyReceiver {
    func begin(resume: @escaping @Sendable () -> Void) {
        buffer.begin(resume: resume)
    }

    func receive(_ bytes: UnsafeRawBufferPointer, canWait: Bool) throws -> Bool {
        let count = receivedByteCount + Int64(bytes.count)
        if let announcedByteCount, count > announcedByteCount { throw Overlong() }
        let excess = neededByteCount.map { max(0, count - $0) } ?? 0
        let needed = UnsafeRawBufferPointer(rebasing: bytes.dropLast(Int(excess)))
        guard try buffer.append(needed, canWait: canWait) else { return false }
        received.withLock { $0 = count - excess }
        if count - excess == neededByteCount { throw EndOfSegment() }
        return true
    }
}
