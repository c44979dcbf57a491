// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Holds calls while the device is offline, for a time, instead of letting them fail.
///
/// ```swift
/// Provider<Orders>(plugins: [WaitsForConnectivityPlugin(timeout: .seconds(30)), tokens])
/// ```
///
/// A call is held in `prepare` and goes on as soon as the device is online, or nothing is known of it any more. When the time is
/// over, the call fails with `URLError(.notConnectedToInternet)`, so with kind `.offline`, or is sent all the same
/// (`failsAfterTimeout: false`). Held calls count as calls in flight and are cancelled as such; a limit of `CallTimeout.wholeCall` covers
/// the wait, one for the exchange does not. Never held are calls to this machine (`localhost`, `127.…`, `::1`), calls whose
/// target opts out by ``ConnectivityTarget`` or by a closure, and all while nothing is known.
///
/// A call that fails for want of a network while it is under way is sent again, held like any other, if sending it twice does
/// no harm: its method is idempotent (RFC 9110 §9.2.2), or it has an `Idempotency-Key`. For want of a network means kind
/// `.offline`; or that the server was not found, did not answer or was lost, and the device is offline by then.
///
/// Order: first, or right after a ``LoadingPlugin``, so that plugins after it get their tokens and time stamps when the call is
/// about to go out. It may stand on either side of a plugin that repeats calls; the one that stands first decides.
public struct WaitsForConnectivityPlugin: Plugin {
    private let reachability: Reachability
    private let timeout: Duration
    private let clock: any Clock<Duration>
    private let failsAfterTimeout: Bool
    private let repetitions: Int
    private let isHeld: @Sendable (any TargetType) -> Bool
    /// How often this plugin has had each call sent again. Begun in the first `prepare` and nowhere else: a shared exchange goes
    /// on when the call that began it has been to `process`, and what is kept for it then would stay for ever.
    private let counts = Locked<[RequestContext.ID: Int]>([:])

    /// A plugin that holds calls by that reachability, which it starts.
    ///
    /// - Parameters:
    ///   - reachability: Says whether the device is online; default: the one of the process.
    ///   - timeout: How long a call is held at each attempt; default: a minute, at most a year. Zero or less: not at
    ///     all, it goes on as if the device were online.
    ///   - failsAfterTimeout: Whether it then fails with `URLError(.notConnectedToInternet)`; default `true`. With `false` it is
    ///     sent all the same: for servers that are reachable without a default route.
    ///   - repetitions: How often a call that failed for want of a network is sent again; default: once. Zero: never. What other
    ///     plugins repeat does not count.
    ///   - clock: What the time is measured by; default: the continuous clock.
    ///   - isHeld: Whether a target's calls are held and sent again; default: those of targets that do not opt out by
    ///     ``ConnectivityTarget``.
    public init(
        _ reachability: Reachability = .shared,
        timeout: Duration = .seconds(60),
        failsAfterTimeout: Bool = true,
        repetitions: Int = 1,
        clock: any Clock<Duration> = ContinuousClock(),
        isHeld: (@Sendable (any TargetType) -> Bool)? = nil
    ) {
        self.reachability = reachability
        self.timeout = min(timeout, LongestWait.year)
        self.failsAfterTimeout = failsAfterTimeout
        self.repetitions = repetitions
        self.clock = clock
        self.isHeld = isHeld ?? { ($0 as? any ConnectivityTarget)?.waitsForConnectivity ?? true }
        reachability.start()
    }

    /// Holds the call while the device is offline.
    ///
    /// - Throws: `URLError(.notConnectedToInternet)` after the time, unless the call is to be sent then; `CancellationError`.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        if context.attempt == 0 { counts.withLock { $0[context.id] = 0 } }
        guard timeout > .zero, !reachability.isReachable, isHeld(context.target),
            request.url?.isOnThisMachine != true
        else { return request }
        guard try await !isOnlineInTime(), failsAfterTimeout else { return request }
        throw URLError(
            .notConnectedToInternet,
            userInfo: [NSLocalizedDescriptionKey: "the device has been offline for \(timeout)"]
        )
    }

    /// Asks for another attempt, which ``prepare(_:context:)`` then holds, if it was the network that was missing.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard case .failure(let error) = result, isForWantOfNetwork(error), isHeld(context.target),
            isRepeatable(error.request, context.target)
        else { return .doNotRetry }
        // Of a shared exchange whose first caller has gone, the attempts are all that is known.
        let count = counts.withLock { $0[context.id] } ?? context.attempt
        guard count < repetitions else { return .doNotRetry }
        counts.withLock { $0[context.id]? += 1 }
        return .retry(after: .zero)
    }

    /// Forgets the call.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        counts.withLock { $0[context.id] = nil }
        return result
    }

    /// Returns `true` when the device is online, or it is not known; `false` when the time is over.
    private func isOnlineInTime() async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { [reachability, clock, timeout] group in
            group.addTask {
                for await status in reachability.statuses where status.isReachable { return true }
                throw CancellationError()
            }
            group.addTask {
                try await clock.sleep(for: timeout)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    private func isForWantOfNetwork(_ error: TargetKitError) -> Bool {
        guard error.stage == .transport else { return false }
        switch error.kind {
        case .offline: return true
        case .cannotConnect, .connectionLost, .timedOut: return !reachability.isReachable
        default: return false
        }
    }

    private func isRepeatable(_ request: URLRequest?, _ target: any TargetType) -> Bool {
        request?.isSafeToRepeat ?? RetryPolicy.idempotentMethods.contains(target.method)
    }
}

extension URL {
    /// Whether it leads to a server on this machine, for which no network is needed.
    fileprivate var isOnThisMachine: Bool {
        guard let host = host()?.lowercased() else { return false }
        return host == "localhost" || host.hasPrefix("127.") || host == "::1" || host == "[::1]"
    }
}

/// A target that says whether its calls are held while the device is offline. Targets that do not conform are.
///
/// A call that is of no use later is not: what the person types into a search field, or a look whether something is new.
public protocol ConnectivityTarget: TargetType {
    /// Whether a ``WaitsForConnectivityPlugin`` holds this call while the device is offline, and sends it again when it was
    /// offline that made it fail.
    var waitsForConnectivity: Bool { get }
}
