// SPDX-License-Identifier: MIT

/// The operations that files of records share.
enum RecordFile {
    /// Creates the missing folders of a file.
    static func createFolder(of file: URL) throws(RecordLogFailure) {
        guard file.isFileURL else { throw .unusable(path: file.path, reason: "not a file URL") }
        let folder = file.deletingLastPathComponent()
        do {
            try PrivateFolder.create(folder)
        } catch {
            throw .unusable(path: folder.path, reason: (error as NSError).localizedDescription)
        }
    }

    /// Takes the lock of a file. A separate lock file is used, because the file itself can be replaced. Returns `nil`
    /// if another log or process still has the lock after the time.
    static func lock(
        _ file: URL,
        named name: String,
        waiting time: Duration
    ) throws(RecordLogFailure) -> HeldFileLock? {
        let url = file.appendingPathExtension(name)
        var outcome = opened(url, waiting: time)
        if case .failed(ENOENT) = outcome {
            // The folder was removed in the meantime.
            try createFolder(of: file)
            outcome = opened(url, waiting: time)
        }
        switch outcome {
        case .locked(let descriptor, _): return HeldFileLock(descriptor)
        case .unavailable(EWOULDBLOCK): return nil
        case .unavailable(let code), .failed(let code): throw .unusable(path: url.path, code: code)
        }
    }

    /// The lock file, for which the thread waits while another log or process has its lock.
    private static func opened(_ url: URL, waiting time: Duration) -> FileLock.Outcome {
        let start = ContinuousClock.now
        var pause: UInt32 = 100
        while true {
            let outcome = FileLock.open(url, mode: 0o600)
            guard case .unavailable(EWOULDBLOCK) = outcome, start.duration(to: .now) < time else { return outcome }
            usleep(pause)
            pause = min(pause * 2, 5_000)
        }
    }

    /// Opens a file, or creates it.
    static func open(_ file: URL) throws(RecordLogFailure) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = Foundation.open(file.path, flags, 0o600)
        guard descriptor >= 0 else { throw .unusable(path: file.path) }
        guard let status = FileStatus(of: descriptor), status.isRegular else {
            close(descriptor)
            throw .unusable(path: file.path, reason: "not a regular file")
        }
        // The file already existed, for example because it was restored. Not every file system has permissions.
        if status.permissions & 0o077 != 0, status.isOwn { fchmod(descriptor, 0o600) }
        // Without flushing the folder, a system crash would lose a new file with its records.
        if status.size == 0 { AtomicFile.synchronize(file.deletingLastPathComponent()) }
        return descriptor
    }

    /// The lines of an open file from a position.
    ///
    /// - Parameter isRepaired: Whether an incomplete last line of a killed writer is removed from the file, and a
    ///   missing line feed is added. Otherwise, such a line isn't read.
    /// - Returns: The lines, and the position after them.
    static func read<Record>(
        _ descriptor: Int32,
        of file: URL,
        from position: off_t = 0,
        isRepaired: Bool = true
    ) throws(RecordLogFailure) -> (lines: RecordLines<Record>, end: off_t) {
        guard let data = AtomicFile.contents(of: descriptor, from: position) else { throw .unusable(path: file.path) }
        let lines = RecordLines<Record>(data, readsTail: isRepaired)
        if position == 0, lines.isForeign(data) {
            throw .unusable(path: file.path, reason: "the file has another format; choose another name")
        }
        guard isRepaired else { return (lines, position + off_t(lines.size)) }
        if lines.lacksLineFeed {
            guard PartialFile.write(Data([UInt8(ascii: "\n")]), to: descriptor), PartialFile.synchronize(descriptor)
            else { throw .unusable(path: file.path) }
            return (lines, position + off_t(data.count + 1))
        }
        if lines.size < data.count { ftruncate(descriptor, position + off_t(lines.size)) }
        return (lines, position + off_t(lines.size))
    }

    /// Replaces a file with unreadable lines and records, and returns its size.
    static func replace(_ file: URL, unreadable: [Data], records: Data) throws(RecordLogFailure) -> off_t {
        var lines = Data()
        for line in unreadable { lines.append(line + [UInt8(ascii: "\n")]) }
        lines.append(records)
        do {
            try AtomicFile(file).write(lines)
        } catch {
            throw .unusable(path: file.path, reason: error.message)
        }
        FileProtection.allowAccessWhileLocked(file)
        return off_t(lines.count)
    }
}
