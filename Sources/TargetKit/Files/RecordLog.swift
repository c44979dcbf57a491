// SPDX-License-Identifier: MIT
import Foundation

/// A file to which records are appended, for what is kept between launches and changes often.
///
/// A record is a line: 16 hexadecimal digits of the SHA-256 of its JSON, a space, and the JSON. After a crash, the last
/// line can be incomplete: it is removed when the file is opened. Other lines that are damaged, or that this version of
/// the app cannot decode, stay in the file. The file has mode 0600, and belongs to one process at a time. A file of
/// another kind is refused.
package final class RecordLog<Record: Codable & Sendable>: Sendable {
    private struct Content: Sendable {
        var descriptor: Int32
        var size: off_t
    }

    /// The records in the file when it was opened, in their order.
    package let records: [Record]
    /// The number of lines that are not records.
    package var unreadableCount: Int { unreadable.count }

    private let file: URL
    private let lock: Int32
    private let unreadable: [Data]
    private let content: Locked<Content>

    /// Opens a file, or creates it and the folders that are missing.
    ///
    /// - Throws: ``RecordLogFailure/inUse(path:)`` if another log has the file open, in any process.
    package init(_ file: URL) throws(RecordLogFailure) {
        try RecordFile.createFolder(of: file)
        // A process that is just being started has the descriptors of this one for a moment.
        let lock = try RecordFile.lock(file, waiting: .milliseconds(200))
        do throws(RecordLogFailure) {
            let descriptor = try RecordFile.open(file)
            do throws(RecordLogFailure) {
                let (lines, size): (RecordLines<Record>, off_t) = try RecordFile.read(descriptor, of: file)
                records = lines.records
                unreadable = lines.unreadable
                content = Locked(Content(descriptor: descriptor, size: size))
            } catch {
                close(descriptor)
                throw error
            }
        } catch {
            FileLock.release(lock)
            throw error
        }
        self.file = file
        self.lock = lock
        FileProtection.allowAccessWhileLocked(file)
    }

    deinit {
        close(content.withLock(\.descriptor))
        FileLock.release(lock)
    }

    /// Whether something else has removed or shortened the file: ``replace(with:)`` then writes it anew.
    package var isLost: Bool {
        content.withLock { content in
            guard let status = FileStatus(of: content.descriptor),
                let named = FileStatus(of: file, followsLinks: false), named.isSameFile(as: status)
            else { return true }
            return status.size < content.size
        }
    }

    /// Appends lines of ``line(of:)``, and flushes them to permanent storage. After a failure, none of them is in the
    /// file.
    package func append(_ lines: [Data]) throws(RecordLogFailure) {
        let lines = Data(lines.joined())
        let isWritten = content.withLock { content in
            if content.descriptor < 0 { content.descriptor = (try? RecordFile.open(file)) ?? -1 }
            let isWritten =
                PartialFile.write(lines, to: content.descriptor) && PartialFile.synchronize(content.descriptor)
            if isWritten {
                content.size += off_t(lines.count)
            } else {
                let code = errno
                ftruncate(content.descriptor, content.size)
                errno = code
            }
            return isWritten
        }
        if !isWritten { throw .unusable(path: file.path) }
    }

    /// Replaces all records at once by lines of ``line(of:)``. Lines that are not records stay.
    package func replace(with records: [Data]) throws(RecordLogFailure) {
        let size = try RecordFile.replace(file, unreadable, Data(records.joined()))
        content.withLock { content in
            close(content.descriptor)
            // From here on, the old file is no longer the one of this name.
            content = Content(descriptor: (try? RecordFile.open(file)) ?? -1, size: size)
        }
    }
}

/// A failed operation of a ``RecordLog``.
package enum RecordLogFailure: Error, Sendable, Hashable {
    /// Another log has the file open, in this or another process.
    case inUse(path: String)
    /// The file cannot be opened, read or written.
    case unusable(path: String, reason: String)

    static func unusable(path: String, code: Int32 = errno) -> Self {
        .unusable(path: path, reason: String(cString: strerror(code)))
    }
}

extension RecordLog {
    /// The line of a record.
    package static func line(of record: Record) throws(RecordLogFailure) -> Data { try RecordLine.encoded(record) }
}
