// SPDX-License-Identifier: MIT

// MARK: - Before the request

extension DownloadDestination {
    /// Checks the destination before a request is sent, and creates missing folders.
    package func check() throws {
        try fileCheck?.check()
        switch location {
        case .file(let file):
            try Self.checkFile(file)
            let folder = file.resolvingSymlinksInPath().deletingLastPathComponent()
            try Self.createFolder(folder)
            try Self.checkWriting(in: folder)
            if existingFile == .keep, FileStatus(of: file, followsLinks: false) != nil {
                throw DownloadFailure.fileExists(path: file.path)
            }
        case .folder(let folder):
            guard folder.isFileURL else { throw InvalidRequest.notAFile(path: RedactedURL(folder).description) }
            try Self.createFolder(folder)
            try Self.checkWriting(in: folder)
        case .chosen: break
        }
    }

    /// Checks that files can be created in a folder, for example that its file system isn't read-only.
    private static func checkWriting(in folder: URL) throws(InvalidRequest) {
        guard access(folder.path, W_OK | X_OK) != 0 else { return }
        throw .unwritableFolder(path: folder.path, reason: String(cString: strerror(errno)))
    }

    /// Checks a file that will be created or replaced.
    private static func checkFile(_ file: URL) throws(InvalidRequest) {
        guard file.isFileURL else { throw .notAFile(path: RedactedURL(file).description) }
        guard let status = FileStatus(of: file) else {
            // A broken link, or a link that the system doesn't follow because another user created it in a shared
            // folder.
            if FileStatus(of: file, followsLinks: false) != nil { throw .notAFile(path: file.path) }
            return
        }
        // Renaming would replace a pipe or a device with a file.
        guard status.isRegular else { throw .notAFile(path: file.path) }
    }

    private static func createFolder(_ folder: URL) throws(InvalidRequest) {
        if let status = FileStatus(of: folder), status.isFolder { return }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw .missingFolder(path: folder.path, reason: reason(of: folder))
        }
    }

    /// The reason why a folder can't be created in its nearest existing ancestor, for example because its file system
    /// is read-only.
    private static func reason(of folder: URL) -> String? {
        var parent = folder.deletingLastPathComponent()
        while parent.path.count > 1, FileStatus(of: parent) == nil { parent = parent.deletingLastPathComponent() }
        guard access(parent.path, W_OK | X_OK) != 0 else { return nil }
        return String(cString: strerror(errno))
    }

    /// The file to replace, after resolving a symbolic link; `nil` if its name isn't known before the response.
    package var replacedFile: URL? {
        guard case .file(let file) = location else { return nil }
        return file.resolvingSymlinksInPath()
    }

    /// The file that determines the name of the incomplete file, and its folder, on the destination's volume if it is
    /// known.
    package var partNeighbor: URL { neighbor ?? Self.unnamed }

    private var neighbor: URL? {
        switch location {
        case .file: replacedFile
        case .folder(let folder): folder.appendingPathComponent("download")
        case .chosen: nil
        }
    }

    /// A file without a destination is in a private folder, because other users could read it in a shared folder.
    private static var unnamed: URL {
        let folder = PrivateFolder.standard(named: "TargetKit.downloads") ?? FileManager.default.temporaryDirectory
        return folder.appendingPathComponent("download")
    }
}

// MARK: - The complete file

extension DownloadDestination {
    /// The number of names that ``DownloadDestination/ExistingFile/number`` tries.
    private static let lastNumber = 10_000
    /// The length of the longest file name that all systems allow, in bytes.
    private static let nameSize = 255

    /// Moves the complete file to its destination, and returns the destination.
    ///
    /// - Parameters:
    ///   - name: The server's name for the file, without path components.
    ///   - commit: Decides whether a cancellation precedes the move.
    func take(_ part: URL, head: ResponseHead, name: String, by commit: DownloadCommit) throws -> URL {
        let file: URL
        switch location {
        case .file(let known): file = known
        case .chosen(let choose): file = try choose(head, name)
        case .folder(let folder):
            let place = folder.appendingPathComponent(name, isDirectory: false)
            return try move(part, to: place, followsLinks: false, by: commit)
        }
        // The link may be new.
        try Self.checkFile(file)
        let place = file.resolvingSymlinksInPath()
        if case .chosen = location { try Self.createFolder(place.deletingLastPathComponent()) }
        let taken = try move(part, to: place, followsLinks: true, by: commit)
        return taken == place ? file : taken
    }

