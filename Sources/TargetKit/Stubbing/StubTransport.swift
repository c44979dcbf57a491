// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport without a network: a closure answers.
///
/// ```swift
/// let transport = StubTransport { request in
///     .response(status: request.urlRequest.httpMethod == "POST" ? 201 : 200, data: Data("{}".utf8))
/// }
/// let provider = Provider<Catalog>(transport: transport)
/// ```
public struct StubTransport: Transport {
    private let respond: @Sendable (TransportRequest) async throws -> SampleResponse
    private let delay: Duration?
    private let clock: any Clock<Duration>

    /// A transport that answers with what the closure returns, or fails with what it throws.
    ///
    /// - Parameters:
    ///   - delay: How long each answer takes; default `nil`: no time.
    ///   - clock: What the delay is measured by; default the continuous clock.
    ///   - respond: Gives the answer to a request.
    public init(
        delay: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        respond: @escaping @Sendable (TransportRequest) async throws -> SampleResponse
    ) {
        self.respond = respond
        self.delay = delay
        self.clock = clock
    }

    /// A transport that answers every request with the same sample.
    public init(_ sample: SampleResponse, delay: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        self.init(delay: delay, clock: clock) { _ in sample }
    }

    /// Answers after the delay.
    ///
    /// - Throws: the sample's failure; `URLError(.timedOut)` when the delay is longer than the request's timeout;
    ///   `URLError(.dataLengthExceedsMaximum)` when the sample is over the limit; `CancellationError`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        if let delay { try await wait(delay, timeout: request.timeout) }
        let sample = try await respond(request)
        try Task.checkCancellation()
        switch sample {
        case .failure(let error):
            throw error
        case .response(let status, let headers, let data):
            request.reportProgress(downloaded: Int64(data.count))
            return TransportResponse(
                head: ResponseHead(statusCode: status, headers: headers),
                body: try store(data, in: request.destination)
            )
        }
    }

    private func wait(_ delay: Duration, timeout: Duration?) async throws {
        if let timeout, timeout < delay {
            try await clock.sleep(for: timeout)
            throw URLError(.timedOut)
        }
        try await clock.sleep(for: delay)
    }

    private func store(_ data: Data, in destination: TransportRequest.Destination) throws -> TransportResponse.Body {
        switch destination {
        case .memory(let limit):
            guard data.count <= limit else { throw URLError(.dataLengthExceedsMaximum) }
            return .data(data)
        case .file(let url):
            try data.write(to: url, options: .atomic)
            return .file(url)
        case .stream:
            let rest = Locked<Data?>(data.isEmpty ? nil : data)
            return .stream(
                ResponseBody {
                    rest.withLock { rest in
                        defer { rest = nil }
                        return rest
                    }
                }
            )
        }
    }
}

extension TransportRequest {
    fileprivate func reportProgress(downloaded count: Int64) {
        guard let progress else { return }
        let uploaded: Int64? =
            switch body {
            case .none: nil
            case .data(let data): Int64(data.count)
            case .file(let url): url.fileSize
            case .stream(let source): source.length
            }
        if let uploaded {
            progress(TransferProgress(completed: uploaded, total: uploaded, direction: .upload))
        }
        progress(TransferProgress(completed: count, total: count, direction: .download))
    }
}

extension URL {
    fileprivate var fileSize: Int64? {
        (try? resourceValues(forKeys: [.fileSizeKey]).fileSize).map(Int64.init)
    }
}
