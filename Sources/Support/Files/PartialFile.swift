// SPDX-License-Identifier: MIT

/// A new file that is removed with its last reference unless it was moved to its destination, so that no incomplete
/// file is visible there. Only this user can read it. It has a hidden name, and is locked while in use, so that the
/// file of a killed process can be recognized.
package final class PartialFile: Sendable {
    /// The number of bytes of the final name at the beginning of the hidden name. Most file systems limit a name to 255
    /// bytes.
    private static let prefixSize = 40

    /// The time without changes after which an unlocked hidden file is removed. A transport can replace the locked file.
    package static let leftoverAge: TimeInterval = 60

    package let url: URL
    package let descriptor: Int32
    private let isTemporary: Bool

    /// Creates a file beside the file that it will replace, so that moving it is atomic.
    package convenience init(beside url: URL) throws(URLError) {
        try self.init(at: Self.hiddenPlace(beside: url))
    }

    /// Creates a copy of a file, with its permissions, beside the file that it will replace.
    package convenience init(copying file: URL, beside place: URL) throws {
        let source = open(file.path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw Self.failure(.cannotOpenFile, url: file) }
        defer { close(source) }
        try self.init(beside: place)
        FileProtection.allowAccessWhileLocked(url)
        guard try Self.read(source, { try append($0) }) else { throw Self.failure(.cannotOpenFile, url: file) }
        if let mode = FileStatus(of: source)?.permissions { fchmod(descriptor, mode) }
    }

    /// Creates a file in the system's temporary folder.
    package convenience init() throws(URLError) {
        let folder = FileManager.default.temporaryDirectory
        try self.init(at: folder.appendingPathComponent("targetkit.\(Self.number).part"))
    }

    /// Opens the file of a response's body, without its old contents. It is created if necessary. Its owner moves or
    /// removes it.
    package convenience init(writing url: URL) throws(URLError) {
        guard url.isFileURL else {
            throw URLError(.cannotCreateFile, message: "\(url.scheme ?? "") isn't the scheme of a file URL")
        }
        // With O_NONBLOCK, opening a pipe without a reader fails instead of waiting. With O_NOFOLLOW, a link that another
        // user put in the place of the file is an error.
        try self.init(url, flags: O_TRUNC | O_NONBLOCK | O_NOFOLLOW, mode: 0o666, isTemporary: false)
    }

    private convenience init(at url: URL) throws(URLError) {
        try self.init(url, flags: O_EXCL, mode: 0o600, isTemporary: true)
        FileLock.take(descriptor)
    }

    private init(_ url: URL, flags: Int32, mode: mode_t, isTemporary: Bool) throws(URLError) {
        self.url = url
        self.isTemporary = isTemporary
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode)
        guard descriptor >= 0 else { throw Self.failureToCreate(in: url.deletingLastPathComponent()) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        if isTemporary { remove() }
        FileLock.release(descriptor)
    }

    /// A new hidden file name in the file's folder.
    package static func hiddenPlace(beside file: URL) -> URL {
        file.deletingLastPathComponent().appendingPathComponent(hiddenPrefix(beside: file) + "\(number).part")
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
        unlink(url.path)
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

    /// Moves the file to its destination, replacing an existing file.
    package func move(to place: URL) throws(URLError) {
        guard rename(url.path, place.path) == 0 else { throw Self.failure(.cannotMoveFile, url: place) }
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
