// SPDX-License-Identifier: MIT

/// A request body that is read from a regular file.
///
/// The size is read when the source is created, because `Content-Length` is sent before the first byte. If the size
/// differs when the file is opened or sent, sending fails.
struct FileBodySource: BodySource {
    /// The URL of the file.
    let url: URL
    /// The file's size in bytes when the source was created; never `nil`.
    let length: Int64?

    /// Creates a source for the file at the URL, following links.
    ///
    /// - Throws: A `URLError` whose ``TargetKitError/kind`` is `.unreadableFile`. Its message has the file, the problem
    ///   and a remedy.
    init(_ url: URL) throws(URLError) {
        self.url = url
        length = try FileBodyReader(url).length
    }

    /// Opens the file. Releasing the reader closes it.
    ///
    /// - Throws: A `URLError`, also if the file's size differs from ``length``.
    func open() throws -> any BodyReader {
        let reader = try FileBodyReader(url)
        if let length { try reader.expect(length) }
        return reader
    }
}

/// Reads a regular file to the size that it has when it is opened.
private final class FileBodyReader: BodyReader {
    private let path: String
    private let descriptor: Int32
    private(set) var length: Int64 = 0
    private var position: Int64 = 0

    init(_ url: URL) throws(URLError) {
        path = url.path
        // The system ends a path at a NUL, and would open another file.
        guard url.isFileURL, !path.isEmpty, !path.utf8.contains(0) else {
            let text = RedactedURL.inside(url.absoluteString).debugDescription
            throw URLError(.cannotOpenFile, message: "\(text) isn't a file URL; use URL(fileURLWithPath:)")
        }
        // With O_NONBLOCK, opening a pipe without a writer doesn't wait. It has no effect on a regular file.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(errno) }
        length = try size()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard position < length, !buffer.isEmpty else { return 0 }
        let wanted = Int(min(length - position, Int64(buffer.count)))
        let count = try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
        position += Int64(count)
        guard count == wanted else { throw changedSize(to: position, from: length) }
        // Checked with the last bytes, because a transport that knows the length doesn't read again.
        if position == length { try expect(length) }
        return count
    }

    /// Checks that the file still has its declared size.
    func expect(_ declared: Int64) throws(URLError) {
        let size = try size()
        guard size == declared else { throw changedSize(to: size, from: declared) }
    }

    private func size() throws(URLError) -> Int64 {
        guard let status = FileStatus(of: descriptor) else { throw failure(errno) }
        guard status.isRegular else { throw notARegularFile(status.isFolder ? .fileIsDirectory : .cannotOpenFile) }
        return status.size
    }

    /// Fills the buffer, and returns the number of bytes read, less than the buffer's size only at the end of the file.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(URLError) -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        var filled = 0
        while filled < buffer.count {
            // Darwin reads at most Int32.max bytes at once.
            let count = Foundation.read(descriptor, start + filled, min(buffer.count - filled, 1 << 30))
            if count == 0 { break }
            if count > 0 { filled += count } else if errno != EINTR { throw failure(errno) }
        }
        return filled
    }
}

extension FileBodyReader {
    private func failure(_ code: Int32) -> URLError {
        switch code {
        case ENOENT, ENOTDIR:
            let words =
                "the file \(path.debugDescription) doesn't exist; check its path, and don't remove it before it is sent"
            return URLError(.fileDoesNotExist, message: words)
        // A socket.
        case ENXIO: return notARegularFile(.cannotOpenFile)
        default:
            let reason = String(cString: strerror(code))
            return URLError(
                code == EACCES ? .noPermissionsToReadFile : .cannotOpenFile,
                message: "the file \(path.debugDescription) can't be read (\(reason)); check its permissions"
            )
        }
    }

    private func notARegularFile(_ code: URLError.Code) -> URLError {
        let words = "\(path.debugDescription) isn't a regular file; use a file instead of a folder, pipe or device"
        return URLError(code, message: words)
    }

    private func changedSize(to size: Int64, from declared: Int64) -> URLError {
        let words =
            "the file \(path.debugDescription) changed size from \(declared) to \(size) bytes before it was sent; "
            + "send a copy that doesn't change"
        return URLError(.cannotOpenFile, message: words)
    }
}
