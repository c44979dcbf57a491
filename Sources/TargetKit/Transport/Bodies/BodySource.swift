// SPDX-License-Identifier: MIT

/// A request body that is read while it is sent, and again from its start after a redirect, a retry, or a lost
/// connection.
public protocol BodySource: Sendable {
    /// The number of bytes in the body; `nil` if unknown, which sends the body in chunks.
    var length: Int64? { get }

    /// Opens a reader at the first byte, independent of other readers.
    ///
    /// - Throws: An error, for example for a missing file.
    func open() throws -> any BodyReader
}

extension BodySource {
    /// Opens a reader, and passes chunks of up to 64 KiB to the closure, until the end or an error.
    package func readAll(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        let reader = try open()
        try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            while true {
                let count = try reader.read(into: buffer)
                guard count > 0 else { return }
                // A custom reader may return too high a count.
                try take(UnsafeRawBufferPointer(rebasing: buffer[..<min(count, buffer.count)]))
            }
        }
    }
}

/// Reads the bytes of an opened ``BodySource``. Used by one thread at a time.
public protocol BodyReader: AnyObject {
    /// Fills the buffer from its start, and returns the number of bytes written: at least 1, or 0 at the end.
    ///
    /// - Throws: Any error. The exchange fails with it.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// A request body that is read from a regular file.
///
/// The size is read when the source is created, because `Content-Length` is sent before the first byte. If the size
/// differs when the file is opened or sent, sending fails.
///
/// Two sources are equal if their URLs and lengths are equal.
struct FileBodySource: BodySource, Hashable {
    /// The URL of the file.
    let url: URL
    /// The file's size in bytes when the source was created; never `nil`.
    let length: Int64?

    private let size: Int64

    /// Creates a source for the file at the URL, following links.
    ///
    /// - Throws: ``Failure`` if the file can't be opened for reading or isn't a regular file.
    init(_ url: URL) throws(Failure) {
        let file = try OpenedFile(path: Self.path(of: url))
        self.url = url
        size = try file.size()
        length = size
    }

    /// Opens the file. Releasing the reader closes it.
    ///
    /// - Throws: ``Failure``, also if the file's size differs from ``length``.
    func open() throws -> any BodyReader {
        try FileBodyReader(path: Self.path(of: url), length: size)
    }

    private static func path(of url: URL) throws(Failure) -> String {
        guard url.isFileURL else { throw .notAFileURL(url.absoluteString) }
        let path = url.path
        // The system ends a path at a NUL, and would open another file.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .notAFileURL(url.absoluteString) }
        return path
    }
}

extension FileBodySource {
    /// The reason why a file can't be sent.
    enum Failure: Error, Sendable, Hashable {
        /// The URL doesn't have the scheme `file`, or has no valid path.
        case notAFileURL(String)
        /// The file doesn't exist.
        case missing(path: String)
        /// The file can't be opened or read; `code` is the `errno`.
        case unreadable(path: String, code: Int32)
        /// The path refers to a folder, pipe, socket or device.
        case notARegularFile(path: String)
        /// The size of the file changed from `expected` to `found` bytes before it was sent.
        case changedSize(path: String, expected: Int64, found: Int64)

        /// The file's path, or the URL if it isn't a file URL.
        var path: String {
            switch self {
            case .notAFileURL(let url): url
            case .missing(let path), .unreadable(let path, _), .notARegularFile(let path): path
            case .changedSize(let path, _, _): path
            }
        }
    }
}

extension FileBodySource.Failure: RedactedDescription {
    /// The file, the problem and a remedy, on one line.
    var redactedDescription: String {
        switch self {
        case .notAFileURL(let url):
            "\(RedactedURL.inside(url).debugDescription) isn't a file URL; use URL(fileURLWithPath:)"
        case .missing(let path):
            "the file \(path.debugDescription) doesn't exist; check its path, and don't remove it before it is sent"
        case .unreadable(let path, let code):
            "the file \(path.debugDescription) can't be read (\(String(cString: strerror(code)))); "
                + "check its permissions"
        case .notARegularFile(let path):
            "\(path.debugDescription) isn't a regular file; use a file instead of a folder, pipe or device"
        case .changedSize(let path, let expected, let found):
            "the file \(path.debugDescription) changed size from \(expected) to \(found) bytes before it was sent; "
                + "send a copy that doesn't change"
        }
    }
}

extension FileBodySource.Failure: ErrorWithKind {
    var kind: TargetKitError.Kind? { .unreadableFile }
}
