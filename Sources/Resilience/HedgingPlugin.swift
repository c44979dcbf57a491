// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Sends a request a second time if the first one takes unusually long, and uses the first response.
///
/// ```swift
/// let retry = RetryPlugin()
/// let provider = Provider<Search>(plugins: [retry, HedgingPlugin(budgetOf: retry)])
/// ```
///
/// The second request is sent after a fixed delay, or after the 95th percentile of the endpoint's last 200 exchanges,
/// once there are 20. The first response is the result regardless of its status, and the other request is cancelled. If
/// one request fails, the result of the other is used.
///
/// - Requests are sent twice only if they have an idempotent method (RFC 9110 §9.2.2) or an `Idempotency-Key`, the
///   request and response bodies are in memory, and no progress is reported. File uploads, downloads to files and
///   streams are sent once.
/// - A `RetryBudget` limits second requests. It is either the budget of a `RetryPlugin`, shared with its retries, or a
///   separate one.
/// - Plugins observe one exchange. A second request has the same header fields and signature, and doesn't count in a
///   ``ConcurrencyLimitPlugin`` or ``RateLimitPlugin``.
public struct HedgingPlugin: Plugin {
    /// The durations of an endpoint's last exchanges.
    private struct Durations: Sendable {
        /// The minimum number of durations for a percentile.
        static let minimum = 20
        static let limit = 200

        /// In order of time.
        private var latest: [Duration] = []
        /// In order of length.
        private var sorted: [Duration] = []

        mutating func add(_ duration: Duration) {
            if latest.count == Self.limit { sorted.remove(at: index(of: latest.removeFirst())) }
            latest.append(duration)
            sorted.insert(duration, at: index(of: duration))
        }

        var percentile95: Duration? {
            guard sorted.count >= Self.minimum else { return nil }
            return sorted[(sorted.count * 95 + 99) / 100 - 1]
        }

        /// The number of shorter durations.
        private func index(of duration: Duration) -> Int {
            sorted.firstIndex { $0 >= duration } ?? sorted.count
        }
    }

    private enum Event: Sendable {
        case ended(Result<TransportResponse, any Error>)
        case delayEnded
        case delayCancelled
    }

    /// The maximum number of hedged endpoints, so that names with identifiers don't fill the memory.
    private static let endpointLimit = 200
    private let fixedDelay: Duration?
    private let clock: any Clock<Duration>
    private let elapsedTime: ElapsedTime
    private let counter: RetryCounter
    private let countsCalls: Bool
    private let durations = Locked<[String: Durations]>([:])

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - delay: The time after which the second request is sent; default `nil`: the 95th percentile of the endpoint's
    ///     durations. An endpoint is a case of a target with its method.
    ///   - retry: The provider's plugin whose budget counts the second requests; default `nil`: a separate
    ///     `RetryBudget()`.
    ///   - clock: Measures delays and durations; default: the continuous clock.
    public init(
        after delay: Duration? = nil,
        budgetOf retry: RetryPlugin? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        fixedDelay = delay
        counter = retry?.counter ?? RetryCounter(RetryBudget(), clock: clock)
        countsCalls = retry == nil
        self.clock = clock
        elapsedTime = ElapsedTime(clock)
    }

    /// The place inside request signing, so that both requests have the same signature.
    public var place: PluginPlace { .hedging }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { .exchange }

    /// Performs one exchange, with one or two requests.
    ///
    /// - Throws: The error of the exchange. If both requests fail, the first error of one that may have reached the
    ///   server, or else the last error.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        guard request.isHedgeable else { return try await next(request) }
        let scope = context.scope
        if countsCalls { counter.countCall(in: scope) }
        if let fixedDelay { return try await race(request, after: fixedDelay, in: scope, next) }
        let method = request.urlRequest.httpMethod ?? "GET"
        let (endpoint, start) = ("\(method) \(context.target.name)", elapsedTime.current)
        let response =
            if let delay = durations.withLock({ $0[endpoint]?.percentile95 }) {
                try await race(request, after: delay, in: scope, next)
            } else {
                try await next(request)
            }
        note(elapsedTime.current - start, of: endpoint)
        return response
    }

    private func note(_ duration: Duration, of endpoint: String) {
        durations.withLock { durations in
            guard durations[endpoint] != nil || durations.count < Self.endpointLimit else { return }
            durations[endpoint, default: Durations()].add(duration)
        }
    }

    private func race(
        _ request: TransportRequest,
        after delay: Duration,
        in scope: RequestScope,
        _ next: Exchange
    ) async throws -> TransportResponse {
        let result = await withTaskGroup(of: Event.self) { group -> Result<TransportResponse, any Error> in
            group.addTask { await ended(request, next: next) }
            group.addTask {
                do { try await clock.wait(for: delay) } catch { return .delayCancelled }
                return .delayEnded
            }
            // The tasks of a group end before the group, so the other request has released its connection.
            defer { group.cancelAll() }
            var (inFlight, failure) = (1, (any Error)?.none)
            while let event = await group.next() {
                switch event {
                case .ended(.success(let response)): return .success(response)
                case .ended(.failure(let error)):
                    inFlight -= 1
                    // The call's error says whether the server may have processed the request.
                    failure = failure.map { Self.isUnsent($0) ? error : $0 } ?? error
                    if inFlight == 0 { return .failure(failure ?? error) }
                case .delayEnded:
                    guard !Task.isCancelled, counter.takeRepetition(in: scope) else { continue }
                    inFlight += 1
                    let second = request.shortened(by: delay)
                    group.addTask { await ended(second, next: next) }
                case .delayCancelled: continue
                }
            }
            return .failure(failure ?? CancellationError())
        }
        return try result.get()
    }

    /// Whether the request of a failure can't have reached the server.
    private static func isUnsent(_ error: any Error) -> Bool {
        (error as? TargetKitError ?? TargetKitError(stage: .transport, underlying: error)).isUnsent
    }

    private func ended(_ request: TransportRequest, next: Exchange) async -> Event {
        do { return .ended(.success(try await next(request))) } catch { return .ended(.failure(error)) }
    }
}

extension TransportRequest {
    /// Whether the request may be sent twice at the same time.
    fileprivate var isHedgeable: Bool {
        guard progress == nil, case .memory = destination, urlRequest.isRepeatable() else { return false }
        switch body {
        case .none, .data: return true
        case .file, .stream: return false
        }
    }

    /// This request with the remaining time of its timeout after a delay.
    fileprivate func shortened(by delay: Duration) -> TransportRequest {
        var request = self
        request.timeout = timeout.map { max($0 - delay, .milliseconds(1)) }
        return request
    }
}
