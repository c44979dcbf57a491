// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// Writes the body of a response to a file, on a queue of its own: a slow disk holds up its own call and no other.
final class CurlFileWriter: Sendable {
    /// No more is taken while so many bytes wait to be written. So many that a disk which is merely busy does not stop libcurl,
    /// which over HTTP/2 keeps itself what goes on coming.
    static let limit = 2 << 20

    private struct State: Sendable {
        var pending: [UInt8] = []
        var isWriting = false
        /// Whether bytes were refused that are to come again.
        var isPaused = false
        var failure: PartialFile.Failure?
    }

    private let place: URL
    private let queue: DispatchQueue
    private let goOn: @Sendable () -> Void
    private let state = Locked(State())
    /// For the queue alone.
    private let file = Locked<PartialFile?>(nil)

    /// A writer of the file that will be put in that place.
    ///
    /// - Parameters:
    ///   - queue: Where it writes; it is serial.
    ///   - goOn: Is called when there is room again after bytes were refused, and when writing has failed.
    init(
        replacing place: URL,
        on queue: DispatchQueue = DispatchQueue(label: "TargetKit.download"),
        goOn: @escaping @Sendable () -> Void
    ) {
        self.place = place
        self.queue = queue
        self.goOn = goOn
    }

    /// Takes the next bytes; `false` when they have to wait and come again.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(PartialFile.Failure) -> Bool {
        let (isTaken, begins, failure) = state.withLock { state -> (Bool, Bool, PartialFile.Failure?) in
            state.isPaused = state.failure == nil && state.pending.count >= Self.limit
            guard state.failure == nil, !state.isPaused else { return (false, false, state.failure) }
            state.pending.append(contentsOf: bytes)
            defer { state.isWriting = true }
            return (true, !state.isWriting, nil)
        }
        if let failure { throw failure }
        if begins { queue.async { self.writePending() } }
        return isTaken
    }

    /// Puts the file in its place after a success, else removes it; then calls the closure with what has come of it.
    func close(
        _ outcome: Result<TransportResponse, any Error>,
        then tell: @escaping @Sendable (Result<TransportResponse, any Error>) -> Void
    ) {
        queue.async {
            guard case .success = outcome else {
                self.discard()
                return tell(outcome)
            }
            do throws(PartialFile.Failure) {
                if let failure = self.state.withLock(\.failure) { throw failure }
                try self.opened().move(to: self.place)
                tell(outcome)
            } catch {
                self.discard()
                tell(.failure(CurlFailure(error.code, error.message)))
            }
        }
    }
}

// MARK: - On the queue

extension CurlFileWriter {
    private func writePending() {
        var bytes: [UInt8] = []
        while takePending(&bytes) {
            do throws(PartialFile.Failure) {
                try write(bytes)
            } catch {
                state.withLock { state in
                    state.failure = error
                    state.pending = []
                }
                discard()
                return goOn()
            }
        }
    }

    /// Takes all that waits, into an array that keeps its room; `false` when there is nothing.
    private func takePending(_ bytes: inout [UInt8]) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        let wakes = state.withLock { state in
            swap(&bytes, &state.pending)
            state.isWriting = !bytes.isEmpty
            defer { state.isPaused = false }
            return state.isPaused
        }
        if wakes { goOn() }
        return !bytes.isEmpty
    }

    private func write(_ bytes: [UInt8]) throws(PartialFile.Failure) {
        let file = try opened()
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(PartialFile.Failure) in try file.append(bytes) }
        }
        try result.get()
    }

    private func opened() throws(PartialFile.Failure) -> PartialFile {
        if let file = file.withLock({ $0 }) { return file }
        let new = try PartialFile(replacing: place)
        file.withLock { $0 = new }
        return new
    }

    private func discard() {
        file.withLock { $0.take() }?.remove()
    }
}
#endif
