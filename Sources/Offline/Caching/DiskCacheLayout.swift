// SPDX-License-Identifier: MIT
import TargetKit

/// The files and folders of a cache: `salt`, the temporary files in `parts`, and the responses in `000` to `3ff`.
struct DiskCacheLayout: Sendable {
    let root: String

    init(_ folder: URL) {
        root = folder.standardizedFileURL.path
    }

    var parts: String { root + "/parts" }
    private var saltFile: String { root + "/salt" }

    func folder(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return root + "/" + String(repeating: "0", count: 3 - digits.count) + digits
    }

    func path(_ folder: Int, name: String) -> String { self.folder(folder) + "/" + name }

    /// The number of the folder for a URL's digest.
    func folderNumber(of digest: String) -> Int { (Int(digest.prefix(3), radix: 16) ?? 0) & 0x3FF }

    /// The names of the responses in a folder.
    func names(in folder: Int, startingWith prefix: String = "") -> [String] {
        var names: [String] = []
        let length = prefix.utf8.count
        Self.forEachName(in: self.folder(folder)) { name, _ in
            if strncmp(name, prefix, length) == 0, Self.isName(name) { names.append(String(cString: name)) }
        }
        return names
    }

    /// The part of a response's file name that contains its recency.
    static func recency(of name: String) -> Substring { name.suffix(CacheRecency.textLength) }

    /// Calls a closure with the name and status of each response in a folder. Both are read on demand.
    func forEachResponse(in folder: Int, body: (_ name: () -> String, _ status: () -> FileStatus?) -> Void) {
        Self.forEachName(in: self.folder(folder)) { name, descriptor in
            guard Self.isName(name) else { return }
            body({ String(cString: name) }, { FileStatus(of: name, in: descriptor) })
        }
    }

    /// Whether a name is the file name of a response: digests of 32, 16 and 16 digits, and the recency.
    private static func isName(_ name: UnsafePointer<CChar>) -> Bool {
        var index = 0
        while name[index] != 0 {
            let byte = UInt8(bitPattern: name[index])
            let isValid =
                switch index {
                case 32, 49, 66: byte == UInt8(ascii: "-")
                default: (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
                }
            guard isValid else { return false }
            index += 1
        }
        return index == nameLength
    }

    static let nameLength = 67 + CacheRecency.textLength

    /// The names in a folder that isn't a link.
    private static func names(in folder: String) -> [String] {
        var names: [String] = []
        forEachName(in: folder) { name, _ in names.append(String(cString: name)) }
        return names.filter { $0 != "." && $0 != ".." }
    }

    /// Calls a closure with each name in a folder that isn't a link, and the folder's descriptor.
    private static func forEachName(in folder: String, body: (UnsafePointer<CChar>, Int32) -> Void) {
        let descriptor = Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    body($0, descriptor)
                }
            }
        }
    }
}

extension DiskCacheLayout {
    /// Creates missing files and folders, and returns the salt. A new salt makes all responses unreachable, so they are
    /// removed.
    ///
    /// - Parameter known: The salt of a folder that was opened before and may have been deleted; default `nil`.
    func open(_ known: CacheSalt? = nil) throws(CacheFailure) -> CacheSalt {
        if let known, FileStatus(of: parts) != nil, case .contents(let bytes) = CacheEntryFile.contents(of: saltFile),
            bytes == known.bytes
        {
            return known
        }
        do {
            try PrivateFolder.create(URL(filePath: root))
        } catch {
            throw CacheFailure(message: (error as NSError).localizedDescription)
        }
        guard let status = FileStatus(of: URL(filePath: root)), status.isFolder, status.isOwn else {
            throw CacheFailure(message: "\(root): the folder doesn't belong to this user")
        }
        if !status.isPrivateFolder, chmod(root, 0o700) != 0 { throw CacheFailure("cannot protect", path: root) }
        guard mkdir(parts, 0o700) == 0 || errno == EEXIST else { throw CacheFailure("cannot create", path: parts) }
        // Files that can't be removed aren't used.
        guard access(parts, W_OK) == 0 else { throw CacheFailure("can't write to", path: parts) }
        for _ in 0..<3 {
            switch CacheEntryFile.contents(of: saltFile) {
            case .contents(let bytes) where bytes.count == CacheSalt.size: return CacheSalt(bytes)
            case .contents, .notAFile: CacheEntryFile.remove(saltFile)
            // The file exists, or another process has just created it.
            case .unavailable where FileStatus(of: URL(filePath: saltFile)) != nil: continue
            case .unavailable: break
            }
            let unreachable = known == nil ? responses : []
            if try createSalt(known ?? .random()) { for path in unreachable { CacheEntryFile.remove(path) } }
        }
        throw CacheFailure(message: "\(saltFile): can't be read")
    }

