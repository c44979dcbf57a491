// SPDX-License-Identifier: MIT
import Foundation

/// The type and permissions of a file.
struct FileStatus {
    private let status: stat

    /// `nil` if there is no file.
    init?(of url: URL, followsLinks: Bool = true) {
        var status = stat()
        guard (followsLinks ? stat(url.path, &status) : lstat(url.path, &status)) == 0 else { return nil }
        self.status = status
    }

    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.status = status
    }

    var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }
    var isLink: Bool { status.st_mode & S_IFMT == S_IFLNK }
    var permissions: mode_t { status.st_mode & 0o777 }
    var size: Int64 { Int64(status.st_size) }
    /// Whether the file belongs to this user.
    var isOwn: Bool { status.st_uid == geteuid() }
    var hasOneName: Bool { status.st_nlink == 1 }

    /// Whether this is a folder that only this user can use.
    var isPrivateFolder: Bool { isFolder && isOwn && permissions & 0o077 == 0 }

    func isSameFile(as other: FileStatus) -> Bool {
        status.st_ino == other.status.st_ino && status.st_dev == other.status.st_dev
    }
}
