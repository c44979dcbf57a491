// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A transport with the conditions of a network.
struct ConditionedTransport: Transport {
    private let conditions: NetworkConditions
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let random: Locked<SeededGenerator>
    /// The bytes until the device is offline.
    private let budget: ByteBudget

    init(_ conditions: NetworkConditions, over transport: any Transport, seed: UInt64, clock: any Clock<Duration>) {
        self.conditions = conditions
        self.transport = transport
        self.clock = clock
        random = Locked(SeededGenerator(seed: seed))
        budget = ByteBudget(conditions.offlineAfter)
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let events = random.withLock { CallEvents(conditions, &$0) }
        let timer = TransferTimer(clock, timeout: request.timeout)
        if budget.isSpent { throw URLError(.notConnectedToInternet) }
        try await timer.wait(events.latency)
        if conditions.hasCaptivePortal { return try await portal(request) }
        if events.loss == .beforeRequest { throw URLError(.networkConnectionLost) }
        let isUploaded = try await upload(request, timer)
        if events.isError, events.loss == nil {
            let sample = SampleResponse.response(status: conditions.errorStatus, data: Data())
            return try await StubTransport(sample).send(request.forSample())
        }
        var sent = request
        sent.timeout = try timer.timeLeft()
        let slowsDownload = conditions.downloadRate != nil || budget.isLimited || events.loss == .withinResponse
        sent.progress = request.progress(reportsUpload: !isUploaded, reportsDownload: !slowsDownload)
        guard slowsDownload else { return try await transport.send(sent) }
        return try await slowResponse(to: request, sent, timer, losesConnection: events.loss == .withinResponse)
    }

    /// Sends a request, whose response arrives as slowly as the conditions say.
    private func slowResponse(
        to request: TransportRequest,
        _ sent: TransportRequest,
        _ timer: TransferTimer,
        losesConnection: Bool
    ) async throws -> TransportResponse {
        var sent = sent
        if case .stream = sent.destination {} else { sent.destination = .stream(buffer: 256 << 10) }
        var response = try await transport.send(sent)
        let body = SlowBody(
            response,
            conditions: conditions,
            losesConnection: losesConnection,
            budget: budget,
            timer: timer,
            progress: request.progress
        )
        guard case .stream = request.destination else { return try await deliver(body, response, to: request) }
        response.body = .stream(ResponseBody { try await body.next() })
        return response
    }

    /// Waits while the body is sent, and returns whether progress was reported.
    private func upload(_ request: TransportRequest, _ timer: TransferTimer) async throws -> Bool {
        guard conditions.uploadRate != nil || budget.isLimited, let size = try request.body.byteCount() else {
            return false
        }
        var sent = 0
        while sent < size {
            let wanted = min(size - sent, conditions.uploadRate.pieceSize)
            let taken = budget.take(wanted)
            try await timer.wait(conditions.uploadRate.time(for: taken))
            sent += taken
            request.progress?(TransferProgress(completed: Int64(sent), total: Int64(size), direction: .upload))
            if taken < wanted { throw URLError(.networkConnectionLost) }
        }
        return size > 0
    }

    /// Reads the whole body, and stores it at the destination of the request.
    private func deliver(
        _ body: SlowBody,
        _ response: TransportResponse,
        to request: TransportRequest
    ) async throws -> TransportResponse {
        var data = Data()
        while let piece = try await body.next() {
            data += piece
            if case .memory(let limit) = request.destination, data.count > limit {
                throw URLError(.dataLengthExceedsMaximum)
            }
        }
        let sample = SampleResponse.response(status: response.head.statusCode, data: data)
        var stored = request.forSample()
        stored.progress = nil
        var response = response
        response.body = try await StubTransport(sample).send(stored).body
        return response
    }

    private func portal(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.urlRequest.url?.scheme?.lowercased() == "http" else {
            throw URLError(.serverCertificateUntrusted)
        }
        let page = "<!DOCTYPE html><html><head><title>Wi-Fi login</title></head><body>Please log in.</body></html>"
        let sample = SampleResponse.response(
            status: 200,
            headers: ["Content-Type": "text/html; charset=utf-8"],
            data: Data(page.utf8)
        )
        return try await StubTransport(sample).send(request.forSample())
    }
}

/// The random events of one call. Each call takes the same number of random numbers, whatever the conditions are.
private struct CallEvents {
    enum Loss: Equatable {
        case beforeRequest
        case withinResponse
    }

    let latency: Duration
    let loss: Loss?
    let isError: Bool

    init(_ conditions: NetworkConditions, _ random: inout SeededGenerator) {
        let deviation = Double.random(in: -1...1, using: &random)
        let lossNumber = Double.random(in: 0..<1, using: &random)
        let isEarly = Bool.random(using: &random)
        let errorNumber = Double.random(in: 0..<1, using: &random)
        latency = max(
            .zero,
            LongestWait.limited(conditions.latency) + LongestWait.limited(conditions.variance) * deviation
        )
        loss = lossNumber < conditions.lossRate ? (isEarly ? .beforeRequest : .withinResponse) : nil
        isError = errorNumber < conditions.errorRate
    }
}

/// The bytes that all calls of a transport can still transfer.
struct ByteBudget: Sendable {
    /// `nil`: unlimited.
    private let left: Locked<Int>?

