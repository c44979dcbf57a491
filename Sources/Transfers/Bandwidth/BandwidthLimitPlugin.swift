// SPDX-License-Identifier: MIT
import TargetKit

/// Limits the rate at which calls send and receive bytes.
///
/// ```swift
/// let limit = BandwidthLimit(bytesPerSecond: 500_000)
/// let provider = Provider<Backups>(plugins: [BandwidthLimitPlugin(limit)])
/// ```
///
/// The limit applies to the bodies of requests and responses. `CallOptions.bandwidthLimit` overrides the plugin's
/// limit. Bodies that the transport can't stream are transferred at full speed: the responses of `URLSessionTransport`
/// on Linux, and all transfers of `BackgroundTransport`. The metrics of a limited call have its duration, and the bytes of
/// its bodies; those of a stream are `nil`.
public struct BandwidthLimitPlugin: Plugin {
    private let limit: BandwidthLimit?

    /// Creates a plugin.
    ///
    /// - Parameter limit: The limit of calls whose options have none; default `nil`: no limit.
    public init(_ limit: BandwidthLimit? = nil) {
        self.limit = limit
    }

    /// The innermost place among the plugins that surround an exchange.
    public var place: PluginPlace { .bandwidth }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { .exchange }

    /// Transfers the bodies within the limit.
    ///
    /// - Throws: The error of the exchange, or `URLError(.timedOut)` if the exchange times out during a wait.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        guard let limit = context.options.bandwidthLimit ?? limit else { return try await next(request) }
        // A connection has no body.
        if case .upgrade = request.destination { return try await next(request) }
        let isCancelled = Locked(false)
        return try await withTaskCancellationHandler {
            try await exchange(request, within: limit, isCancelled, next)
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private func exchange(
        _ request: TransportRequest,
        within limit: BandwidthLimit,
        _ isCancelled: Locked<Bool>,
        _ next: Exchange
    ) async throws -> TransportResponse {
        let deadline = request.timeout.map { ContinuousClock.now + LongestWait.limited($0) }
        let check: @Sendable () throws -> Void = {
            if isCancelled.withLock(\.self) { throw CancellationError() }
            if let deadline, deadline <= .now { throw URLError(.timedOut) }
        }
        var sent = request
        let (start, sentByteCount) = (ContinuousClock.now, Locked<Int64>(0))
        if let source = try request.body.source() {
            sent.body = .stream(LimitedSource(source: source, limit: limit, check: check, byteCount: sentByteCount))
        }
        switch request.destination {
        case .stream, .upgrade: break
        case .memory:
            sent.isCollected = true
            sent.destination = .stream(buffer: 64 << 10)
        case .file: sent.destination = .stream(buffer: 64 << 10)
        }
        var response: TransportResponse
        do {
            response = try await next(sent)
        } catch let error as URLError where error.userInfo[FailureMark.cannotStream] != nil {
            // The response arrives at full speed.
            sent.destination = request.destination
            return try await next(sent)
        }
        guard case .stream(let body) = response.body else { return response }
        let firstByte = start.duration(to: .now)
        let pieces = LimitedPieces(body: body, limit: limit, check: check)
        let limited = ResponseBody { try await pieces.next() }
        switch request.destination {
        case .stream, .upgrade:
            response.body = .stream(limited)
            return response
        case .memory(let size): response.body = .data(try await limited.data(limit: size))
        case .file(let url):
            try await limited.store(in: url)
            response.body = .file(url)
        }
        // The transport has none for a body that it streams.
        if response.metrics == nil {
            response.metrics = TransportMetrics(
                firstByte: firstByte,
                total: start.duration(to: .now),
                bytesSent: sentByteCount.withLock(\.self),
                bytesReceived: pieces.byteCount,
                httpVersion: response.head.httpVersion
            )
        }
        return response
    }
}

/// A body that is read within a limit. Transports read it on a separate thread.
private struct LimitedSource: BodySource {
    let source: any BodySource
    let limit: BandwidthLimit
    let check: @Sendable () throws -> Void
    /// The number of bytes that were last read.
    let byteCount: Locked<Int64>

    var length: Int64? { source.length }

    func open() throws -> any BodyReader {
        byteCount.withLock { $0 = 0 }
        return Reader(try source.open(), of: self)
    }

    private final class Reader: BodyReader {
        private let reader: any BodyReader
        private let source: LimitedSource
        private let reservation: BandwidthReservation

        init(_ reader: any BodyReader, of source: LimitedSource) {
            self.reader = reader
            self.source = source
            reservation = BandwidthReservation(source.limit)
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            let count = try reader.read(into: .init(rebasing: buffer.prefix(reservation.pieceSize)))
            if count > 0 {
                try reservation.blockThread(for: count, check: source.check)
                source.byteCount.withLock { $0 += Int64(count) }
            } else {
                reservation.release()
            }
            return count
        }
    }
}

/// The chunks of a response's body, read within a limit.
private final class LimitedPieces: Sendable {
    private let body: ResponseBody
    private let reservation: BandwidthReservation
    private let check: @Sendable () throws -> Void
    /// The bytes that have arrived but weren't returned.
    private let rest = Locked(Data())
    private let count = Locked<Int64>(0)

    /// The number of bytes that were returned.
    var byteCount: Int64 { count.withLock(\.self) }

    init(body: ResponseBody, limit: BandwidthLimit, check: @escaping @Sendable () throws -> Void) {
        self.body = body
        reservation = BandwidthReservation(limit)
        self.check = check
    }

    func next() async throws -> Data? {
        if rest.withLock(\.isEmpty) {
            var iterator = body.makeAsyncIterator()
            guard let piece = try await iterator.next() else {
                reservation.release()
                return nil
            }
            rest.withLock { $0 = piece }
        }
        let size = reservation.pieceSize
        let piece = rest.withLock { rest in
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size)
        }
        try await reservation.wait(for: piece.count, check: check)
        count.withLock { $0 += Int64(piece.count) }
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
        let file = try PartialFile(writing: url)
        for try await piece in self { try file.append(piece) }
    }
}
