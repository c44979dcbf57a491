// SPDX-License-Identifier: MIT
import Foundation

/// A request body that is read while it is sent, and that can be read again from its start for a redirect, a retry, or
/// a connection that closed during the request.
public protocol BodySource: Sendable {
    /// The number of bytes in the body; `nil` when unknown, and the body is sent in chunks.
    var length: Int64? { get }

    /// Opens a reader at the first byte, independent of other readers.
    ///
    /// - Throws: An error, for example for a missing file.
    func open() throws -> any BodyReader
}

extension BodySource {
    /// Opens a reader, and passes each piece to the closure, up to 64 KiB at a time, until the end or an error.
    package func readAll(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        let reader = try open()
        try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            while true {
                let count = try reader.read(into: buffer)
                guard count > 0 else { return }
                // A reader of the app's may return too much.
                try take(UnsafeRawBufferPointer(rebasing: buffer[..<min(count, buffer.count)]))
            }
        }
    }
}

/// Reads the bytes of an opened ``BodySource``; used by one thread at a time.
public protocol BodyReader: AnyObject {
    /// Fills the buffer from its start, and returns the number of bytes written: at least 1, or 0 at the end.
    ///
    /// - Throws: An error, with which the exchange then fails.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// A request body that is read from a regular file.
///
/// The size is read once, when the source is created, because `Content-Length` is sent before the first byte. If the
/// file has another size when it is opened or sent, sending it fails.
///
/// Two sources are equal when they have the same URL and length.
package struct FileBodySource: BodySource, Hashable {
    /// The URL of the file.
    package let url: URL
    /// The file's size in bytes when the source was created; never `nil`.
    package let length: Int64?

    private let size: Int64

    /// Creates a source for the file at the URL, following links.
    ///
    /// - Throws: ``Failure`` when the file cannot be opened for reading or is not a regular file.
    package init(_ url: URL) throws(Failure) {
        let file = try OpenedFile(path: Self.path(of: url))
        self.url = url
        size = try file.size()
        length = size
    }

    /// Opens the file, until the reader is released.
    ///
    /// - Throws: ``Failure``, also when the file's size is no longer ``length``.
    package func open() throws -> any BodyReader {
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
    /// The reason a file cannot be sent.
    package enum Failure: Error, Sendable, Hashable {
        /// The URL does not have the scheme `file`, or has no valid path.
        case notAFileURL(String)
        /// The file does not exist.
        case missing(path: String)
        /// The file cannot be opened or read; `code` is the `errno`.
        case unreadable(path: String, code: Int32)
        /// The path is that of a directory, pipe, socket or device.
        case notARegularFile(path: String)
        /// The size of the file changed from `expected` to `found` bytes before it was sent.
        case changedSize(path: String, expected: Int64, found: Int64)

        /// The file's path, or the URL if it is not the URL of a file.
        package var path: String {
            switch self {
            case .notAFileURL(let url): url
            case .missing(let path), .unreadable(let path, _), .notARegularFile(let path): path
            case .changedSize(let path, _, _): path
            }
        }
    }
}

extension FileBodySource.Failure: ReflectsDescription {
    /// The file, the problem and a remedy, on one line.
    package var description: String {
        switch self {
        case .notAFileURL(let url):
            "\(RedactedURL.inside(url).debugDescription) is not a file URL; use URL(fileURLWithPath:)"
        case .missing(let path):
            "the file \(path.debugDescription) does not exist; check its path, and that it is kept until it is sent"
        case .unreadable(let path, let code):
            "the file \(path.debugDescription) cannot be read (\(String(cString: strerror(code)))); "
                + "check its permissions"
        case .notARegularFile(let path):
            "\(path.debugDescription) is not a regular file; name a file, not a directory, pipe or device"
        case .changedSize(let path, let expected, let found):
            "the file \(path.debugDescription) changed size from \(expected) to \(found) bytes before it was sent; "
                + "send a copy that does not change"
        }
    }
}

extension FileBodySource.Failure: ErrorWithKind {
    package var kind: TargetKitError.Kind? { .unreadableFile }
}
