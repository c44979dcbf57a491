// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitStorage

/// The file of a queue. Writes changes on a serial queue, and combines pending ones.
final class TransferStore: Sendable {
    private typealias Log = SharedRecordLog<StoredTransfer>

    private struct Pending: Sendable {
        var records: [UUID: StoredTransfer] = [:]
        var completions: [@Sendable (TransferQueueError?) -> Void] = []
        var isScheduled = false
    }

    /// Accessed only on the queue.
    private struct Stored: Sendable {
        /// The latest record of each transfer in the file.
        var records: [UUID: StoredTransfer] = [:]
        /// Whether the file lacks the records, because another process removed, emptied or replaced it.
        var isLost = false

        var inOrder: [StoredTransfer] { records.values.sorted { $0.number < $1.number } }

        mutating func apply(_ record: StoredTransfer) {
            records[record.id] = record.state == .removed ? nil : record
        }
    }

    /// The transfers when the file was opened, in the order of their numbers.
    let transfers: [StoredTransfer]
    /// The number of lines that aren't records.
    let unreadableCount: Int
    private let log: Log
    /// Prevents other queues from using the file.
    private let owner: HeldFileLock
    private let queue = DispatchQueue(label: "TargetKit.transfers.file")
    private let pending = Locked(Pending())
    private let stored: Locked<Stored>

    init(_ file: URL) throws(TransferQueueError) {
        do throws(RecordLogFailure) {
            log = try Log(file)
            // A child process briefly inherits the descriptors of this process.
            guard let owner = try log.lock(named: "owner", waiting: .milliseconds(200)) else {
                throw .inUse(path: file.path)
            }
            self.owner = owner
            var stored = Stored()
            unreadableCount = try log.locked { session throws(RecordLogFailure) in
                for record in session.records { stored.apply(record) }
                return session.unreadableCount
            }
            transfers = stored.inOrder
            self.stored = Locked(stored)
        } catch {
            throw TransferQueueError(error)
        }
    }

    /// Writes records later. If that fails, they are written with the next records.
    ///
    /// - Parameter completion: Called when the records are on permanent storage, or couldn't be written.
    func write(
        _ records: [StoredTransfer],
        completion: @escaping @Sendable (TransferQueueError?) -> Void
    ) {
        let begins = pending.withLock { pending in
            for record in records { pending.records[record.id] = record }
            pending.completions.append(completion)
            defer { pending.isScheduled = true }
            return !pending.isScheduled
        }
        if begins { queue.async { self.writePending() } }
    }

    /// Writes a new record, and returns when it is on permanent storage. If that fails, the record isn't written later.
    func add(_ record: StoredTransfer) async throws(TransferQueueError) {
        let error = await withUnsafeContinuation { continuation in
            write([record]) { error in
                if error != nil { self.pending.withLock { $0.records[record.id] = nil } }
                continuation.resume(returning: error)
            }
        }
        if let error { throw error }
    }

    private func writePending() {
        let (records, completions) = pending.withLock { pending in
            defer {
                pending.records = [:]
                pending.completions = []
                pending.isScheduled = false
            }
            return (Array(pending.records.values), pending.completions)
        }
        var failure: TransferQueueError?
        do throws(RecordLogFailure) {
            try append(records.sorted { $0.number < $1.number })
        } catch {
            failure = TransferQueueError(error)
            pending.withLock { pending in
                for record in records where pending.records[record.id] == nil { pending.records[record.id] = record }
            }
        }
        for completion in completions { completion(failure) }
    }

    private func append(_ records: [StoredTransfer]) throws(RecordLogFailure) {
        try log.locked { session throws(RecordLogFailure) in
            if session.isReplaced { stored.withLock { $0.isLost = true } }
            if stored.withLock(\.isLost) {
                try session.replace(with: stored.withLock(\.inOrder))
                stored.withLock { $0.isLost = false }
            }
            try session.append(records) { stored.withLock(\.inOrder) }
            let count = stored.withLock { stored in
                for record in records { stored.apply(record) }
                return stored.records.count
            }
            session.compactIfLong(count) { stored.withLock(\.inOrder) }
        }
    }
}
