// SPDX-License-Identifier: MIT
import Foundation

/// A body that is read as it is sent, and can be read again from its start: for a redirect, a retry, a connection that was
/// closed under the request.
public protocol BodySource: Sendable {
    /// The number of bytes that a reader will give; `nil` when it is not known, and the body is sent in chunks.
    var length: Int64? { get }

    /// A reader at the first byte, independent of any other.
    ///
    /// - Throws: what went wrong, a missing file for one, naming it.
    func open() throws -> any BodyReader
}

/// Reads the bytes of one opened ``BodySource``, by one thread at a time.
public protocol BodyReader: AnyObject {
    /// Fills the buffer from its start, and returns the number of bytes written: at least 1, or 0 at the end.
    ///
    /// - Throws: what went wrong; the exchange then fails with that error.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// The bytes of a regular file as a body, read with `read(2)` straight into the transport's buffer.
///
/// The size is taken once, when the source is made, because `Content-Length` goes out before the first byte. A file
/// that is found to have another size afterwards, at opening or while it is being sent, is an error: what has been
/// promised can no longer be kept.
///
/// Two sources are equal when they name the same file and promise the same length.
public struct FileBodySource: BodySource, Hashable {
    /// Where the file lies.
    public let url: URL
    /// The file's size in bytes when the source was made; never `nil`.
    public let length: Int64?

    private let size: Int64

    /// The file at that URL, links followed. It is opened, its size is read, and it is closed again.
    ///
    /// - Throws: ``Failure``, when it cannot be opened for reading or is no regular file.
    public init(_ url: URL) throws(Failure) {
        let file = try OpenedFile(path: Self.path(of: url))
        self.url = url
        size = try file.size()
        length = size
    }

    /// A reader at the first byte; it holds the file open until it is let go.
    ///
    /// - Throws: ``Failure``, also when the file's size is no longer ``length``.
    public func open() throws -> any BodyReader {
        try FileBodyReader(path: Self.path(of: url), length: size)
    }

    private static func path(of url: URL) throws(Failure) -> String {
        guard url.isFileURL else { throw .notAFileURL(url.absoluteString) }
        let path = url.path
        // Behind a NUL the system would not read on, and open another file than the one that was named.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .notAFileURL(url.absoluteString) }
        return path
    }
}

extension FileBodySource {
    /// Why a file cannot be sent.
    public enum Failure: Error, Sendable, Hashable {
        /// The URL does not name a file: another scheme than `file`, or no usable path.
        case notAFileURL(String)
        /// There is nothing at that path.
        case missing(path: String)
        /// The file cannot be opened or read; the code is `errno`'s.
        case unreadable(path: String, code: Int32)
        /// A directory, a pipe, a socket or a device lies at that path.
        case notARegularFile(path: String)
        /// The file had `expected` bytes, and `found` later, at opening or while it was being sent.
        case changedSize(path: String, expected: Int64, found: Int64)

        /// The file's path; for a URL that names no file, the URL.
        public var path: String {
            switch self {
            case .notAFileURL(let url): url
            case .missing(let path), .unreadable(let path, _), .notARegularFile(let path): path
            case .changedSize(let path, _, _): path
            }
        }
    }
}

extension FileBodySource.Failure: CustomStringConvertible, CustomReflectable {
    /// One line: the file, what is wrong with it, and what to do.
    public var description: String {
        switch self {
        case .notAFileURL(let url):
            "\(RedactedURL.inside(url).debugDescription) is not the URL of a file; make it with URL(fileURLWithPath:)"
        case .missing(let path):
            "the file \(path.debugDescription) does not exist; check its path, and that it is kept until it is sent"
        case .unreadable(let path, let code):
            "the file \(path.debugDescription) cannot be read (\(String(cString: strerror(code)))); "
                + "check its permissions"
        case .notARegularFile(let path):
            "\(path.debugDescription) is not a regular file; name a file, not a directory, pipe or device"
        case .changedSize(let path, let expected, let found):
            "the file \(path.debugDescription) changed its size from \(expected) to \(found) bytes before it was sent; "
                + "send a copy that nobody writes to"
        }
    }

    /// Reflects only the description, so `dump` omits what follows a URL's path.
    public var customMirror: Mirror { Mirror(describing: self) }
}