    private func move(_ part: URL, to place: URL, followsLinks: Bool, by commit: DownloadCommit) throws -> URL {
        let old = FileStatus(of: place, followsLinks: followsLinks)
        let isReplaced = existingFile == .replace && old?.isRegular == true
        // Until now, only this user could read the file.
        let usual = isReplaced ? nil : PartialFile.usualPermissions(beside: place)
        if let mode = usual ?? old?.permissions { chmod(part.path, mode) }
        switch existingFile {
        case .replace:
            if let old, !old.isRegular, !old.isLink { throw InvalidRequest.notAFile(path: place.path) }
            try Self.rename(part, to: place, by: commit)
            return place
        case .keep:
            guard try Self.rename(part, toFree: place, by: commit) else {
                throw DownloadFailure.fileExists(path: place.path)
            }
            return place
        case .number:
            for number in 1...Self.lastNumber {
                let candidate = number == 1 ? place : Self.numbered(place, number: number)
                if try Self.rename(part, toFree: candidate, by: commit) { return candidate }
            }
            throw DownloadFailure.fileExists(path: place.path)
        }
    }

    /// Moves the file, unless the name is taken.
    private static func rename(_ part: URL, toFree place: URL, by commit: DownloadCommit) throws -> Bool {
        var code: Int32 = 0
        // With a hard link, no other process can see or use the name before the file has it. Some file systems don't
        // support hard links.
        let isLinked = try commit.perform {
            if link(part.path, place.path) == 0 { return true }
            code = errno
            return false
        }
        if isLinked {
            unlink(part.path)
            return true
        }
        guard code != EEXIST, try reserve(place) else { return false }
        do {
            try rename(part, to: place, by: commit)
        } catch {
            unlink(place.path)
            throw error
        }
        return true
    }

    /// Creates an empty file, so that another process can't take the name; returns `false` if it is taken.
    private static func reserve(_ place: URL) throws -> Bool {
        // O_EXCL doesn't follow a symbolic link.
        let descriptor = open(place.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            if errno == EEXIST { return false }
            throw failure(to: place, code: errno)
        }
        close(descriptor)
        return true
    }

    private static func rename(_ part: URL, to place: URL, by commit: DownloadCommit) throws {
        var code: Int32 = 0
        let isMoved = try commit.perform {
            if Foundation.rename(part.path, place.path) == 0 { return true }
            code = errno
            return false
        }
        if isMoved { return }
        // A chosen file can be on another volume.
        guard code == EXDEV else { throw failure(to: place, code: code) }
        let copy = try PartialFile(copying: part, beside: place)
        _ = try commit.perform {
            try copy.move(to: place)
            return true
        }
        PartialFile.removeLeftovers(of: place)
        unlink(part.path)
    }

    /// The numbered name, such as `report 2.pdf` for `report.pdf`.
    static func numbered(_ place: URL, number: Int) -> URL {
        let name = place.lastPathComponent
        // A leading dot doesn't start an extension.
        let dot = name.dropFirst().lastIndex(of: ".")
        var stem = String(name[..<(dot ?? name.endIndex)])
        let rest = " \(number)" + (dot.map { String(name[$0...]) } ?? "")
        while stem.utf8.count + rest.utf8.count > nameSize, !stem.isEmpty { stem.removeLast() }
        return place.deletingLastPathComponent().appendingPathComponent(stem + rest, isDirectory: false)
    }

    private static func failure(to place: URL, code: Int32) -> URLError {
        URLError(.cannotMoveFile, message: "\(place.path): \(String(cString: strerror(code)))")
    }
}
