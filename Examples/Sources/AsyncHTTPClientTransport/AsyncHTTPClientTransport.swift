// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Foundation
import TargetKit

/// Sends requests with async-http-client, as an example of a transport of your own.
///
/// Files and body sources are read and written on Swift's cooperative pool, so a slow disk delays other tasks.
public struct AsyncHTTPClientTransport: Transport {
    /// A configuration for the requirements of ``Transport``: redirects are not followed, bodies are decoded, and a
    /// refused connection fails at once. TargetKit limits the size of bodies itself.
    public static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            decompression: .enabled(limit: .none)
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    private let client: HTTPClient

    /// Creates a transport that uses a client, made with ``configuration`` and shut down by its owner.
    public init(_ client: HTTPClient) {
        self.client = client
    }

    /// Performs one exchange.
    ///
    /// - Throws: A `URLError` or `CancellationError`, or the error of the request's ``BodySource``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        do {
            try Task.checkCancellation()
            return try await Self.within(request.timeout) {
                // The client's own deadline ends at the head.
                let response = try await client.execute(HTTPClientRequest(request), deadline: .distantFuture)
                return try await TransportResponse(response, to: request)
            }
        } catch {
            throw urlError(for: error)
        }
    }

    /// Returns the result of the exchange, which is cancelled when its time is over.
    private static func within(
        _ timeout: Duration?,
        _ exchange: @escaping @Sendable () async throws -> TransportResponse
    ) async throws -> TransportResponse {
        guard let timeout else { return try await exchange() }
        guard timeout > .zero else { throw URLError(.timedOut) }
        return try await withThrowingTaskGroup(of: TransportResponse?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await exchange() }
            group.addTask {
                try await Task.sleep(for: min(timeout, .seconds(1 << 30)))
                return nil
            }
            guard let first = try await group.next(), let response = first else { throw URLError(.timedOut) }
            return response
        }
    }
}
