// SPDX-License-Identifier: MIT

/// A file to which several processes append records, for data that persists between launches and changes often.
///
/// A record is a line with 16 hexadecimal digits of the SHA-256 of its JSON, a space, and the JSON. Each operation
/// locks the file and first reads records that other processes appended. An incomplete last line after a crash is
/// removed by the next operation. Lines that are damaged, or that this version of the app can't decode, stay in the
/// file. The file has mode 0600. A file with another format is rejected. Operations block the thread, usually for less
/// than a millisecond.
package final class SharedRecordLog<Record: Codable & Sendable>: Sendable {
    /// The time for which an operation waits for another process that holds the lock, for example a suspended one.
    private static var longestWait: Duration { .seconds(10) }

    private let file: URL
    private let state = Locked(State())

    fileprivate struct State: Sendable {
        var descriptor: Int32?
        /// The number of bytes that were read.
        var position: off_t = 0
        var unreadable: [Data] = []
        /// The number of records in the file.
        var recordCount = 0
        /// The number of records, in addition to three per needed record, at which the file is compacted.
        var compactionLimit = 100
        /// Whether the file must be read from its start; `false` after that succeeds.
        var isReplaced = false
        /// Whether the file lost contents.
        var isLost = false
    }

    /// Creates a log of a file, which need not exist, and the missing folders.
    package init(_ file: URL) throws(RecordLogFailure) {
        try RecordFile.createFolder(of: file)
        self.file = file
    }

    deinit {
        if let descriptor = state.withLock(\.descriptor) { close(descriptor) }
    }

    /// Reads the file.
    ///
    /// - Parameter time: How long the thread waits for another process that has the lock, for example a suspended one.
    ///   After this time, the file is read without the lock, and the session can't be written.
    package func read(waiting time: Duration, body: (Session) -> Void) throws(RecordLogFailure) {
        let lock = try lock(named: "lock", waiting: time)
        defer { lock?.release() }
        var session = Session(file, state: state.withLock(\.self))
        defer { state.withLock { $0 = session.state } }
        try session.readNew(isLocked: lock != nil)
        body(session)
    }

    /// Runs an operation exclusively among the logs of the file.
    ///
    /// - Throws: ``RecordLogFailure/inUse(path:)`` if another process has the lock for 10 seconds.
    package func locked<Result>(
        _ body: (inout Session) throws(RecordLogFailure) -> Result
    ) throws(RecordLogFailure) -> Result {
        guard let lock = try lock(named: "lock", waiting: Self.longestWait) else { throw .inUse(path: file.path) }
        defer { lock.release() }
        var session = Session(file, state: state.withLock(\.self))
        // Stored even after a failure, because the descriptor may have been replaced.
        defer { state.withLock { $0 = session.state } }
        try session.readNew()
        return try body(&session)
    }

    /// Acquires a named lock of the file, which only one process can hold until it releases the lock or ends. Returns
    /// `nil` if another process or log still holds the lock after the time; default: zero.
    package func lock(named name: String, waiting time: Duration = .zero) throws(RecordLogFailure) -> HeldFileLock? {
        try RecordFile.lock(file, named: name, waiting: time)
    }
}

