// SPDX-License-Identifier: MIT

/// A file whose contents are replaced as a whole, for data that persists between launches.
///
/// New contents are written to a part file beside the file, flushed to the disk, and renamed. Therefore, readers,
/// writers and crashes always see either the old or the new contents. Each part file belongs to one write, so any
/// number of writers in any number of processes can replace the file concurrently. The last write wins.
///
/// Files have mode 0600, because most of them contain secrets. A part file that a killed process left behind is removed
/// by the first change after an hour.
package struct AtomicFile: Sendable {
    /// A failed operation of the file.
    package struct Failure: Error, Sendable, Hashable {
        /// The operation.
        package enum Operation: Sendable, Hashable {
            /// The URL isn't a file URL.
            case locate
            /// The file's folder couldn't be created.
            case createFolder
            case read
            case write
            case remove
        }

        package let operation: Operation
        /// The system's message.
        package let message: String

        fileprivate init(_ operation: Operation, message: String = String(cString: strerror(errno))) {
            self.operation = operation
            self.message = message
        }
    }

    /// The age at which a part file is removed; the writer of a newer file may still exist.
    private static let partLifetime: TimeInterval = 3600

    private let file: URL
    private let createsFolder: Bool
    private let isDurable: Bool

    /// Creates a description of the file; the file need not exist.
    ///
    /// - Parameters:
    ///   - createsFolder: Whether missing folders are created, with mode 0700.
    ///   - isDurable: Whether changes are flushed to the disk, and part files of killed processes are removed; default
    ///     `true`. Both take milliseconds, or longer in a large folder.
    package init(_ file: URL, createsFolder: Bool = false, isDurable: Bool = true) {
        self.file = file
        self.createsFolder = createsFolder
        self.isDurable = isDurable
    }

    /// The contents; `nil` if there is no file.
    package func read() throws(Failure) -> Data? {
        let descriptor = open(try place().path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // ENOTDIR means that a path component is a file.
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Failure(.read)
        }
        defer { close(descriptor) }
        guard let data = Self.contents(of: descriptor) else { throw Failure(.read) }
        return data
    }

    /// Reads an open file from a position to its end; returns `nil` on failure, with the reason in `errno`.
    package static func contents(of descriptor: Int32, from position: off_t = 0) -> Data? {
        var data = Data()
        return PartialFile.read(descriptor, from: Int64(position)) { data.append(contentsOf: $0) } ? data : nil
    }

    /// Replaces the contents.
    package func write(_ data: Data) throws(Failure) {
        let place = try place()
        if createsFolder { try createFolder(of: place) }
        do {
            let part = try PartialFile(beside: place)
            try part.append(data)
            // Otherwise, the new file may be empty after a crash, and the old contents are lost.
            if isDurable { try part.synchronize() }
            try part.move(to: place)
        } catch {
            throw Failure(.write, message: error.message)
        }
        guard isDurable else { return }
        removeLeftovers(of: place)
        Self.synchronize(place.deletingLastPathComponent())
    }

    /// Removes the file if it exists.
    package func remove() throws(Failure) {
        let place = try place()
        removeLeftovers(of: place)
        guard unlink(place.path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw Failure(.remove) }
        Self.synchronize(place.deletingLastPathComponent())
    }

    /// The file with all links resolved, so that the new file doesn't replace a link.
    private func place() throws(Failure) -> URL {
        guard file.isFileURL else { throw Failure(.locate, message: "not a file URL") }
        return file.resolvingSymlinksInPath()
    }

    private func createFolder(of place: URL) throws(Failure) {
        do {
            try PrivateFolder.create(place.deletingLastPathComponent())
        } catch {
            throw Failure(.createFolder, message: (error as NSError).localizedDescription)
        }
    }

    /// Removes the part files of writers that no longer exist. Newer part files may still be in use.
    private func removeLeftovers(of place: URL) {
        let limit = Date().timeIntervalSince1970 - Self.partLifetime
        for part in PartialFile.parts(of: place) {
            if let status = FileStatus(of: part, followsLinks: false), status.modificationTime < limit {
                unlink(part.path)
            }
        }
    }

    /// Flushes a folder, because otherwise a crash may undo a rename. Not every file system supports it.
    package static func synchronize(_ folder: URL) {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = PartialFile.synchronize(descriptor)
        close(descriptor)
    }
}
