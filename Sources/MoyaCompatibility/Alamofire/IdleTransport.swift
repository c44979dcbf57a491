// SPDX-License-Identifier: MIT
import TargetKit

/// Applies URLSession's two timeouts to the requests of a ``MoyaProvider``. `URLRequest.timeoutInterval` limits the
/// time without a byte, and the session's `timeoutIntervalForResource` the time of one request with its redirects.
///
/// A transport has a single idle timeout, so requests with another timeout use a separate transport.
final class IdleTransport: Transport {
    /// The maximum number of separate transports. Requests with further timeouts use the session's transport, and the
    /// timeout limits the whole request.
    private static let transportLimit = 8
    /// The resource limit of a URLSession by default: seven days.
    static let longestTime: Duration = .seconds(7 * 24 * 3_600)

    private let makeTransport: Unchecked<(TimeInterval?) -> any Transport>
    private let standard: any Transport
    private let others = Locked<[TimeInterval: any Transport]>([:])

    /// - Parameter transport: Creates the transport for an idle timeout in seconds; `nil` for the session's timeout.
    init(_ transport: @escaping (TimeInterval?) -> any Transport) {
        makeTransport = Unchecked(transport)
        standard = transport(nil)
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.isOfMoyaProvider else { return try await standard.send(request) }
        let (transport, unlimited) = limited(request)
        guard let limit = request.timeout, limit < Self.longestTime else { return try await transport.send(unlimited) }
        return try await withThrowingTaskGroup(of: TransportResponse.self) { group in
            group.addTask { try await transport.send(unlimited) }
            group.addTask {
                try await _Concurrency.Task.sleep(for: limit)
                throw URLError(.timedOut)
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw URLError(.timedOut) }
            return response
        }
    }

    /// The transport with the request's idle timeout, and the request without an exchange timeout, because that would
    /// override the idle timeout.
    private func limited(_ request: TransportRequest) -> (transport: any Transport, request: TransportRequest) {
        var request = request
        let seconds = request.urlRequest.timeoutInterval
        // 60 seconds, the default of `URLRequest`, represents the session's timeout.
        guard seconds != 60, seconds > 0, seconds < 1e9 else {
            request.timeout = nil
            return (standard, request)
        }
        let transport = transport(idleTimeout: seconds)
        request.timeout = transport == nil ? min(.seconds(seconds), request.timeout ?? Self.longestTime) : nil
        return (transport ?? standard, request)
    }

    /// The transport with an idle timeout; `nil` if there are too many others.
    private func transport(idleTimeout seconds: TimeInterval) -> (any Transport)? {
        let (known, isFull) = others.withLock { ($0[seconds], $0.count >= Self.transportLimit) }
        if isFull || known != nil { return known }
        // Created outside the lock, because this may call an object of the app.
        let new = makeTransport.value(seconds)
        return others.withLock { others in
            if let known = others[seconds] { return known }
            others[seconds] = new
            return new
        }
    }
}

extension TransportRequest {
    /// Whether a ``MoyaProvider`` made the call, rather than its ``MoyaProvider/targetKit``, which has TargetKit's
    /// timeouts.
    fileprivate var isOfMoyaProvider: Bool {
        (target as? any LegacyTargetValue)?.call?.endsOnCallbackQueue == true
    }
}
