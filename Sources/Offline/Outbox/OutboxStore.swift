// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import _TargetKitStorage

/// The entries of an outbox, and the file that stores them. Several processes can use one file.
///
/// The entries change only on a serial queue, while the file is locked.
final class OutboxStore<Target: TargetType & Codable>: Sendable {
    let content: ObservedValue<OutboxContent<Target>>
    let changes = ObservedChanges()
    /// The file; `nil` if the entries are stored in memory.
    fileprivate let log: SharedRecordLog<OutboxRecord>?
    private let queue = DispatchQueue(label: "TargetKit.outbox")
    /// Changes that couldn't be written yet.
    fileprivate let unwritten = Locked<[OutboxRecord]>([])
    /// The right to send the entries of the file.
    private let turn = Locked<HeldFileLock?>(nil)

    /// Reads the entries.
    init(_ file: URL?, content: OutboxContent<Target>) throws(OutboxError) {
        self.content = ObservedValue(content)
        do {
            log = try file.map { file throws(RecordLogFailure) in try SharedRecordLog(file) }
        } catch {
            throw OutboxError(error)
        }
        try readFirst()
    }

    /// Reads the entries when the outbox is created. This blocks the app's thread, so the entries are read without the
    /// lock if another process, for example a suspended one, holds it for long. Later operations take the lock.
    private func readFirst() throws(OutboxError) {
        guard let log else { return }
        do throws(RecordLogFailure) {
            try log.read(waiting: .milliseconds(200)) { session in
                var transaction = OutboxTransaction(of: self, isRequired: false)
                transaction.begin(session)
            }
        } catch {
            throw OutboxError(error)
        }
    }

    /// Acquires the right to send the entries, which only one process can have. Returns whether it was acquired.
    func acquireSendingLock() async throws(OutboxError) -> Bool {
        guard let log, !holdsSendingLock else { return true }
        let result = await queue.run { Result { () throws(RecordLogFailure) in try log.lock(named: "sending") } }
        let new = try result.mapError(OutboxError.init).get()
        turn.withLock { $0 = new }
        return new != nil
    }

    /// Lets other processes send, unless the end of a call couldn't be written, because they would send its entry
    /// again. Returns whether they can send.
    func releaseSendingLock() -> Bool {
        guard unwritten.withLock(\.isEmpty) else { return false }
        let turn = turn.withLock { turn in
            defer { turn = nil }
            return turn
        }
        // Released explicitly, because another thread can still have a reference.
        turn?.release()
        return true
    }

    /// Whether this process has the right to send the entries of the file.
    var holdsSendingLock: Bool { turn.withLock { $0 != nil } }

    /// Reads the records of other processes, and changes the entries.
    ///
    /// - Parameter isRequired: Whether the changes must be written. If not, they are made even if the file can't be
    ///   used, and are written later.
    func transaction<Value: Sendable>(
        isRequired: Bool = true,
        body: @escaping @Sendable (inout OutboxTransaction<Target>) throws(OutboxError) -> Value
    ) async throws(OutboxError) -> Value {
        let result = await queue.run {
            Result { () throws(OutboxError) in try self.run(isRequired: isRequired, body: body) }
        }
        return try result.get()
    }

    /// Records the failure of the last operation.
    fileprivate func note(_ error: OutboxError?) {
        guard content.value.storageError != error else { return }
        content.update { $0.storageError = error }
        changes.announce()
    }

    private func run<Value>(
        isRequired: Bool = true,
        body: (inout OutboxTransaction<Target>) throws(OutboxError) -> Value
    ) throws(OutboxError) -> Value {
        var transaction = OutboxTransaction(of: self, isRequired: isRequired)
        guard let log else { return try body(&transaction) }
        var result: Result<Value, OutboxError>?
        do throws(RecordLogFailure) {
            result = try log.locked { session throws(RecordLogFailure) -> Result<Value, OutboxError> in
                transaction.begin(session)
                defer { if let changed = transaction.session { session = changed } }
                return Result { () throws(OutboxError) in try body(&transaction) }
            }
        } catch {
            note(OutboxError(error))
            if isRequired { throw OutboxError(error) }
        }
        guard let result else { return try body(&transaction) }
        return try result.get()
    }
}