    /// Returns whether this process created the salt, rather than another one.
    private func createSalt(_ salt: CacheSalt) throws(CacheFailure) -> Bool {
        let part = try TemporaryCacheFile(in: parts)
        try part.write(Data(salt.bytes))
        // Unlike a rename, a link doesn't replace a salt that another process has just created. The file is removed
        // with its last reference.
        let code = withExtendedLifetime(part) { link(part.path, saltFile) == 0 ? 0 : errno }
        guard code == 0 || code == EEXIST else { throw CacheFailure("cannot create", path: saltFile, code: code) }
        return code == 0
    }

    /// The paths of all responses.
    private var responses: [String] {
        (0..<DiskCache.folderCount).flatMap { folder in names(in: folder).map { path(folder, name: $0) } }
    }

    /// Removes the temporary files that no process has locked, because their processes have ended.
    func removeLeftovers() {
        for name in Self.names(in: parts) where TemporaryCacheFile.isName(name) {
            let path = parts + "/" + name
            let descriptor = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else {
                if errno == ELOOP { CacheEntryFile.remove(path) }
                continue
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { CacheEntryFile.remove(path) }
            close(descriptor)
        }
    }
}

/// A temporary file, which is locked while its process writes it, and removed with its last reference.
final class TemporaryCacheFile: Sendable {
    let path: String
    private let descriptor: Int32

    init(in folder: String) throws(CacheFailure) {
        while true {
            let path = folder + "/" + String(UInt64.random(in: .min ... .max), radix: 36) + Self.suffix
            let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw CacheFailure("can't create a file in", path: folder) }
            // Before the file was locked, another process may have removed it as a leftover.
            let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
            if isLocked, FileStatus(of: path) != nil {
                (self.path, self.descriptor) = (path, descriptor)
                return
            }
            close(descriptor)
        }
    }

    deinit {
        if descriptor >= 0 {
            unlink(path)
            close(descriptor)
        }
    }

    private static let suffix = ".part"

    static func isName(_ name: String) -> Bool { name.hasSuffix(suffix) }

    func write(_ data: Data) throws(CacheFailure) {
        guard PartialFile.write(data, to: descriptor) else { throw CacheFailure("cannot write", path: path) }
    }
}

/// The file of a response. Any other kind of file with its name is detected and removed.
enum CacheEntryFile {
    enum Contents {
        case contents([UInt8])
        /// A link, a pipe, a folder, or a file that doesn't belong to this user.
        case notAFile
        /// The file doesn't exist, or can't be read now.
        case unavailable
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes to read; default: all.
    ///   - interval: Sets the modification time to the current time if it is older than this, in seconds.
    static func contents(of path: String, limit: Int = .max, noteUseAfter interval: Double? = nil) -> Contents {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ELOOP || errno == EMLINK ? .notAFile : .unavailable }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor), status.isRegular, status.isOwn else { return .notAFile }
        if let interval, Date().timeIntervalSince1970 - status.modificationTime > interval { futimens(descriptor, nil) }
        let size = Int(min(status.size, Int64(limit)))
        var isRead = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = 0
            while count < size {
                let piece = Foundation.read(descriptor, buffer.baseAddress?.advanced(by: count), size - count)
                if piece > 0 {
                    count += piece
                } else if piece == 0 {
                    break
                } else if errno != EINTR {
                    isRead = false
                    break
                }
            }
        }
        return isRead ? .contents(bytes) : .unavailable
    }

    /// Replaces a file atomically.
    static func write(_ data: Data, to path: String, in layout: DiskCacheLayout, _ folder: Int) throws(CacheFailure) {
        let part = try TemporaryCacheFile(in: layout.parts)
        try part.write(data)
        // The file is removed with its last reference.
        defer { withExtendedLifetime(part) {} }
        if rename(part.path, path) == 0 { return }
        // The folder doesn't exist, or a folder has this name.
        let folder = layout.folder(folder)
        if errno == ENOENT || errno == ENOTDIR {
            if errno == ENOTDIR { unlink(folder) }
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
                throw CacheFailure("cannot create", path: folder)
            }
        } else {
            remove(path)
        }
        guard rename(part.path, path) == 0 else { throw CacheFailure("cannot write", path: path) }
    }

    /// Removes a file, a link, a pipe or an empty folder. Returns whether it existed.
    @discardableResult
    static func remove(_ path: String) -> Bool {
        if unlink(path) == 0 { return true }
        // Linux returns EISDIR for a folder, and POSIX specifies EPERM.
        return (errno == EISDIR || errno == EPERM) && rmdir(path) == 0
    }

    /// Sets the modification time to the current time.
    static func noteUse(_ path: String) { utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) }

    static func modificationTime(of path: String) -> Double {
        FileStatus(of: path)?.modificationTime ?? 0
    }
}