extension SharedRecordLog {
    /// The file while it is locked.
    package struct Session {
        private let file: URL
        fileprivate private(set) var state: State
        /// The records that were appended since the last operation of this log.
        package private(set) var records: [Record] = []
        /// Whether the file was replaced since then. If so, the records are its entire contents.
        package private(set) var isReplaced = false
        /// Whether something else removed or shortened the file since then. If so, the file is also replaced.
        package private(set) var isLost = false
        private var isLocked = true

        /// The number of lines that aren't records.
        package var unreadableCount: Int { state.unreadable.count }

        fileprivate init(_ file: URL, state: State) {
            self.file = file
            self.state = state
        }

        fileprivate mutating func readNew(isLocked: Bool = true) throws(RecordLogFailure) {
            self.isLocked = isLocked
            let descriptor = try openedFile()
            guard let size = FileStatus(of: descriptor)?.size else { throw .unusable(path: file.path) }
            if off_t(size) < state.position {
                restart(descriptor)
                state.isLost = true
            }
            let (lines, end): (RecordLines<Record>, off_t) =
                try RecordFile.read(descriptor, of: file, from: state.position, isRepaired: isLocked)
            records = lines.records
            state.unreadable += lines.unreadable
            state.recordCount += records.count
            state.position = end
            (isReplaced, isLost) = (state.isReplaced, state.isLost)
            (state.isReplaced, state.isLost) = (false, false)
        }

        /// Appends records, and flushes them to permanent storage. After a failure, none of them is in the file.
        package mutating func append(_ records: [Record]) throws(RecordLogFailure) {
            guard !records.isEmpty else { return }
            guard isLocked else { throw .inUse(path: file.path) }
            // The descriptor is missing if the file couldn't be opened after it was replaced.
            guard let descriptor = state.descriptor else { throw .unusable(path: file.path) }
            let lines = try Self.lines(records)
            guard PartialFile.write(lines, to: descriptor), PartialFile.synchronize(descriptor) else {
                let code = errno
                ftruncate(descriptor, state.position)
                throw .unusable(path: file.path, code: code)
            }
            state.position += off_t(lines.count)
            state.recordCount += records.count
        }

        /// Appends records. If they can't be written, compacts the file to make space, and appends them again.
        ///
        /// - Parameter shortest: The shortest list of records that is equivalent to the file's records.
        package mutating func append(
            _ records: [Record],
            compactingTo shortest: () -> [Record]
        ) throws(RecordLogFailure) {
            do throws(RecordLogFailure) {
                try append(records)
            } catch {
                guard compact(shortest()) else { throw error }
                try append(records)
            }
        }

        /// Compacts a long file.
        ///
        /// - Parameters:
        ///   - count: The number of entries that the records describe.
        ///   - shortest: The shortest list of records that is equivalent to the file's records.
        package mutating func compactIfLong(_ count: Int, to shortest: () -> [Record]) {
            if state.recordCount > 3 * count + state.compactionLimit { _ = compact(shortest()) }
        }

        /// Replaces the file; returns `false` if it wouldn't be shorter or can't be written.
        private mutating func compact(_ records: [Record]) -> Bool {
            guard records.count < state.recordCount, (try? replace(with: records)) != nil else {
                state.compactionLimit = min(2 * state.compactionLimit, 100_000)
                return false
            }
            return true
        }

        /// Replaces all records atomically. Lines that aren't records stay.
        package mutating func replace(with records: [Record]) throws(RecordLogFailure) {
            guard isLocked else { throw .inUse(path: file.path) }
            let unreadable = state.unreadable
            let lines = try Self.lines(records)
            let size = try RecordFile.replace(file, unreadable: unreadable, records: lines)
            // From here on, the name refers to the new file.
            closeFile()
            let descriptor = try RecordFile.open(file)
            state = State(descriptor: descriptor, position: size, unreadable: unreadable, recordCount: records.count)
        }

        /// The file, reopened if another process replaced it.
        private mutating func openedFile() throws(RecordLogFailure) -> Int32 {
            if let descriptor = state.descriptor, let status = FileStatus(of: descriptor),
                FileStatus(of: file, followsLinks: false)?.isSameFile(as: status) == true
            {
                return descriptor
            }
            let isLost = state.isLost || state.descriptor != nil && FileStatus(of: file, followsLinks: false) == nil
            let descriptor = try RecordFile.open(file)
            FileProtection.allowAccessWhileLocked(file)
            restart(descriptor)
            state.isLost = isLost
            return descriptor
        }

        /// Reads from the start of a file.
        private mutating func restart(_ descriptor: Int32) {
            if state.descriptor != descriptor { closeFile() }
            state = State(descriptor: descriptor, isReplaced: true)
        }

        private mutating func closeFile() {
            if let descriptor = state.descriptor { close(descriptor) }
            state = State(isReplaced: true)
        }

        private static func lines(_ records: [Record]) throws(RecordLogFailure) -> Data {
            var lines = Data()
            for record in records { lines.append(try RecordLine.encoded(record)) }
            return lines
        }
    }
}

/// A failed operation of a ``SharedRecordLog``.
package enum RecordLogFailure: Error, Sendable, Hashable {
    /// Another log or process has the lock.
    case inUse(path: String)
    /// The file can't be opened, read or written.
    case unusable(path: String, reason: String)

    static func unusable(path: String, code: Int32 = errno) -> Self {
        .unusable(path: path, reason: String(cString: strerror(code)))
    }
}
