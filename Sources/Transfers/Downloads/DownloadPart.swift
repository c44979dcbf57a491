// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitStorage

/// An incomplete file that outlives its call, and its record. The file is locked while it is open, so that two calls or
/// processes can't write to it.
final class DownloadPart: Sendable {
    /// The maximum size of a record in bytes. A response with longer fields isn't continued.
    private static let recordLimit: Int64 = 64 << 10

    let url: URL
    private let recordURL: URL
    /// The file with the positions of the segments.
    let positionsURL: URL
    private let descriptor: Int32

    private init(_ url: URL, descriptor: Int32) {
        self.url = url
        self.descriptor = descriptor
        recordURL = url.appendingPathExtension("json")
        positionsURL = url.appendingPathExtension("positions")
    }

    deinit {
        FileLock.release(descriptor)
    }

    /// Lets another call open the part. Don't write to it afterwards.
    func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Opens or creates a part; returns `nil` if another call or process uses it, or it can't be used safely.
    ///
    /// - Parameter permissions: The permissions of the file to replace; `nil` if there is none.
    static func open(_ url: URL, permissions: mode_t?) -> DownloadPart? {
        // Only its user can read a new file until it is complete.
        let mode = 0o600 | (permissions ?? 0)
        for _ in 0..<3 {
            guard
                case .locked(let descriptor, let status) = FileLock.open(url, mode: mode)
            else { return nil }
            // Closes the descriptor when it is released.
            let part = DownloadPart(url, descriptor: descriptor)
            guard status.isRegular, status.isOwn else { return nil }
            guard status.hasOneName else {
                // The file has another name, under which it must not change.
                unlink(url.path)
                continue
            }
            fchmod(descriptor, mode)
            FileProtection.allowAccessWhileLocked(url)
            return part
        }
        return nil
    }

    var size: Int64 { FileStatus(of: descriptor)?.size ?? 0 }

    /// The record; `nil` if this user hasn't written one.
    func record() -> PartRecord? {
        contents(of: recordURL).flatMap { PartRecord($0) }
    }

    /// The contents of a small file beside the part.
    func contents(of file: URL) -> Data? {
        // Another user may have created a link or a pipe with this name.
        let descriptor = Foundation.open(file.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor), status.isRegular, status.isOwn, status.hasOneName,
            (1...Self.recordLimit).contains(status.size)
        else { return nil }
        var data = Data(count: Int(status.size))
        let count = data.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        return count == data.count ? data : nil
    }

    /// Replaces the whole record. A failure doesn't end the download, because the next call starts over without a
    /// record.
    func write(_ record: PartRecord) {
        guard let data = try? record.data, data.count <= Self.recordLimit else { return }
        // A record damaged by a system crash is ignored. It is flushed only if bytes of the part were.
        let descriptor = data.withUnsafeBytes {
            PartialFile.replace(recordURL, by: $0, isDurable: record.hasFlushedBytes)
        }
        if let descriptor { close(descriptor) }
    }

    /// Returns whether there was one.
    @discardableResult
    func removeRecord() -> Bool {
        for file in [recordURL, positionsURL] { unlink(file.appendingPathExtension("new").path) }
        unlink(positionsURL.path)
        return unlink(recordURL.path) == 0
    }

    /// Whether the path still refers to this file.
    var isInPlace: Bool {
        guard let own = FileStatus(of: descriptor), let named = FileStatus(of: url, followsLinks: false) else {
            return false
        }
        return named.isSameFile(as: own)
    }

    /// Removes the file and its record, unless the file has been moved.
    func remove() {
        guard isInPlace else { return }
        // A file without a record isn't continued.
        removeRecord()
        unlink(url.path)
    }

    /// Removes a file that has no record.
    func removeUnlessRecorded() {
        if isInPlace, record() == nil { remove() }
    }

    /// Discards the record and all bytes.
    func restart() throws {
        // The old record must be gone before the first byte of the new version is written, even after a system crash.
        if removeRecord() { AtomicFile.synchronize(url.deletingLastPathComponent()) }
        try truncate(to: 0)
    }

    func truncate(to size: Int64) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw PartialFile.failure(.cannotWriteToFile, url: url) }
    }

    /// Writes bytes at a position, which is at most the file's size. If it throws, some of the bytes may have been
    /// written.
    func write(_ bytes: UnsafeRawBufferPointer, at position: Int64) throws {
        guard PartialFile.write(bytes, to: descriptor, at: position) else {
            throw PartialFile.failure(.cannotWriteToFile, url: url)
        }
    }

    func synchronize() -> Bool { PartialFile.synchronize(descriptor) }
}

extension PartialFile {
    /// Replaces a file that only one process writes at a time, using a file with a fixed name beside it. Returns the
    /// open file; `nil` on failure.
    static func replace(_ file: URL, by bytes: UnsafeRawBufferPointer, isDurable: Bool = false) -> Int32? {
        let new = file.appendingPathExtension("new")
        // The file must be new, because another user may have created one with this name.
        unlink(new.path)
        let descriptor = open(new.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        FileProtection.allowAccessWhileLocked(new)
        guard write(bytes, to: descriptor), !isDurable || synchronize(descriptor), rename(new.path, file.path) == 0
        else {
            unlink(new.path)
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
