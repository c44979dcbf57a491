// SPDX-License-Identifier: MIT

extension PartialFile {
    /// Whether replacement files in a folder have no name until they are moved.
    package static func hasUnnamedFiles(in folder: URL) -> Bool {
        guard let descriptor = openUnnamed(in: folder, mode: 0o600) else { return false }
        close(descriptor)
        return true
    }

    /// Opens a new file without a name; returns `nil` if the system or the file system doesn't support it.
    static func openUnnamed(in folder: URL, mode: mode_t) -> Int32? {
        #if os(Linux)
        // Without it, the file couldn't be named.
        guard access("/proc/self/fd", X_OK) == 0 else { return nil }
        // O_TMPFILE of open(2), which isn't imported. It includes O_DIRECTORY, so old systems reject it.
        let flags = O_WRONLY | O_CLOEXEC | O_DIRECTORY | 0o20_000_000
        let descriptor = open(folder.path, flags, mode)
        return descriptor >= 0 ? descriptor : nil
        #else
        return nil
        #endif
    }

    /// The permissions of a new file in a folder, after the process's mask, which can't be read without changing it. An
    /// empty file shows them.
    package static func usualPermissions(in folder: URL) -> mode_t {
        let place = hiddenPlace(beside: folder.appendingPathComponent("new"))
        let unnamed = openUnnamed(in: folder, mode: 0o666)
        let descriptor = unnamed ?? open(place.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return 0o600 }
        defer { close(descriptor) }
        if unnamed == nil { unlink(place.path) }
        return FileStatus(of: descriptor)?.permissions ?? 0o600
    }

    /// Gives a name to a file without one; returns `false` on failure, with the reason in `errno`.
    static func link(_ descriptor: Int32, to place: URL) -> Bool {
        #if os(Linux)
        linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, place.path, AT_SYMLINK_FOLLOW) == 0
        #else
        false
        #endif
    }

    /// The files with names that ``hiddenPlace(beside:)`` returns for a file.
    static func parts(of file: URL) -> [URL] {
        let folder = file.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { isName($0, ofPartOf: file) }.map { folder.appendingPathComponent($0) }
    }

    /// Removes the replacement files of killed processes.
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
