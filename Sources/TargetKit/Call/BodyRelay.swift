// SPDX-License-Identifier: MIT
import Foundation

/// Passes the pieces of a body from the call's task to the reader, one at a time. The next piece is requested when the
/// reader has taken the last one.
final class BodyRelay: BodyProducer {
    private typealias Reader = UnsafeContinuation<Result<Data?, TargetKitError>, Never>

    private struct State: Sendable {
        var piece: Data?
        var end: Result<Void, TargetKitError>?
        var reader: Reader?
        var writer: UnsafeContinuation<Void, Never>?
        /// Whether the reader has released the body.
        var isAbandoned = false
        /// The bytes that the reader has received.
        var byteCount: Int64 = 0
    }

    private let handle: RequestHandle
    private let state = Locked(State())

    /// Creates a relay for the call with this handle.
    init(_ handle: RequestHandle) {
        self.handle = handle
    }

    /// The bytes that the reader has received.
    var byteCount: Int64 { state.withLock(\.byteCount) }

    /// Passes a piece to the reader and waits until the reader takes it.
    ///
    /// Returns `false` if there is no reader any more, or if the task is cancelled: a reader that holds the stream
    /// without reading must not keep a cancelled call alive.
    func write(_ piece: Data) async -> Bool {
        let (reader, isAbandoned) = state.withLock { state -> (Reader?, Bool) in
            if state.isAbandoned { return (nil, true) }
            if let reader = state.reader {
                state.reader = nil
                state.byteCount += Int64(piece.count)
                return (reader, false)
            }
            state.piece = piece
            return (nil, false)
        }
        if isAbandoned { return false }
        if let reader {
            reader.resume(returning: .success(piece))
            return true
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { writer in
                let isTaken = state.withLock { state in
                    if state.piece == nil { return true }
                    state.writer = writer
                    return false
                }
                if isTaken { writer.resume() }
            }
        } onCancel: {
            withdraw()
        }
        return !state.withLock(\.isAbandoned) && !Task.isCancelled
    }

    /// Takes back a piece that the reader has not taken.
    private func withdraw() {
        let writer = state.withLock { state in
            state.piece = nil
            defer { state.writer = nil }
            return state.writer
        }
        writer?.resume()
    }

    /// Ends the body, with or without an error.
    func finish(_ end: Result<Void, TargetKitError>) {
        let reader = state.withLock { state -> Reader? in
            state.end = end
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: end.map { nil })
    }

    /// The next piece; `nil` at the end.
    func next() async throws -> Data? {
        let result = await withUnsafeContinuation { reader in
            let (result, writer) = state.withLock {
                state -> (Result<Data?, TargetKitError>?, UnsafeContinuation<Void, Never>?) in
                if let piece = state.piece {
                    state.piece = nil
                    state.byteCount += Int64(piece.count)
                    defer { state.writer = nil }
                    return (.success(piece), state.writer)
                }
                if let end = state.end { return (end.map { nil }, nil) }
                // ``ResponseBody`` allows only one reader at a time.
                state.reader = reader
                return (nil, nil)
            }
            writer?.resume()
            if let result { reader.resume(returning: result) }
        }
        return try result.get()
    }

    /// Cancels the call, then discards the remaining pieces. In this order the call's task, when it finds no reader,
    /// can tell that this is not the end of the body.
    func abandon() {
        handle.cancel()
        state.withLock { $0.isAbandoned = true }
        withdraw()
    }
}