/// A change of the entries of an outbox, while their file is locked.
struct OutboxTransaction<Target: TargetType & Codable> {
    private let store: OutboxStore<Target>
    private let isRequired: Bool
    fileprivate private(set) var session: SharedRecordLog<OutboxRecord>.Session?

    fileprivate init(of store: OutboxStore<Target>, isRequired: Bool) {
        self.store = store
        self.isRequired = isRequired
    }

    /// The current state of the outbox.
    var current: OutboxContent<Target> { store.content.value }

    /// Applies the records of other processes, and writes records that couldn't be written before.
    fileprivate mutating func begin(_ session: SharedRecordLog<OutboxRecord>.Session) {
        self.session = session
        let unwritten = store.unwritten.withLock(\.self)
        let isChanged = session.isReplaced || !session.records.isEmpty
        if isChanged || session.unreadableCount != current.damagedCount {
            let previous = current.items
            let records = session.records + (session.isReplaced ? unwritten : [])
            apply(records, to: session.isReplaced ? OutboxItems() : previous)
            store.content.update { $0.damagedCount = session.unreadableCount }
            if session.isReplaced, session.isLost || session.records.first?.isMark != true { restore(previous) }
        }
        if !unwritten.isEmpty, (try? append(unwritten)) != nil { store.unwritten.withLock { $0 = [] } }
        if store.unwritten.withLock(\.isEmpty) { store.note(nil) }
    }

    /// Writes the entries that are missing from the file because other software removed, emptied or replaced it.
    private mutating func restore(_ items: OutboxItems<Target>) {
        guard let session else { return }
        let known = session.isLost ? [] : Set(session.records.map(\.id))
        let records = items.records.filter { !known.contains($0.id) }
        if records.isEmpty { return }
        // It doesn't throw, because failed writes are repeated later.
        _ = try? write(records, isRequired: false)
    }

    /// Writes records to permanent storage, and changes the entries.
    ///
    /// - Parameter isRequired: Whether the records must be written; default: the transaction's value.
    /// - Returns: The error, if the records aren't required and will be written later.
    /// - Throws: ``OutboxError/unusableFile(path:reason:)`` if they are required and can't be written; the entries are
    ///   then unchanged.
    @discardableResult
    mutating func write(
        _ records: [OutboxRecord],
        isRequired: Bool? = nil
    ) throws(OutboxError) -> OutboxError? {
        guard !records.isEmpty else { return nil }
        var failure: OutboxError?
        do throws(OutboxError) {
            if store.log != nil { try append(records) }
        } catch {
            if isRequired ?? self.isRequired { throw error }
            failure = error
            store.unwritten.withLock { $0 += records }
        }
        apply(records, to: current.items)
        store.note(failure)
        let items = current.items
        session?.compactIfLong(items.order.count) { Self.shortest(of: items) }
        return failure
    }

    /// Changes the entries. This needs no lock, because only the store's queue changes them, and decoding runs the
    /// app's code.
    private func apply(_ records: [OutboxRecord], to items: OutboxItems<Target>) {
        var items = items
        for record in records { items.apply(record) }
        store.content.update { $0.items = items }
    }

    private mutating func append(_ records: [OutboxRecord]) throws(OutboxError) {
        guard session != nil else { throw current.storageError ?? .unusableFile(path: "", reason: "not opened") }
        let items = current.items
        do throws(RecordLogFailure) {
            try session?.append(records) { Self.shortest(of: items) }
        } catch {
            store.note(OutboxError(error))
            throw OutboxError(error)
        }
    }

    /// The shortest list of records that describes the entries. The mark tells other processes that missing entries
    /// have ended.
    private static func shortest(of items: OutboxItems<Target>) -> [OutboxRecord] { [.mark] + items.records }
}
