// SPDX-License-Identifier: MIT
import Foundation

/// A limit on the rate at which calls send and receive bytes.
///
/// ```swift
/// let limit = BandwidthLimit(bytesPerSecond: 500_000)
/// try await provider.request(.backup, options: .setting(\.bandwidthLimit, limit))
/// limit.bytesPerSecond = nil      // as fast as possible from now on
/// ```
///
/// All calls with the same limit share it: set it on a provider or on a queue of transfers, or make one for a call. Bytes
/// of request and response bodies count, those of a response after decoding. When the limit is reached, reading pauses,
/// and TCP's flow control slows the server down.
public final class BandwidthLimit: Sendable {
    private struct State: Sendable {
        var bytesPerSecond: Int?
        /// When the bytes that were reserved so far have been transferred.
        var end = Duration.zero
    }

    /// Shorter waits are left out and added to the next one, because timers are not that exact.
    private static let shortestWait = Duration.milliseconds(5)

    private let clock: any Clock<Duration>
    private let elapsed: ElapsedTime
    private let state: Locked<State>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The rate, at least 1; `nil`: no limit.
    ///   - clock: Measures the time; default: the continuous clock.
    public init(bytesPerSecond: Int?, clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        elapsed = ElapsedTime(clock)
        state = Locked(State(bytesPerSecond: bytesPerSecond.map { max(1, $0) }))
    }

    /// The rate, at least 1; `nil`: no limit. A change applies to the bytes that follow.
    public var bytesPerSecond: Int? {
        get { state.withLock(\.bytesPerSecond) }
        set { state.withLock { $0.bytesPerSecond = newValue.map { max(1, $0) } } }
    }

    /// The number of bytes that are transferred at once: those of a twentieth of a second.
    var pieceSize: Int { bytesPerSecond.map { max(1, $0 / 20) } ?? .max }

    /// Waits until bytes may be transferred.
    func wait(for count: Int) async throws {
        let time = reserve(count)
        if time > .zero { try await clock.wait(for: time) } else { try Task.checkCancellation() }
    }

    /// Blocks the thread until bytes may be transferred.
    func blockThread(for count: Int) {
        let time = reserve(count)
        guard time > .zero else { return }
        let isOver = DispatchSemaphore(value: 0)
        Task { [clock] in
            try? await clock.wait(for: time)
            isOver.signal()
        }
        isOver.wait()
    }

    /// Reserves the time of bytes after all others, and returns how long to wait.
    private func reserve(_ count: Int) -> Duration {
        let now = elapsed.current
        return state.withLock { state in
            guard let rate = state.bytesPerSecond else {
                state.end = now
                return .zero
            }
            state.end = max(now, state.end) + .seconds(Double(count) / Double(rate))
            let time = state.end - now
            return time < Self.shortestWait ? .zero : time
        }
    }
}

extension CallOptions {
    /// The limit of the call's rate, which calls can share; default `nil`: none.
    ///
    /// It has no effect on stubs, on transfers of `BackgroundTransport`, or on responses received by `URLSessionTransport` on
    /// Linux.
    public var bandwidthLimit: BandwidthLimit? {
        get { self[BandwidthLimitKey.self] }
        set { self[BandwidthLimitKey.self] = newValue }
    }
}

private enum BandwidthLimitKey: CallOptionKey { static let defaultValue: BandwidthLimit? = nil }

// MARK: - The transport

/// A transport whose bodies are sent and received within a limit.
struct BandwidthLimitedTransport: Transport {
    let limit: BandwidthLimit
    let transport: any Transport

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var sent = request
        if let source = try request.body.source() { sent.body = .stream(LimitedSource(source: source, limit: limit)) }
        if case .stream = request.destination {} else { sent.destination = .stream(buffer: 64 << 10) }
        var response: TransportResponse
        do {
            response = try await transport.send(sent)
        } catch let error as URLError where error.userInfo[FailureMark.cannotStream] != nil {
            // The response arrives at full speed.
            sent.destination = request.destination
            return try await transport.send(sent)
        }
        guard case .stream(let body) = response.body else { return response }
        let pieces = LimitedPieces(body: body, limit: limit)
        let limited = ResponseBody { try await pieces.next() }
        switch request.destination {
        case .stream: response.body = .stream(limited)
        case .memory(let size): response.body = .data(try await limited.data(limit: size))
        case .file(let url):
            try await limited.store(in: url)
            response.body = .file(url)
        }
        return response
    }
}

/// A body whose readers keep within a limit. Transports read it on a thread of its own.
private struct LimitedSource: BodySource {
    let source: any BodySource
    let limit: BandwidthLimit

    var length: Int64? { source.length }

    func open() throws -> any BodyReader { Reader(try source.open(), limit) }

    private final class Reader: BodyReader {
        private let reader: any BodyReader
        private let limit: BandwidthLimit

        init(_ reader: any BodyReader, _ limit: BandwidthLimit) {
            self.reader = reader
            self.limit = limit
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            let count = try reader.read(into: .init(rebasing: buffer.prefix(limit.pieceSize)))
            if count > 0 { limit.blockThread(for: count) }
            return count
        }
    }
}

/// The pieces of a response's body within a limit.
private final class LimitedPieces: Sendable {
    private let body: ResponseBody
    private let limit: BandwidthLimit
    /// What has arrived and was not returned.
    private let rest = Locked(Data())

    init(body: ResponseBody, limit: BandwidthLimit) {
        self.body = body
        self.limit = limit
    }

    func next() async throws -> Data? {
        if rest.withLock(\.isEmpty) {
            var iterator = body.makeAsyncIterator()
            guard let piece = try await iterator.next() else { return nil }
            rest.withLock { $0 = piece }
        }
        let size = limit.pieceSize
        let piece = rest.withLock { rest in
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size)
        }
        try await limit.wait(for: piece.count)
        return piece
    }
}

extension ResponseBody {
    fileprivate func data(limit: Int) async throws -> Data {
        var data = Data()
        for try await piece in self {
            guard data.count + piece.count <= limit else { throw URLError(.dataLengthExceedsMaximum) }
            data.append(piece)
        }
        return data
    }

    fileprivate func store(in url: URL) async throws {
        do {
            let file = try PartialFile(replacing: url)
            for try await piece in self { try file.append(piece) }
            try file.move(to: url)
        } catch let failure as PartialFile.Failure {
            throw URLError(failure)
        }
    }
}
