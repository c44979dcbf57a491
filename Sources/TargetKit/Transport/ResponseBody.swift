// SPDX-License-Identifier: MIT
import Foundation

/// The body of a response, piece by piece as it comes.
///
/// It can be read once: a second loop goes on where the first one stopped. Whoever lets go of it before its end ends the
/// exchange, and so does cancelling the task that waits for the next piece.
///
/// ```swift
/// for try await piece in body { hash.update(data: piece) }
/// ```
public struct ResponseBody: AsyncSequence, Sendable {
    /// Bytes as they came, decoded; never empty.
    public typealias Element = Data

    /// Reads a ``ResponseBody``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let read: @Sendable () async throws -> Data?

        /// The next piece; `nil` at the end.
        ///
        /// - Throws: what the transport would throw, when the body breaks off.
        public mutating func next() async throws -> Data? {
            try await read()
        }
    }

    private let read: @Sendable () async throws -> Data?

    /// A body whose pieces the closure gives, one for each call, and `nil` at the end and ever after.
    public init(next: @escaping @Sendable () async throws -> Data?) {
        read = next
    }

    /// Reads on from where the last reading stopped.
    public func makeAsyncIterator() -> Iterator {
        Iterator(read: read)
    }
}
