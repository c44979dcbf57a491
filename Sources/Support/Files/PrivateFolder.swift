// SPDX-License-Identifier: MIT

/// Folders that only their user can read.
package enum PrivateFolder {
    /// Creates a folder with mode 0700, and its missing ancestors.
    package static func create(_ folder: URL) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: attributes)
    }

    /// A private folder of the user in the caches folder or, if that fails, in the temporary folder; `nil` if neither
    /// can be private, for example because another user created it in a shared folder.
    package static func standard(named name: String) -> URL? {
        let manager = FileManager.default
        let places: [URL?] = [
            manager.urls(for: .cachesDirectory, in: .userDomainMask).first, manager.temporaryDirectory,
        ]
        return places.compactMap { $0?.appendingPathComponent("\(name).\(geteuid())") }.first { folder in
            try? create(folder)
            return FileStatus(of: folder, followsLinks: false)?.isPrivateFolder == true
        }
    }
}
