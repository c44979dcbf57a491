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
    /// Bytes are transferred in the order in which they were reserved, at the rate of each moment.
    private struct State: Sendable {
        var bytesPerSecond: Int?
        /// The number of bytes that were reserved since the limit was created.
        var reserved = 0.0
        /// How many of them could be transferred by ``time``.
        var transferred = 0.0
        var time = Duration.zero

        mutating func advance(to now: Duration) {
            if let bytesPerSecond {
                transferred = min(reserved, transferred + Double(bytesPerSecond) * ((now - time) / .seconds(1)))
            } else {
                transferred = reserved
            }
            time = now
        }

        /// The time until a reservation may be transferred, at the present rate.
        func remainingTime(until end: Double) -> Duration {
            guard let bytesPerSecond, end > transferred else { return .zero }
            return .seconds(min((end - transferred) / Double(bytesPerSecond), 3_600))
        }
    }

    /// Shorter waits are left out and added to the next one, because timers are not that exact.
    private static let shortestWait = Duration.milliseconds(5)
    /// After this time, a wait looks at the rate again.
    private static let longestWait = Duration.milliseconds(250)

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

    /// The rate, at least 1; `nil`: no limit. A change applies at once, also to calls that wait.
    public var bytesPerSecond: Int? {
        get { state.withLock(\.bytesPerSecond) }
        set {
            let now = elapsed.current
            state.withLock { state in
                state.advance(to: now)
                state.bytesPerSecond = newValue.map { max(1, $0) }
            }
        }
    }

    /// The number of bytes that are transferred at once: those of a twentieth of a second.
    var pieceSize: Int { bytesPerSecond.map { max(1, $0 / 20) } ?? .max }

    /// Waits until bytes may be transferred.
    ///
    /// - Parameter check: Called now and then; an error that it throws ends the wait.
    func wait(for count: Int, check: () throws -> Void) async throws {
        let end = reserve(count)
        do {
            while let time = remainingTime(until: end) {
                try check()
                try await clock.wait(for: time)
            }
            try Task.checkCancellation()
        } catch {
            release(count, until: end)
            throw error
        }
    }

    /// Blocks the thread until bytes may be transferred.
    ///
    /// - Parameter check: Called now and then; an error that it throws ends the wait.
    func blockThread(for count: Int, check: () throws -> Void) throws {
        let end = reserve(count)
        do {
            while let time = remainingTime(until: end) {
                try check()
                let isOver = DispatchSemaphore(value: 0)
                Task { [clock] in
                    try? await clock.wait(for: time)
                    isOver.signal()
                }
                isOver.wait()
            }
        } catch {
            release(count, until: end)
            throw error
        }
    }

    /// Reserves the transfer of bytes after all others, and returns its position.
    private func reserve(_ count: Int) -> Double {
        let now = elapsed.current
        return state.withLock { state in
            state.advance(to: now)
            state.reserved += Double(count)
            return state.reserved
        }
    }

    /// Lets others have the time of a reservation that is not needed.
    private func release(_ count: Int, until end: Double) {
        let now = elapsed.current
        state.withLock { state in
            state.advance(to: now)
            state.transferred = min(
                state.reserved,
                state.transferred + min(Double(count), max(0, end - state.transferred))
            )
        }
    }

    /// The next part of a wait; `nil` when it is over.
    private func remainingTime(until end: Double) -> Duration? {
        let now = elapsed.current
        let time = state.withLock { state in
            state.advance(to: now)
            return state.remainingTime(until: end)
        }
        return time < Self.shortestWait ? nil : min(time, Self.longestWait)
    }
}

extension CallOptions {
    /// The limit of the call's rate, which calls can share; default `nil`: none.
    ///
    /// The metrics of such calls are `nil`. It has no effect on stubs, on transfers of `BackgroundTransport`, or on responses received by `URLSessionTransport` on
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
        let isCancelled = Locked(false)
        return try await withTaskCancellationHandler {
            try await send(request, isCancelled)
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private func send(_ request: TransportRequest, _ isCancelled: Locked<Bool>) async throws -> TransportResponse {
        let deadline = request.timeout.map { ContinuousClock.now + LongestWait.limited($0) }
        let check: @Sendable () throws -> Void = {
            if isCancelled.withLock(\.self) { throw CancellationError() }
            if let deadline, deadline <= .now { throw URLError(.timedOut) }
        }
        var sent = request
        if let source = try request.body.source() {
            sent.body = .stream(LimitedSource(source: source, limit: limit, check: check))
        }
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
        let pieces = LimitedPieces(body: body, limit: limit, check: check)
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
    let check: @Sendable () throws -> Void

    var length: Int64? { source.length }

    func open() throws -> any BodyReader { Reader(try source.open(), limit, check) }

    private final class Reader: BodyReader {
        private let reader: any BodyReader
        private let limit: BandwidthLimit
        private let check: @Sendable () throws -> Void

        init(_ reader: any BodyReader, _ limit: BandwidthLimit, _ check: @escaping @Sendable () throws -> Void) {
            self.reader = reader
            self.limit = limit
            self.check = check
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            let count = try reader.read(into: .init(rebasing: buffer.prefix(limit.pieceSize)))
            if count > 0 { try limit.blockThread(for: count, check: check) }
            return count
        }
    }
}

/// The pieces of a response's body within a limit.
private final class LimitedPieces: Sendable {
    private let body: ResponseBody
    private let limit: BandwidthLimit
    private let check: @Sendable () throws -> Void
    /// What has arrived and was not returned.
    private let rest = Locked(Data())

    init(body: ResponseBody, limit: BandwidthLimit, check: @escaping @Sendable () throws -> Void) {
        self.body = body
        self.limit = limit
        self.check = check
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
        try await limit.wait(for: piece.count, check: check)
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
