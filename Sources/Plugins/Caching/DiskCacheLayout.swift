// SPDX-License-Identifier: MIT
import Foundation
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

    func path(_ folder: Int, _ name: String) -> String { self.folder(folder) + "/" + name }

    /// The number of the folder for a URL's digest.
    func folderNumber(of digest: String) -> Int { (Int(digest.prefix(3), radix: 16) ?? 0) & 0x3FF }

    /// The names of the responses in a folder.
    func names(in folder: Int) -> [String] { Self.names(in: self.folder(folder)).filter(Self.isName) }

    /// Whether a name is one of a response: digests of 32, 16 and 16 digits.
    private static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.count == 66 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            if index == 32 || index == 49 { return byte == UInt8(ascii: "-") }
            return (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
        }
    }

    /// The names in a folder that is not a link.
    static func names(in folder: String) -> [String] {
        let descriptor = Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

extension DiskCacheLayout {
    /// Creates what is missing, and returns the salt. A new salt makes all responses unreachable, so they are removed.
    func open() throws(CacheFailure) -> CacheSalt {
        do {
            try PrivateFolder.create(URL(filePath: root))
        } catch {
            throw CacheFailure(message: (error as NSError).localizedDescription)
        }
        guard let status = FileStatus(of: URL(filePath: root)), status.isFolder, status.isOwn else {
            throw CacheFailure(message: "\(root): not a folder of this user")
        }
        if !status.isPrivateFolder, chmod(root, 0o700) != 0 { throw CacheFailure("cannot protect", root) }
        guard mkdir(parts, 0o700) == 0 || errno == EEXIST else { throw CacheFailure("cannot create", parts) }
        for _ in 0..<3 {
            switch CacheEntryFile.contents(of: saltFile) {
            case .contents(let bytes) where bytes.count == CacheSalt.size: return CacheSalt(bytes)
            case .contents, .notAFile: CacheEntryFile.remove(saltFile)
            // It exists, or another process has just created it.
            case .unavailable where FileStatus(of: URL(filePath: saltFile)) != nil: continue
            case .unavailable: break
            }
            removeResponses()
            try createSalt()
        }
        throw CacheFailure(message: "\(saltFile): cannot be read")
    }

    private func createSalt() throws(CacheFailure) {
        let part = try TemporaryCacheFile(in: parts)
        try part.write(Data(CacheSalt.random().bytes))
        // Unlike a rename, it does not replace the salt that another process has just created.
        guard link(part.path, saltFile) == 0 || errno == EEXIST else { throw CacheFailure("cannot create", saltFile) }
    }

    private func removeResponses() {
        for folder in 0..<DiskCache.folderCount {
            for name in names(in: folder) { CacheEntryFile.remove(path(folder, name)) }
        }
    }

    /// Removes the temporary files of processes that have ended: those that no process has locked.
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

/// A temporary file, locked as long as its process writes it, and removed with its last reference.
final class TemporaryCacheFile: Sendable {
    let path: String
    private let descriptor: Int32

    init(in folder: String) throws(CacheFailure) {
        path = folder + "/" + String(UInt64.random(in: .min ... .max), radix: 36) + Self.suffix
        descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CacheFailure("cannot create a file in", folder) }
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
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
        guard PartialFile.write(data, to: descriptor) else { throw CacheFailure("cannot write", path) }
    }
}

/// The file of a response. Another kind of file under its name is detected and removed.
enum CacheEntryFile {
    enum Contents {
        case contents([UInt8])
        /// A link, a pipe, a folder, or a file that does not belong to this user.
        case notAFile
        /// There is none, or it cannot be read now.
        case unavailable
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - limit: The greatest number of bytes to read; default: all.
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

    /// Writes a file at once.
    static func write(_ data: Data, to path: String, in layout: DiskCacheLayout, _ folder: Int) throws(CacheFailure) {
        let part = try TemporaryCacheFile(in: layout.parts)
        try part.write(data)
        if rename(part.path, path) == 0 { return }
        // The folder does not exist, or the name belongs to a folder.
        let folder = layout.folder(folder)
        if errno == ENOENT || errno == ENOTDIR {
            if errno == ENOTDIR { unlink(folder) }
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw CacheFailure("cannot create", folder) }
        } else {
            remove(path)
        }
        guard rename(part.path, path) == 0 else { throw CacheFailure("cannot write", path) }
    }

    /// Removes a file, a link, a pipe or an empty folder. Returns whether it existed.
    @discardableResult
    static func remove(_ path: String) -> Bool {
        if unlink(path) == 0 { return true }
        // Linux returns EISDIR for a folder, and POSIX specifies EPERM.
        return (errno == EISDIR || errno == EPERM) && rmdir(path) == 0
    }

    static func modificationTime(of path: String) -> Double {
        FileStatus(of: path)?.modificationTime ?? 0
    }
}
