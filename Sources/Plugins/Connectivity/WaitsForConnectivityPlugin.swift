// SPDX-License-Identifier: MIT
import TargetKit

/// Delays calls while the device is offline, up to a timeout, instead of failing them.
///
/// ```swift
/// Provider<Orders>(plugins: [WaitsForConnectivityPlugin(timeout: .seconds(30)), tokens])
/// ```
///
/// A request waits until the device is online or its status is unknown. It doesn't wait if a `ResponseCachePlugin` has a
/// response that it returns instead of a failure; the call then returns that response.
/// After the timeout, the call fails with `URLError(.notConnectedToInternet)`, which has the kind `.offline`, or is
/// sent anyway (`failsAfterTimeout: false`). A waiting call is in flight and can be cancelled. `CallTimeout.wholeCall`
/// includes the wait; an exchange timeout doesn't. Calls to this machine (`localhost`, `127.…`, `::1`) don't wait, nor
/// do calls that opt out with `CallOptions.waitsForConnectivity` or a closure.
///
/// The call must also be allowed to use the device's network (`CallOptions.allowsCellular`, `.allowsExpensive`,
/// `.allowsConstrained`). Otherwise, it waits for an allowed network, and fails with `URLError(.dataNotAllowed)` if
/// there is none. A call that doesn't wait fails immediately.
///
/// A call that fails because there is no network is retried after a wait if its method is idempotent (RFC 9110 §9.2.2)
/// or it has an `Idempotency-Key`. A failure counts as such if its kind is `.offline`, or if the server wasn't found,
/// didn't respond, or the connection was lost, and the device is then offline.
public struct WaitsForConnectivityPlugin: Plugin {
    private let reachability: Reachability
    private let timeout: Duration
    private let clock: any Clock<Duration>
    private let failsAfterTimeout: Bool
    private let repetitions: Int
    private let isHeld: @Sendable (any TargetType) -> Bool
    /// The number of times that this plugin retried the call.
    private let counts = PluginStorage<Int>()

    /// Creates a plugin that starts and uses a reachability.
    ///
    /// - Parameters:
    ///   - reachability: Reports whether the device is online; default: ``Reachability/shared``.
    ///   - timeout: The maximum wait of each attempt; default: one minute, at most a year. If zero or less, calls don't
    ///     wait.
    ///   - failsAfterTimeout: Whether the call then fails with `URLError(.notConnectedToInternet)`; default: `true`. If
    ///     `false`, it is sent, for servers that are reachable without a default route.
    ///   - repetitions: The maximum number of retries after failures because there is no network; default: 1. Retries
    ///     of other plugins don't count.
    ///   - clock: Measures the timeout; default: the continuous clock.
    ///   - isHeld: Returns whether a target's calls wait and are retried, unless they opt out with
    ///     `CallOptions.waitsForConnectivity`; default: `true`.
    public init(
        _ reachability: Reachability = .shared,
        timeout: Duration = .seconds(60),
        failsAfterTimeout: Bool = true,
        repetitions: Int = 1,
        clock: any Clock<Duration> = ContinuousClock(),
        isHeld: @escaping @Sendable (any TargetType) -> Bool = { _ in true }
    ) {
        self.reachability = reachability
        self.timeout = min(timeout, LongestWait.year)
        self.failsAfterTimeout = failsAfterTimeout
        self.repetitions = repetitions
        self.clock = clock
        self.isHeld = isHeld
        reachability.start()
    }

    /// `PluginPlace.connectivity`.
    public var place: PluginPlace { .connectivity }

    /// `true`.
    public var isSingle: Bool { true }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.exchange, .retry] }

    /// Waits while the device is offline.
    ///
    /// - Throws: `TargetKitError` of stage `.request` with `URLError(.notConnectedToInternet)` after the timeout,
    ///   unless the request is then sent, or with `URLError(.dataNotAllowed)`; or `CancellationError`.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        if let error = try await failure(of: request.urlRequest, context: context) {
            throw TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
        }
        return try await next(request)
    }

    /// Waits until there is a network for the request. Returns the reason not to send it, or `nil`.
    private func failure(of request: URLRequest, context: RequestContext) async throws -> URLError? {
        let options = context.options
        guard !reachability.status.serves(options), request.url?.isOnThisMachine != true else { return nil }
        let waits = timeout > .zero && isHeld(context)
        let hasStoredResponse = context[HasStoredResponseKey.self] == true
        if waits, !hasStoredResponse, try await isServedInTime(options) { return nil }
        guard reachability.isOnline else {
            guard waits, failsAfterTimeout else { return nil }
            let duration = hasStoredResponse ? "" : " for \(timeout)"
            return Self.error(.notConnectedToInternet, text: "the device has been offline\(duration)")
        }
        return Self.error(.dataNotAllowed, text: "the options of the call don't allow the device's network")
    }

    private static func error(_ code: URLError.Code, text: String) -> URLError {
        URLError(code, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// Requests another attempt, which waits, if there was no network.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard case .failure(let error) = result, isWithoutNetwork(error), isHeld(context), context.isRepeatable
        else { return .doNotRetry }
        let count = context[counts] ?? 0
        guard count < repetitions else { return .doNotRetry }
        context[counts] = count + 1
        return .retry(after: .zero)
    }

    private func isHeld(_ context: RequestContext) -> Bool {
        context.options.waitsForConnectivity && isHeld(context.target)
    }

    /// Returns `true` when there is a network for the call or the status is unknown, or `false` after the timeout.
    private func isServedInTime(_ options: CallOptions) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { [reachability, clock, timeout] group in
            group.addTask {
                for await status in reachability.statuses where status.serves(options) { return true }
                throw CancellationError()
            }
            group.addTask {
                try await clock.wait(for: timeout)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    private func isWithoutNetwork(_ error: TargetKitError) -> Bool {
        guard error.stage == .transport else { return false }
        switch error.kind {
        case .offline: return true
        case .cannotConnect, .connectionLost, .timedOut: return !reachability.isOnline
        default: return false
        }
    }
}

extension URL {
    /// Whether its server is on this machine, so that no network is needed.
    fileprivate var isOnThisMachine: Bool {
        guard let host = host()?.lowercased() else { return false }
        return host == "localhost" || host.hasPrefix("127.") || host == "::1" || host == "[::1]"
    }
}

/// Whether a cache returns a stored response if the request can't be sent.
package enum HasStoredResponseKey: RequestContextKey { package typealias Value = Bool }

extension CallOptions {
    /// Whether a `WaitsForConnectivityPlugin` delays the call while the device is offline, and retries it if it fails
    /// because there is no network; default `true`. Set it to `false` for calls whose results quickly become outdated,
    /// such as search suggestions.
    public var waitsForConnectivity: Bool {
        get { self[WaitsForConnectivityKey.self] }
        set { self[WaitsForConnectivityKey.self] = newValue }
    }
}

private enum WaitsForConnectivityKey: CallOptionKey { static let defaultValue = true }
