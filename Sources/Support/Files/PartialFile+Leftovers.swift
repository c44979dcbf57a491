// SPDX-License-Identifier: MIT

extension PartialFile {
    /// The permissions of a new file, after the process's mask, which can't be read without changing it. An empty file
    /// with a hidden name shows them.
    package static func usualPermissions(beside place: URL) -> mode_t {
        let empty = hiddenPlace(beside: place)
        let descriptor = open(empty.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return 0o600 }
        defer { close(descriptor) }
        unlink(empty.path)
        return FileStatus(of: descriptor)?.permissions ?? 0o600
    }

    /// The files with names that ``hiddenPlace(beside:)`` returns for a file.
    package static func parts(of file: URL) -> [URL] {
        let folder = file.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { isName($0, ofPartOf: file) }.map { folder.appendingPathComponent($0) }
    }

    /// Removes the hidden files of killed processes.
    ///
    /// - Parameter age: The minimum time since such a file was changed.
    package static func removeLeftovers(of file: URL, unchangedFor age: TimeInterval = leftoverAge) {
        let limit = Date().timeIntervalSince1970 - age
        for part in parts(of: file) {
            let descriptor = open(part.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { FileLock.release(descriptor) }
            if FileLock.take(descriptor), let status = FileStatus(of: descriptor), status.isRegular, status.isOwn,
                status.hasOneName, status.changeTime <= limit
            {
                unlink(part.path)
            }
        }
    }
}
