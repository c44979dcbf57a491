// SPDX-License-Identifier: MIT
import Foundation

/// What files of records have in common.
enum RecordFile {
    /// Creates the folders of a file that are missing.
    static func createFolder(of file: URL) throws(RecordLogFailure) {
        guard file.isFileURL else { throw .unusable(path: file.redacted.absoluteString, reason: "not a file URL") }
        let folder = file.deletingLastPathComponent()
        do {
            try PrivateFolder.create(folder)
        } catch {
            throw .unusable(path: folder.path, reason: (error as NSError).localizedDescription)
        }
    }

    /// Takes the lock of a file, which is that of another file, because the file itself is replaced.
    ///
    /// - Throws: ``RecordLogFailure/inUse(path:)`` if another log or process has it after the time.
    static func lock(_ file: URL, waiting time: Duration) throws(RecordLogFailure) -> Int32 {
        let lock = file.appendingPathExtension("lock")
        switch FileLock.open(lock, mode: 0o600, waiting: time) {
        case .locked(let descriptor, _): return descriptor
        case .unavailable(EWOULDBLOCK): throw .inUse(path: file.path)
        case .unavailable(let code), .failed(let code): throw .unusable(path: file.path, code: code)
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
        // A new file is lost with its records if its folder is not flushed before the system crashes.
        if status.size == 0 { AtomicFile.synchronize(file.deletingLastPathComponent()) }
        return descriptor
    }

    /// Replaces a file by one with lines that are not records, and records. Returns its size.
    static func replace(_ file: URL, _ unreadable: [Data], _ records: Data) throws(RecordLogFailure) -> off_t {
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