    init(_ byteCount: Int?) {
        left = byteCount.map { Locked(max(0, $0)) }
    }

    var isLimited: Bool { left != nil }
    var isSpent: Bool { left?.withLock { $0 == 0 } ?? false }

    /// Takes bytes, or as many as are left.
    func take(_ count: Int) -> Int {
        left?.withLock { left in
            let taken = min(left, count)
            left -= taken
            return taken
        } ?? count
    }
}

/// Waits within the timeout of one exchange.
struct TransferTimer: Sendable {
    private let clock: any Clock<Duration>
    private let timeout: Duration?
    private let elapsed: ElapsedTime

    init(_ clock: any Clock<Duration>, timeout: Duration?) {
        self.clock = clock
        self.timeout = timeout
        elapsed = ElapsedTime(clock)
    }

    /// The rest of the timeout; `nil` without one.
    ///
    /// - Throws: `URLError(.timedOut)`.
    func timeLeft() throws -> Duration? {
        guard let timeout else { return nil }
        let left = timeout - elapsed.current
        guard left > .zero else { throw URLError(.timedOut) }
        return left
    }

    /// Waits, at most until the timeout.
    ///
    /// - Throws: `URLError(.timedOut)` or `CancellationError`.
    func wait(_ duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        if let left = try timeLeft(), left <= duration {
            try await clock.wait(for: left)
            throw URLError(.timedOut)
        }
        try await clock.wait(for: duration)
    }
}

extension Int? {
    /// The bytes that are transferred at once: those of a tenth of a second.
    fileprivate var pieceSize: Int { map { max(1, $0 / 10) } ?? .max }

    /// The time that bytes take at this rate, in bytes a second.
    fileprivate func time(for count: Int) -> Duration {
        map { .seconds(Double(count) / Double(max(1, $0))) } ?? .zero
    }
}

extension TransportRequest {
    /// The request for a transport that returns a sample: its body has been sent, or is not.
    fileprivate func forSample() -> TransportRequest {
        var request = self
        request.body = .none
        request.timeout = nil
        return request
    }
}

extension TransportRequest {
    /// The closure for the progress that the other transport reports.
    fileprivate func progress(
        reportsUpload: Bool,
        reportsDownload: Bool
    ) -> (@Sendable (TransferProgress) -> Void)? {
        guard let progress, reportsUpload || reportsDownload else { return nil }
        if reportsUpload, reportsDownload { return progress }
        return { step in
            if step.direction == .upload ? reportsUpload : reportsDownload { progress(step) }
        }
    }
}

extension TransportRequest.Body {
    /// The size; `nil` without a body. A source of unknown size is read.
    fileprivate func byteCount() throws -> Int? {
        if case .none = self { return nil }
        if let length = try source()?.length { return Int(length) }
        return try bytes().count
    }
}

/// The body of a response, slowed down to the rate of the network.
private final class SlowBody: Sendable {
    private let body: ResponseBody?
    private let conditions: NetworkConditions
    private let losesConnection: Bool
    private let budget: ByteBudget
    private let timer: TransferTimer
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let total: Int64?
    private let state = Locked(State())

    private struct State: Sendable {
        /// Bytes that have been read from the transport, and not yet been returned.
        var rest: Data
        var completed: Int64 = 0
        var isAtEnd = false

        init(_ rest: Data = Data()) { self.rest = rest }
    }

    init(
        _ response: TransportResponse,
        conditions: NetworkConditions,
        losesConnection: Bool,
        budget: ByteBudget,
        timer: TransferTimer,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) {
        if case .stream(let body) = response.body { self.body = body } else { body = nil }
        self.conditions = conditions
        self.losesConnection = losesConnection
        self.budget = budget
        self.timer = timer
        self.progress = progress
        let headers = response.head.headers
        // The length of coded content is another one.
        total = headers.contains("Content-Encoding") ? nil : headers["Content-Length"].flatMap { Int64($0) }
    }

    /// The next piece; `nil` at the end.
    func next() async throws -> Data? {
        if losesConnection, state.withLock({ $0.completed > 0 }) { throw URLError(.networkConnectionLost) }
        try await fill()
        let rest = state.withLock { $0.rest }
        guard !rest.isEmpty else {
            if losesConnection { throw URLError(.networkConnectionLost) }
            let completed = state.withLock { $0.completed }
            progress?(TransferProgress(completed: completed, total: completed, direction: .download))
            return nil
        }
        let wanted = min(rest.count, losesConnection ? max(1, rest.count / 2) : .max, conditions.downloadRate.pieceSize)
        let taken = budget.take(wanted)
        guard taken > 0 else { throw URLError(.networkConnectionLost) }
        try await timer.wait(conditions.downloadRate.time(for: taken))
        let completed = state.withLock { state in
            state.rest = state.rest.dropFirst(taken)
            state.completed += Int64(taken)
            return state.completed
        }
        progress?(TransferProgress(completed: completed, total: total, direction: .download))
        return Data(rest.prefix(taken))
    }

    /// Reads the next piece from the transport if all bytes have been returned.
    private func fill() async throws {
        guard state.withLock({ $0.rest.isEmpty && !$0.isAtEnd }), let body else { return }
        var iterator = body.makeAsyncIterator()
        let piece = try await iterator.next()
        state.withLock { state in
            if let piece { state.rest = piece } else { state.isAtEnd = true }
        }
    }
}
