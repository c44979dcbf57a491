// SPDX-License-Identifier: MIT

/// A new file that is removed with its last reference unless it was moved to its destination, so that no incomplete
/// file is visible there.
///
/// Where the system supports it, a replacement file has no name until it is moved, so a killed process leaves nothing
/// behind. Otherwise, it has a temporary name and is locked while in use.
package final class PartialFile: Sendable {
    /// The number of bytes of the final name at the beginning of the hidden name. Most file systems limit a name to 255
    /// bytes.
    private static let prefixSize = 40

    /// The time without changes after which an unlocked file with a temporary name is removed. A file in use is
    /// unlocked for an instant between writing and moving.
    package static let leftoverAge: TimeInterval = 60

    /// The temporary name. A file without a name has it only for an instant when it is moved.
    package let url: URL
    private let descriptor: Int32
    private let isNamed: Bool
    /// Whether the file gets the usual permissions of a new file when it is moved. Until then, only its user can read it.
    private let isNew: Bool

    /// Creates a file beside the file that it will replace, so that moving it is atomic, and with that file's
    /// permissions. Without such a file, it is private until it is moved.
    ///
    /// - Parameters:
    ///   - isNamed: Whether the file has a name, even where the system supports files without a name.
    ///   - isPrivate: Whether only this user can read a new file even after it is moved.
    package convenience init(
        replacing url: URL,
        isNamed: Bool = false,
        isPrivate: Bool = false
    ) throws(URLError) {
        guard url.isFileURL else {
            throw URLError(.cannotCreateFile, message: "\(url.scheme ?? "") isn't the scheme of a file URL")
        }
        let mode = Self.permissions(of: url)
        let place = Self.hiddenPlace(beside: url)
        if !isNamed, let descriptor = Self.openUnnamed(in: place.deletingLastPathComponent(), mode: mode ?? 0o600) {
            self.init(place, unnamed: descriptor, isNew: mode == nil && !isPrivate)
        } else {
            try self.init(at: place, mode: mode ?? 0o600, isNew: mode == nil && !isPrivate)
            FileLock.take(descriptor)
        }
        // The old file may have permissions that the process's mask removes from new files.
        if let mode { fchmod(descriptor, mode) }
        FileProtection.allowAccessWhileLocked(self.url)
    }

    /// Creates a copy of a file that will replace another one.
    package convenience init(copying file: URL, replacing place: URL) throws {
        let source = open(file.path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw Self.failure(.cannotOpenFile, url: file) }
        defer { close(source) }
        try self.init(replacing: place)
        guard try Self.read(source, { try append($0) }) else { throw Self.failure(.cannotOpenFile, url: file) }
    }

    /// Creates a file in the system's temporary folder that only this user can read.
    package convenience init() throws(URLError) {
        let folder = FileManager.default.temporaryDirectory
        try self.init(at: folder.appendingPathComponent("targetkit.\(Self.number).part"), mode: 0o600)
    }

    /// Creates a file beside another one, with its own permissions.
    convenience init(beside url: URL, mode: mode_t) throws(URLError) {
        try self.init(at: Self.hiddenPlace(beside: url), mode: mode)
    }

    private init(_ url: URL, unnamed descriptor: Int32, isNew: Bool) {
        self.url = url
        self.descriptor = descriptor
        self.isNew = isNew
        isNamed = false
    }

    private init(at url: URL, mode: mode_t, isNew: Bool = false) throws(URLError) {
        self.url = url
        self.isNew = isNew
        isNamed = true
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Self.failureToCreate(in: url.deletingLastPathComponent()) }
    }

    deinit {
        if descriptor >= 0 {
            remove()
            FileLock.release(descriptor)
        }
    }

    /// Creates an empty file with the permissions of the file to replace, if that file isn't readable by everyone. A
    /// ``PartialFile`` that replaces the empty file also has them.
    ///
    /// Does nothing on failure, because writing the file then reports it.
    package static func reserve(_ place: URL, replacing url: URL) {
        guard let mode = permissions(of: url), mode & 0o044 != 0o044 else { return }
        let descriptor = open(place.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return }
        fchmod(descriptor, mode)
        close(descriptor)
    }

    /// The permissions of a regular file; `nil` if there is none.
    private static func permissions(of url: URL) -> mode_t? {
        FileStatus(of: url).flatMap { $0.isRegular ? $0.permissions : nil }
    }

    /// A new hidden file name in the file's folder. If the file already has a hidden name, the new name is for the same
    /// final name.
    package static func hiddenPlace(beside file: URL) -> URL {
        let prefix = prefix(ofPart: file.lastPathComponent) ?? hiddenPrefix(beside: file)
        return file.deletingLastPathComponent().appendingPathComponent(prefix + "\(number).part")
    }

    /// The beginning of a hidden name; `nil` for another name.
    private static func prefix(ofPart name: String) -> String? {
        guard name.hasPrefix("."), name.hasSuffix(".part") else { return nil }
        let stem = name.dropLast(".part".count)
        guard let dot = stem.dropFirst().lastIndex(of: "."), UInt64(stem[stem.index(after: dot)...], radix: 36) != nil
        else { return nil }
        return String(stem[...dot])
    }

    /// Whether ``hiddenPlace(beside:)`` can return the name.
    static func isName(_ name: String, ofPartOf file: URL) -> Bool {
        let prefix = hiddenPrefix(beside: file)
        guard name.hasPrefix(prefix), name.hasSuffix(".part") else { return false }
        return UInt64(name.dropFirst(prefix.count).dropLast(".part".count), radix: 36) != nil
    }

    /// The beginning of the hidden names for a file.
    package static func hiddenPrefix(beside file: URL) -> String {
        var prefix = ""
        for character in file.lastPathComponent {
            guard prefix.utf8.count + character.utf8.count <= prefixSize else { break }
            prefix.append(character)
        }
        return ".\(prefix)."
    }

    private static var number: String { String(UInt64.random(in: .min ... .max), radix: 36) }

    /// Removes the file. Has no effect after the file was moved.
    package func remove() {
        if isNamed { unlink(url.path) }
    }

    /// Appends bytes.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(URLError) {
        guard Self.write(bytes, to: descriptor) else { throw Self.failure(.cannotWriteToFile, url: url) }
    }

    /// Appends bytes.
    package func append(_ bytes: Data) throws(URLError) {
        guard Self.write(bytes, to: descriptor) else { throw Self.failure(.cannotWriteToFile, url: url) }
    }

    /// Passes the bytes of an open file, from a position to its end, to a closure; returns `false` on failure, with the
    /// reason in `errno`.
    package static func read(
        _ descriptor: Int32,
        from position: Int64 = 0,
        _ take: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { piece.deallocate() }
        var position = position
        while true {
            let count = pread(descriptor, piece.baseAddress, piece.count, off_t(position))
            if count == 0 { return true }
            if count > 0 {
                try take(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            } else if errno != EINTR {
                return false
            }
            position += Int64(max(0, count))
        }
    }

    /// Writes all bytes to an open file; returns `false` on failure, with the reason in `errno`.
    ///
    /// - Parameter position: Where to write; `nil` for the current position.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at position: Int64? = nil) -> Bool
    {
        var rest = bytes[...]
        while !rest.isEmpty {
            let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress
            let count =
                if let position {
                    pwrite(descriptor, start, rest.count, off_t(position) + off_t(rest.startIndex))
                } else {
                    Foundation.write(descriptor, start, rest.count)
                }
            if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return false }
        }
        return true
    }

    /// Writes all bytes to an open file; returns `false` on failure, with the reason in `errno`.
    package static func write(_ bytes: Data, to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { write($0, to: descriptor) }
    }

    /// Replaces a file that only one process writes at a time, using a file with a fixed name beside it. Returns the
    /// open file; `nil` on failure.
    package static func replace(_ file: URL, by bytes: UnsafeRawBufferPointer, isDurable: Bool = false) -> Int32? {
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

    /// Flushes the file to permanent storage.
    func synchronize() throws(URLError) {
        guard Self.synchronize(descriptor) else { throw Self.failure(.cannotWriteToFile, url: url) }
    }

    /// Flushes a file or folder to permanent storage; returns `false` on failure, with the reason in `errno`.
    ///
    /// On Apple platforms, `fsync` leaves the data in the drive's cache, which is lost on a power failure (fsync(2));
    /// `F_FULLFSYNC` also flushes the cache. Network volumes and some external volumes support only `fsync`.
    package static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// Moves the file to its destination, replacing an existing file.
    package func move(to place: URL) throws(URLError) {
        if isNew { fchmod(descriptor, Self.usualPermissions(in: place.deletingLastPathComponent())) }
        // A link can't replace a file.
        guard isNamed || Self.link(descriptor, to: url) else { throw Self.failure(.cannotMoveFile, url: place) }
        guard rename(url.path, place.path) == 0 else {
            let failure = Self.failure(.cannotMoveFile, url: place)
            unlink(url.path)
            throw failure
        }
    }

    /// Copies a file to a destination on another volume, replacing an existing file.
    package static func copy(_ file: URL, to place: URL) throws {
        try PartialFile(copying: file, replacing: place).move(to: place)
    }

    private static func failureToCreate(in folder: URL) -> URLError {
        let words =
            switch errno {
            case ENOENT, ENOTDIR: "the folder \(folder.path) doesn't exist; create it first"
            case let code: "no file can be created in the folder \(folder.path): \(String(cString: strerror(code)))"
            }
        return URLError(.cannotCreateFile, message: words)
    }

    /// The error of a failed operation, with the reason in `errno`.
    package static func failure(_ code: URLError.Code, url: URL) -> URLError {
        URLError(code, message: "\(url.path): \(String(cString: strerror(errno)))")
    }
}

extension URLError {
    package init(_ code: Code, message: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: message])
    }

    package var message: String { userInfo[NSLocalizedDescriptionKey] as? String ?? "" }
}
