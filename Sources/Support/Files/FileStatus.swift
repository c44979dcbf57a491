// SPDX-License-Identifier: MIT

/// The type and permissions of a file.
package struct FileStatus {
    package let status: stat

    /// `nil` if there is no file.
    package init?(of url: URL, followsLinks: Bool = true) {
        self.init(of: url.path, followsLinks: followsLinks)
    }

    /// `nil` if there is no file.
    package init?(of path: String, followsLinks: Bool = false) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.status = status
    }

    /// `nil` if there is no file with a name in an open folder. A link isn't followed.
    package init?(of name: UnsafePointer<CChar>, in folder: Int32) {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        self.status = status
    }

    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.status = status
    }

    package var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }
    package var isLink: Bool { status.st_mode & S_IFMT == S_IFLNK }
    package var permissions: mode_t { status.st_mode & 0o777 }
    package var size: Int64 { Int64(status.st_size) }
    /// The time when the contents, the name or the permissions were last changed, in seconds since 1970.
    var changeTime: Double {
        #if canImport(Darwin)
        status.st_ctimespec.seconds
        #else
        status.st_ctim.seconds
        #endif
    }
    /// Whether the file belongs to this user.
    package var isOwn: Bool { status.st_uid == geteuid() }
    package var hasOneName: Bool { status.st_nlink == 1 }

    /// Whether this is a folder that only this user can use.
    package var isPrivateFolder: Bool { isFolder && isOwn && permissions & 0o077 == 0 }

    package func isSameFile(as other: FileStatus) -> Bool {
        status.st_ino == other.status.st_ino && status.st_dev == other.status.st_dev
    }
}

extension timespec {
    package var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1e9 }
}
