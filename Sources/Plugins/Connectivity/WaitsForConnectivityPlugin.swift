// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Delays calls while the device is offline, up to a timeout, instead of letting them fail.
///
/// ```swift
/// Provider<Orders>(plugins: [WaitsForConnectivityPlugin(timeout: .seconds(30)), tokens])
/// ```
///
/// A request waits until the device is online or its status is unknown; a stored response is used without a wait. After
/// the timeout the call fails with `URLError(.notConnectedToInternet)`, which has the kind `.offline`, or is sent
/// anyway (`failsAfterTimeout: false`). A waiting call is in flight and can be cancelled; a limit of
/// `CallTimeout.wholeCall` includes the wait, one for the exchange doesn't. Calls to this machine (`localhost`,
/// `127.…`, `::1`) don't wait, nor do calls that opt out by `CallOptions.waitsForConnectivity` or by a closure.
///
/// The device's network must also be one that the call may use (`CallOptions.allowsCellular`, `.allowsExpensive`,
/// `.allowsConstrained`). A call waits for such a network, and fails with `URLError(.dataNotAllowed)` if there is none;
/// a call that doesn't wait fails at once.
///
/// A call that fails because there is no network is sent again, after a wait like any other, if it is safe to repeat:
/// its method is idempotent (RFC 9110 §9.2.2), or it has an `Idempotency-Key`. There is no network if the failure's
/// kind is `.offline`, or if the server wasn't found, didn't respond or was lost, and the device is offline by then.
public struct WaitsForConnectivityPlugin: Plugin {
    private let reachability: Reachability
    private let timeout: Duration
    private let clock: any Clock<Duration>
    private let failsAfterTimeout: Bool
    private let repetitions: Int
    private let isHeld: @Sendable (any TargetType) -> Bool
    /// How often this plugin retried the call.
    private let counts = PluginStorage<Int>()

    /// Creates a plugin that starts and uses a reachability.
    ///
    /// - Parameters:
    ///   - reachability: Says whether the device is online; default: ``Reachability/shared``.
    ///   - timeout: How long a call waits at each attempt; default: one minute, at most a year. With zero or less,
    ///     calls don't wait.
    ///   - failsAfterTimeout: Whether the call then fails with `URLError(.notConnectedToInternet)`; default: `true`.
    ///     With `false` it is sent: for servers that are reachable without a default route.
    ///   - repetitions: How often a call is sent again that failed because there is no network; default: once.
    ///     Repetitions that other plugins ask for don't count.
    ///   - clock: Measures the timeout; default: the continuous clock.
    ///   - isHeld: Whether a target's calls wait and are sent again, unless they opt out by
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

    /// The hooks that it implements.
    public var hooks: PluginHooks { [.exchange, .retry, .waiting] }

    /// Waits while the device is offline.
    ///
    /// - Throws: `TargetKitError` of stage `.request` with `URLError(.notConnectedToInternet)` after the timeout,
    ///   unless the request is sent then, or with `URLError(.dataNotAllowed)`; `CancellationError`.
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

    /// Waits until there is a network for the request. Returns why it isn't sent; `nil` if it is.
    private func failure(of request: URLRequest, context: RequestContext) async throws -> URLError? {
        let refused = context.options.refusedNetworks
        guard !reachability.status.serves(refused), request.url?.isOnThisMachine != true else { return nil }
        let waits = timeout > .zero && isHeld(context)
        if waits, try await isServedInTime(refused) { return nil }
        guard reachability.isOnline else {
            guard waits, failsAfterTimeout else { return nil }
            return Self.error(.notConnectedToInternet, text: "the device has been offline for \(timeout)")
        }
        return Self.error(.dataNotAllowed, text: "the options of the call do not allow the device's network")
    }

    private static func error(_ code: URLError.Code, text: String) -> URLError {
        URLError(code, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// Asks for another attempt, which waits, if there was no network.
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

    /// Returns `true` when there is a network for the call or its status is unknown, `false` after the timeout.
    private func isServedInTime(_ refused: RefusedNetworks) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { [reachability, clock, timeout] group in
            group.addTask {
                for await status in reachability.statuses where status.serves(refused) { return true }
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
    /// Whether its server is on this machine, for which no network is needed.
    fileprivate var isOnThisMachine: Bool {
        guard let host = host()?.lowercased() else { return false }
        return host == "localhost" || host.hasPrefix("127.") || host == "::1" || host == "[::1]"
    }
}

extension CallOptions {
    /// Whether a `WaitsForConnectivityPlugin` delays the call while the device is offline, and sends it again if it
    /// fails because there is no network; default `true`. Set it to `false` for calls whose results are soon out of
    /// date, such as suggestions for a search.
    public var waitsForConnectivity: Bool {
        get { self[WaitsForConnectivityKey.self] }
        set { self[WaitsForConnectivityKey.self] = newValue }
    }
}

private enum WaitsForConnectivityKey: CallOptionKey { static let defaultValue = true }
