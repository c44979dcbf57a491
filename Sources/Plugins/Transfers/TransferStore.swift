// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The file of a queue. Writes changes on a serial queue, and combines pending ones.
///
/// Changes can arrive out of order: of two records of one transfer, the one with the greater revision counts.
final class TransferStore<Target: TargetType & Codable>: Sendable {
    private struct Line: Sendable {
        let id: UUID
        let number: Int
        let revision: Int
        let isRemoved: Bool
        let data: Data
    }

    private struct Pending: Sendable {
        var lines: [UUID: Line] = [:]
        /// The greatest revision of each transfer.
        var revisions: [UUID: Int] = [:]
        var completions: [@Sendable (TransferQueueError?) -> Void] = []
        var isScheduled = false
    }

    /// Accessed only on the queue.
    private struct Stored: Sendable {
        /// The latest line of each transfer in the file.
        var lines: [UUID: Line] = [:]
        /// The number of lines in the file.
        var count = 0
        /// The number of lines, beyond two for each transfer, at which the file is rewritten.
        var limit = 100
    }

    /// The transfers when the file was opened.
    let transfers: [StoredTransfer<Target>]
    let unreadableCount: Int
    private let log: RecordLog<StoredTransfer<Target>>
    private let queue = DispatchQueue(label: "TargetKit.transfers.file")
    private let pending = Locked(Pending())
    private let stored: Locked<Stored>

    init(_ file: URL) throws(TransferQueueError) {
        do {
            log = try RecordLog(file)
            transfers = StoredTransfer.latest(in: log.records)
            unreadableCount = log.unreadableCount
            var stored = Stored(count: log.records.count)
            for transfer in transfers { stored.lines[transfer.id] = try Self.line(transfer) }
            self.stored = Locked(stored)
        } catch {
            throw TransferQueueError(error)
        }
    }

    /// Writes records later. A record that cannot be written is written with the next ones.
    ///
    /// - Parameter completion: Called when the records are on permanent storage, or could not be written.
    func write(
        _ records: [StoredTransfer<Target>],
        completion: @escaping @Sendable (TransferQueueError?) -> Void
    ) {
        var lines: [Line] = []
        do throws(RecordLogFailure) {
            for record in records { lines.append(try Self.line(record)) }
        } catch {
            return completion(TransferQueueError(error))
        }
        let begins = pending.withLock { [lines] pending in
            for line in lines where line.revision > pending.revisions[line.id] ?? -1 {
                pending.revisions[line.id] = line.revision
                pending.lines[line.id] = line
            }
            pending.completions.append(completion)
            defer { pending.isScheduled = true }
            return !pending.isScheduled
        }
        if begins { queue.async { self.writePending() } }
    }

    /// Writes a new record, and returns when it is on permanent storage. After a failure, it is not written later.
    func add(_ record: StoredTransfer<Target>) async throws(TransferQueueError) {
        let error = await withUnsafeContinuation { continuation in
            write([record]) { error in
                if error != nil { self.pending.withLock { $0.lines[record.id] = nil } }
                continuation.resume(returning: error)
            }
        }
        if let error { throw error }
    }

    private func writePending() {
        let (lines, completions) = pending.withLock { pending in
            defer {
                pending.lines = [:]
                pending.completions = []
                pending.isScheduled = false
            }
            return (Array(pending.lines.values), pending.completions)
        }
        var failure: TransferQueueError?
        do throws(RecordLogFailure) {
            try append(lines.sorted { ($0.number, $0.revision) < ($1.number, $1.revision) })
        } catch {
            failure = TransferQueueError(error)
            pending.withLock { pending in
                for line in lines where pending.lines[line.id] == nil { pending.lines[line.id] = line }
            }
        }
        for completion in completions { completion(failure) }
    }

    private func append(_ lines: [Line]) throws(RecordLogFailure) {
        if log.isLost { try writeAnew() }
        do throws(RecordLogFailure) {
            try log.append(lines.map(\.data))
        } catch {
            // A shorter file can make the room that is missing.
            guard compact() else { throw error }
            try log.append(lines.map(\.data))
        }
        let isLong = stored.withLock { stored in
            for line in lines { stored.lines[line.id] = line.isRemoved ? nil : line }
            stored.count += lines.count
            return stored.count > 2 * stored.lines.count + stored.limit
        }
        if isLong { _ = compact() }
    }

    /// Replaces the file by one with the latest lines only; returns `false` if it is not shorter, or cannot be written.
    private func compact() -> Bool {
        let (lines, count) = stored.withLock { ($0.lines.values.sorted { $0.number < $1.number }, $0.count) }
        guard lines.count < count, (try? log.replace(with: lines.map(\.data))) != nil else {
            stored.withLock { $0.limit *= 2 }
            return false
        }
        stored.withLock { $0.count = lines.count }
        return true
    }

    /// Writes the latest lines to a new file, because something else has removed or emptied the old one.
    private func writeAnew() throws(RecordLogFailure) {
        let lines = stored.withLock { $0.lines.values.sorted { $0.number < $1.number } }
        try log.replace(with: lines.map(\.data))
        stored.withLock { $0.count = lines.count }
    }

    private static func line(_ record: StoredTransfer<Target>) throws(RecordLogFailure) -> Line {
        Line(
            id: record.id,
            number: record.number,
            revision: record.revision,
            isRemoved: record.state == .removed,
            data: try RecordLog.line(of: record)
        )
    }
}
