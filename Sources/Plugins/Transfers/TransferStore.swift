// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The file of a queue. Writes changes in order on a serial queue, and combines pending ones.
final class TransferStore<Target: TargetType & Codable>: Sendable {
    private struct Pending: Sendable {
        var records: [StoredTransfer<Target>] = []
        var completions: [@Sendable (TransferQueueError?) -> Void] = []
    }

    /// The number of outdated records, beyond one for each transfer, after which the file is rewritten.
    private static var limit: Int { 100 }

    /// The transfers when the file was opened.
    let transfers: [StoredTransfer<Target>]
    let unreadableCount: Int
    private let log: RecordLog<StoredTransfer<Target>>
    private let queue = DispatchQueue(label: "TargetKit.transfers.file")
    private let pending = Locked(Pending())
    /// The latest record of each transfer in the file, and the number of all records. Accessed only on the queue.
    private let stored: Locked<(latest: [UUID: StoredTransfer<Target>], count: Int)>

    init(_ file: URL) throws(TransferQueueError) {
        do {
            log = try RecordLog(file)
        } catch {
            throw TransferQueueError(error)
        }
        transfers = StoredTransfer.latest(in: log.records)
        unreadableCount = log.unreadableCount
        let latest = Dictionary(transfers.map { ($0.id, $0) }) { $1 }
        stored = Locked((latest, log.records.count))
    }

    /// Writes records. The completion is called when they are on permanent storage, or could not be written.
    func write(
        _ records: [StoredTransfer<Target>],
        completion: @escaping @Sendable (TransferQueueError?) -> Void
    ) {
        let begins = pending.withLock { pending in
            defer {
                pending.records += records
                pending.completions.append(completion)
            }
            return pending.completions.isEmpty
        }
        if begins { queue.async { self.writePending() } }
    }

    /// Writes a record, and returns when it is on permanent storage.
    func write(_ record: StoredTransfer<Target>) async throws(TransferQueueError) {
        let error = await withUnsafeContinuation { continuation in
            write([record]) { continuation.resume(returning: $0) }
        }
        if let error { throw error }
    }

    private func writePending() {
        let pending = pending.withLock { pending in
            defer { pending = Pending() }
            return pending
        }
        var failure: TransferQueueError?
        do throws(RecordLogFailure) {
            try log.append(pending.records)
            let (latest, isLong) = stored.withLock { stored in
                for record in pending.records {
                    stored.latest[record.id] = record.state == .removed ? nil : record
                }
                stored.count += pending.records.count
                return (stored.latest, stored.count > 2 * stored.latest.count + Self.limit)
            }
            if isLong {
                try log.replace(with: latest.values.sorted { $0.number < $1.number })
                stored.withLock { $0.count = latest.count }
            }
        } catch {
            failure = TransferQueueError(error)
        }
        for completion in pending.completions { completion(failure) }
    }
}
