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
