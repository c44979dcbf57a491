// SPDX-License-Identifier: MIT

/// A transport that returns sample responses without a network.
///
/// ```swift
/// let transport = StubTransport { request in
///     .response(status: request.urlRequest.httpMethod == "POST" ? 201 : 200, data: Data("{}".utf8))
/// }
/// let provider = Provider<Catalog>(transport: transport)
/// ```
public struct StubTransport: Transport {
    private enum Answer: Sendable {
        case sample(SampleResponse)
        case closure(
            @Sendable (TransportRequest) async throws -> SampleResponse,
            owner: (any AnyObject & Sendable)?
        )
    }

    private let answer: Answer
    private let delay: Duration?
    private let clock: any Clock<Duration>

    /// Creates a transport that returns the closure's sample, or throws its error.
    ///
    /// - Parameters:
    ///   - delay: The time before each response; default `nil`.
    ///   - clock: The clock that measures the delay; default: the continuous clock.
    ///   - respond: Returns the sample for a request.
    public init(
        delay: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        respond: @escaping @Sendable (TransportRequest) async throws -> SampleResponse
    ) {
        self.init(.closure(respond, owner: nil), delay: delay, clock: clock)
    }

    /// Creates a transport that returns one sample for every request.
    public init(_ sample: SampleResponse, delay: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        self.init(.sample(sample), delay: delay, clock: clock)
    }

    private init(_ answer: Answer, delay: Duration?, clock: any Clock<Duration>) {
        self.answer = answer
        self.delay = delay
        self.clock = clock
    }

    /// Creates a transport whose closure has an owner, which ``owner`` returns.
    package init(
        clock: any Clock<Duration>,
        owner: any AnyObject & Sendable,
        respond: @escaping @Sendable (TransportRequest) async throws -> SampleResponse
    ) {
        self.init(.closure(respond, owner: owner), delay: nil, clock: clock)
    }

    /// The object that the closure belongs to; `nil` if there is none.
    package var owner: (any AnyObject & Sendable)? {
        guard case .closure(_, let owner) = answer else { return nil }
        return owner
    }

    /// Reads the request's body like a real transport, and returns the sample after the delay.
    ///
    /// - Throws: The sample's failure; an error of the body's source; a `URLError` such as `.fileDoesNotExist` if a
    ///   file can't be read or written; `URLError(.timedOut)` if the delay exceeds the request's timeout;
    ///   `URLError(.dataLengthExceedsMaximum)` if the sample exceeds the limit; `CancellationError`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let sent = try byteCount(of: request.body)
        var timeout = request.timeout
        if let delay { try await wait(delay, timeout: &timeout) }
        let sample: SampleResponse
        switch answer {
        case .sample(let given): sample = given
        case .closure(let respond, _):
            sample = try await respond(request)
            try Task.checkCancellation()
        }
        if sample.isDelayed { try await wait(sample.withDelay.delay, timeout: &timeout) }
        return try response(sample, to: request, sent)
    }

    private func response(
        _ sample: SampleResponse,
        to request: TransportRequest,
        _ sent: Int64?
    ) throws -> TransportResponse {
        switch sample {
        case .failure(let error):
            throw error
        case .response(let status, let headers, let data):
            let body = try store(data, in: request.destination)
            if let sent { request.report(sent, direction: .upload) }
            request.report(Int64(data.count), direction: .download)
            return TransportResponse(sample: ResponseHead(statusCode: status, headers: headers), body: body)
        case .delayed(_, let sample):
            return try response(sample, to: request, sent)
        }
    }

    /// Waits for the delay, and subtracts it from the timeout.
    private func wait(_ delay: Duration, timeout: inout Duration?) async throws {
        if let limit = timeout {
            if limit < delay {
                try await clock.wait(for: limit)
                throw ExceededLimit.stub(delay: delay, limit: limit).error
            }
            timeout = limit - delay
        }
        try await clock.wait(for: delay)
        try Task.checkCancellation()
    }
}

// MARK: - Bodies

extension StubTransport {
    /// The size of the body in bytes; `nil` without a body.
    private func byteCount(of body: TransportRequest.Body) throws -> Int64? {
        switch body {
        case .none: return nil
        case .data(let data): return Int64(data.count)
        case .stream(let source): return try byteCount(of: source)
        case .file(let url): return try FileBodySource(url).length
        }
    }

    private func byteCount(of source: any BodySource) throws -> Int64 {
        var count: Int64 = 0
        try source.readAll { piece in
            count += Int64(piece.count)
            try Task.checkCancellation()
        }
        return count
    }

    private func store(_ data: Data, in destination: TransportRequest.Destination) throws -> TransportResponse.Body {
        switch destination {
        case .memory(let limit):
            guard data.count <= limit else { throw URLError(.dataLengthExceedsMaximum) }
            return .data(data)
        case .upgrade:
            return .data(data)
        case .file(let url):
            try PartialFile(writing: url).append(data)
            return .file(url)
        case .stream(let buffer):
            let rest = Locked(data)
            return .stream(
                ResponseBody {
                    try Task.checkCancellation()
                    return rest.withLock { rest in
                        let piece = rest.prefix(max(1, buffer))
                        rest = rest.dropFirst(piece.count)
                        return piece.isEmpty ? nil : piece
                    }
                }
            )
        }
    }
}

extension TransportRequest {
    fileprivate func report(_ count: Int64, direction: TransferProgress.Direction) {
        progress?(TransferProgress(completed: count, total: count, direction: direction))
    }
}
