// SPDX-License-Identifier: MIT
import TargetKit

/// A transport with the conditions of a network.
struct ConditionedTransport: Transport {
    private let conditions: NetworkConditions
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let random: Locked<SeededGenerator>
    /// The remaining bytes until the device is offline.
    private let budget: ByteBudget

    init(_ conditions: NetworkConditions, over transport: any Transport, seed: UInt64, clock: any Clock<Duration>) {
        self.conditions = conditions
        self.transport = transport
        self.clock = clock
        random = Locked(SeededGenerator(seed: seed))
        budget = ByteBudget(conditions.offlineAfter)
    }

    var reportsInterimResponses: Bool { transport.reportsInterimResponses }

    var streamsResponses: Bool { transport.streamsResponses }

    var upgradesConnections: Bool { transport.upgradesConnections }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let events = random.withLock { CallEvents(conditions, random: &$0) }
        let timer = TransferTimer(clock, timeout: request.timeout)
        if budget.isSpent { throw URLError(.notConnectedToInternet) }
        try await timer.wait(events.latency)
        if conditions.hasCaptivePortal { return try await portal(request) }
        if events.loss == .beforeRequest { throw URLError(.networkConnectionLost) }
        let isUploaded = try await upload(request, timer: timer)
        if events.isError, events.loss == nil {
            let sample = SampleResponse.response(status: conditions.errorStatus, data: Data())
            return try await StubTransport(sample).send(request.forSample())
        }
        var sent = request
        sent.timeout = try timer.remainingTime()
        let slowsDownload = conditions.downloadRate != nil || budget.isLimited || events.loss == .withinResponse
        sent.progress = request.progress(reportsUpload: !isUploaded, reportsDownload: !slowsDownload)
        // The rates apply to bodies, and a connection has no body.
        if case .upgrade = sent.destination { return try await transport.send(sent) }
        guard slowsDownload else { return try await transport.send(sent) }
        return try await slowResponse(
            to: request,
            sent: sent,
            timer: timer,
            losesConnection: events.loss == .withinResponse
        )
    }

    /// Sends a request, whose response is slowed down according to the conditions.
    private func slowResponse(
        to request: TransportRequest,
        sent: TransportRequest,
        timer: TransferTimer,
        losesConnection: Bool
    ) async throws -> TransportResponse {
        var sent = sent
        switch sent.destination {
        case .stream: break
        case .memory where transport.streamsResponses:
            sent.isCollected = true
            sent.destination = .stream(buffer: 256 << 10)
        default: sent.destination = transport.streamsResponses ? .stream(buffer: 256 << 10) : .memory()
        }
        var response = try await transport.send(sent)
        let body = SlowBody(
            response,
            conditions: conditions,
            losesConnection: losesConnection,
            budget: budget,
            timer: timer,
            progress: request.progress
        )
        guard case .stream = request.destination else {
            return try await deliver(body, response: response, to: request)
        }
        response.body = .stream(ResponseBody { try await body.next() })
        return response
    }

    /// Waits while the body is sent, and returns whether progress was reported.
    private func upload(_ request: TransportRequest, timer: TransferTimer) async throws -> Bool {
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
        response: TransportResponse,
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

/// The random events of one call. Each call uses the same number of random numbers, regardless of the conditions.
private struct CallEvents {
    enum Loss: Equatable {
        case beforeRequest
        case withinResponse
    }

    let latency: Duration
    let loss: Loss?
    let isError: Bool

    init(_ conditions: NetworkConditions, random: inout SeededGenerator) {
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

extension TransportRequest {
    /// The request for a transport that returns a sample, without its body.
    fileprivate func forSample() -> TransportRequest {
        var request = self
        request.body = .none
        request.timeout = nil
        return request
    }
}

extension TransportRequest {
    /// The closure for the progress of the other transport.
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
    /// The size of the body; `nil` if there is none. A source of unknown size is read.
    fileprivate func byteCount() throws -> Int? {
        if case .none = self { return nil }
        if let length = try source()?.length { return Int(clamping: length) }
        return try bytes().count
    }
}
