// SPDX-License-Identifier: MIT

/// Reads a file with a declared size.
final class FileBodyReader: BodyReader {
    private let file: OpenedFile
    private let length: Int64
    private var position: Int64 = 0

    init(path: String, length: Int64) throws(FileBodySource.Failure) {
        file = try OpenedFile(path: path)
        self.length = length
        try checkSize()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard position < length, !buffer.isEmpty else { return 0 }
        let wanted = Int(min(length - position, Int64(buffer.count)))
        let count = try file.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
        position += Int64(count)
        guard count == wanted else {
            throw FileBodySource.Failure.changedSize(path: file.path, expected: length, found: position)
        }
        // Checked with the last bytes, because a transport that knows the length doesn't read again.
        if position == length { try checkSize() }
        return count
    }

    private func checkSize() throws(FileBodySource.Failure) {
        let size = try file.size()
        guard size == length else { throw .changedSize(path: file.path, expected: length, found: size) }
    }
}

/// A file that is open for reading until the value is deinitialized.
struct OpenedFile: ~Copyable {
    let path: String
    private let descriptor: Int32

    init(path: String) throws(FileBodySource.Failure) {
        // With O_NONBLOCK, opening a pipe without a writer doesn't wait. It has no effect on a regular file.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(path: path, code: errno) }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        _ = close(descriptor)
    }

    /// Returns the current size in bytes; throws if it isn't a regular file.
    func size() throws(FileBodySource.Failure) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure(path: path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile(path: path) }
        return Int64(status.st_size)
    }

    /// Fills the buffer, and returns the number of bytes read, less than the buffer's size only at the end of the file.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(FileBodySource.Failure) -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        var filled = 0
        while filled < buffer.count {
            // Darwin reads at most Int32.max bytes at once.
            let count = read(descriptor, start + filled, min(buffer.count - filled, 1 << 30))
            if count == 0 { break }
            if count > 0 {
                filled += count
            } else if errno != EINTR {
                throw Self.failure(path: path, code: errno)
            }
        }
        return filled
    }

    private static func failure(path: String, code: Int32) -> FileBodySource.Failure {
        switch code {
        case ENOENT, ENOTDIR: .missing(path: path)
        case EISDIR, ENXIO: .notARegularFile(path: path)
        default: .unreadable(path: path, code: code)
        }
    }
}
