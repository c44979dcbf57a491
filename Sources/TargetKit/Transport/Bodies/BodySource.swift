// SPDX-License-Identifier: MIT

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
