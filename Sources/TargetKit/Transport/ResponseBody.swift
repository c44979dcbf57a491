// SPDX-License-Identifier: MIT
import Foundation

/// The body of a response, piece by piece as it comes.
///
/// It can be read once: a second loop goes on where the first one stopped. A loop throws ``ResponseStreamError/alreadyRead`` when
/// another one waits for a piece, has read the body to its end, or has gone on with it. Whoever lets go of it before its end ends
/// the exchange, and so does cancelling the task that waits for the next piece.
///
/// ```swift
/// for try await piece in body { hash.update(data: piece) }
/// ```
public struct ResponseBody: AsyncSequence, Sendable {
    /// Bytes as they came, decoded; never empty.
    public typealias Element = Data

    /// Reads a ``ResponseBody``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let body: ResponseBody
        fileprivate let number: Int

        /// The next piece; `nil` at the end.
        ///
        /// - Throws: what the transport would throw, when the body breaks off; ``ResponseStreamError/alreadyRead``, in a
        ///   ``TargetKitError`` when it is the body of a ``ResponseStream``.
        public mutating func next() async throws -> Data? {
            try body.readers.withLock { try $0.begin(number, orThrow: body.refusal) }
            do {
                let piece = try await body.read()
                body.readers.withLock { $0.end(atEndOfBody: piece == nil) }
                return piece
            } catch {
                body.readers.withLock { $0.end(atEndOfBody: true) }
                throw error
            }
        }
    }

    /// Who reads: so that nobody takes a part of the body, or none of it, for the whole.
    private struct Readers: Sendable {
        var count = 0
        /// The loop that has read last.
        var current = 0
        var isWaiting = false
        var isOver = false

        mutating func begin(_ number: Int, orThrow error: @Sendable () -> any Error) throws {
            guard !isWaiting, number == current || number > current && !isOver else { throw error() }
            current = number
            isWaiting = true
        }

        mutating func end(atEndOfBody isEnd: Bool) {
            isWaiting = false
            if isEnd { isOver = true }
        }
    }

    private let read: @Sendable () async throws -> Data?
    private let readers = Locked(Readers())
    private var refusal: @Sendable () -> any Error = { ResponseStreamError.alreadyRead }

    /// A body whose pieces the closure gives, one for each call, and `nil` at the end and ever after.
    public init(next: @escaping @Sendable () async throws -> Data?) {
        read = next
    }

    /// The same body, which throws that error to a reader who comes too late.
    func refusing(with refusal: @escaping @Sendable () -> any Error) -> ResponseBody {
        var body = self
        body.refusal = refusal
        return body
    }

    /// Reads on from where the last reading stopped.
    public func makeAsyncIterator() -> Iterator {
        let number = readers.withLock { readers in
            readers.count += 1
            return readers.count
        }
        return Iterator(body: self, number: number)
    }
}
