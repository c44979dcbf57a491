// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// Writes the decoded body of a response to its destination.
enum CurlBodyWriter {
    case memory(Data, limit: Int)
    case file(CurlFileWriter, URL)
    case stream(BodyChannel)

    /// Creates the destination of the call's body; the loop resumes it on a command.
    init(_ call: CurlCall, _ commandQueue: CurlCommandQueue) {
        self =
            switch call.destination {
            case .memory(let limit): .memory(Data(), limit: max(0, limit))
            case .file(let url): .file(CurlFileWriter(replacing: url) { commandQueue.post(.resume(call)) }, url)
            case .stream(let buffer): .stream(BodyChannel(limit: buffer))
            }
    }

    /// Writes the next bytes; returns `false` when they have to be offered again later.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(CurlFailure) -> Bool {
        switch self {
        case .memory(var data, let limit):
            guard data.count + bytes.count <= limit else { throw CurlFailure.overLimit(limit) }
            // With a second owner, the bytes so far would be copied each time.
            self = .memory(Data(), limit: limit)
            if data.isEmpty, let start = bytes.baseAddress {
                data = Data(bytes: start, count: bytes.count)
            } else {
                data.append(contentsOf: bytes)
            }
            self = .memory(data, limit: limit)
            return true
        case .file(let writer, _):
            do { return try writer.receive(bytes) } catch { throw CurlFailure(error.code, error.message) }
        case .stream(let channel):
            return channel.receive(bytes)
        }
    }

    /// The received body. A file is not in place until its writer is closed.
    var body: TransportResponse.Body {
        switch self {
        case .memory(let data, _): .data(data)
        case .file(_, let url): .file(url)
        // The reader has received it.
        case .stream: .data(Data())
        }
    }
}

/// Writes a response's body to a file on a queue of its own, so that a slow disk delays only its own call.
final class CurlFileWriter: Sendable {
    /// The number of bytes that may wait to be written. It is large enough that a busy disk does not pause libcurl,
    /// which over HTTP/2 buffers what continues to arrive.
    static let limit = 1 << 20

    private struct State: Sendable {
        var pending: [UInt8] = []
        var isWriting = false
        /// Whether bytes were refused and have to be offered again.
        var isPaused = false
        var failure: PartialFile.Failure?
    }

    private let place: URL
    private let queue: DispatchQueue
    private let resume: @Sendable () -> Void
    private let state = Locked(State())
    /// Accessed only on the queue.
    private let file = Locked<PartialFile?>(nil)

    /// Creates a writer for a file that is moved to the given place.
    ///
    /// - Parameters:
    ///   - queue: The serial queue to write on.
    ///   - resume: Called when there is room again after bytes were refused, and when writing has failed.
    init(
        replacing place: URL,
        on queue: DispatchQueue = DispatchQueue(label: "TargetKit.download"),
        resume: @escaping @Sendable () -> Void
    ) {
        self.place = place
        self.queue = queue
        self.resume = resume
    }

    /// Accepts the next bytes; returns `false` when they have to be offered again later.
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

    /// Moves the file to its place after a success and removes it otherwise, then calls the closure with the result.
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
                return resume()
            }
        }
    }

    /// Moves all pending bytes into an array that keeps its capacity; returns `false` when there are none.
    private func takePending(_ bytes: inout [UInt8]) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        let wakes = state.withLock { state in
            swap(&bytes, &state.pending)
            state.isWriting = !bytes.isEmpty
            defer { state.isPaused = false }
            return state.isPaused
        }
        if wakes { resume() }
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

/// Produces the body of one call from the channel that the loop fills.
struct CurlBodyProducer: BodyProducer {
    let channel: BodyChannel
    let commandQueue: CurlCommandQueue
    let call: CurlCall

    func next() async throws -> Data? {
        try await channel.next { commandQueue.post(.resume(call)) }
    }

    func drain(into receiver: any BodyReceiver) async throws -> Bool {
        try await channel.drain(into: receiver) { [commandQueue, call] in commandQueue.post(.resume(call)) }
        return true
    }

    func abandon() {
        commandQueue.cancel(call)
    }
}
#endif
