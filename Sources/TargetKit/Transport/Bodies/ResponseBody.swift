// SPDX-License-Identifier: MIT
import Foundation

/// The body of a response, piece by piece as it comes.
///
/// A body can be read once: a second loop continues where the first one stopped. A loop throws
/// ``ResponseStreamError/alreadyRead`` when another loop is waiting for a piece, has read the body to its end, or has
/// continued it. Releasing the body before its end cancels the exchange, as does cancelling the task that waits for the
/// next piece.
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
        /// - Throws: The transport's error when the connection fails; ``ResponseStreamError/alreadyRead``, wrapped in a
        ///   ``TargetKitError`` for the body of a ``ResponseStream``.
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

    /// The readers of the body, tracked so that a second reader gets an error instead of an incomplete body.
    private struct Readers: Sendable {
        var count = 0
        /// The loop that read last.
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

    /// The same body, which throws the given error to a second reader.
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

/// Where the pieces of a body come from.
protocol BodyOrigin: Sendable {
    /// The next piece; `nil` at the end.
    func next() async throws -> Data?

    /// Nobody wants the rest: the exchange is over, unless it was before.
    func abandon()
}

/// A body that somebody reads: when nobody holds it any more, and when the task that reads is cancelled, its exchange is over.
private final class HeldBody<Origin: BodyOrigin>: Sendable {
    private let origin: Origin

    init(_ origin: Origin) {
        self.origin = origin
    }

    deinit {
        origin.abandon()
    }

    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await origin.next()
        } onCancel: {
            origin.abandon()
        }
    }
}

extension ResponseBody {
    /// The body that comes from there, for as long as somebody holds it.
    init(from origin: some BodyOrigin) {
        let body = HeldBody(origin)
        self.init { try await body.next() }
    }
}
