// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The transports that talk to real servers. A test that takes one as its argument holds for both.
enum Engine: String, Sendable, CaseIterable {
    #if os(Linux)
    /// `CurlTransport`.
    case curl
    #endif
    /// `URLSessionTransport`.
    case urlSession

    /// A transport that only one test uses: URLSession has six connections to a host, and a test that cancels many
    /// calls is not to hold up another's.
    var transport: any Transport {
        switch self {
        #if os(Linux)
        case .curl: CurlTransport.patient
        #endif
        case .urlSession: URLSessionTransport.another()
        }
    }

    /// A transport that nobody else's calls have to wait for, with room for many at a time: URLSession has six
    /// connections for a host, unless told.
    var ownTransport: any Transport {
        switch self {
        #if os(Linux)
        case .curl: return CurlTransport.another()
        #endif
        case .urlSession:
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = 64
            return URLSessionTransport(configuration: configuration)
        }
    }

    /// A provider of calls that goes over it.
    func provider(_ plugins: any Plugin...) -> Provider<ServerCall> {
        Provider(transport: transport, plugins: plugins)
    }

    /// Makes one call.
    func response(to call: ServerCall, _ plugins: any Plugin...) async throws(TargetKitError) -> Response {
        try await Provider(transport: transport, plugins: plugins).request(call)
    }

    /// Makes one call that has to fail.
    func failure(of call: ServerCall, _ plugins: any Plugin...) async -> TargetKitError? {
        await Provider(transport: transport, plugins: plugins).failure(of: call)
    }

    /// Makes one call to httpbin's `/anything`, or another address that answers the same, and reads what it has
    /// understood.
    func echo(of call: ServerCall) async throws -> Echo {
        let response = try await response(to: call).filter()
        return try response.decode(Echo.self)
    }

    /// Makes one call to nginx's `/echo`, and reads what it has understood.
    func lines(of call: ServerCall) async throws -> EchoLines {
        let response = try await response(to: call).filter()
        return try #require(EchoLines(String(decoding: response.data, as: UTF8.self)))
    }
}

extension Provider<ServerCall> {
    /// Makes one call that has to fail.
    func failure(of call: ServerCall) async -> TargetKitError? {
        do {
            _ = try await request(call) as Response
            return nil
        } catch {
            return error
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips, and says so, where the server is not running.
    static func needs(_ server: ServerAvailability) -> Self {
        .enabled(if: server.isRunning, Comment(rawValue: server.skipReason))
    }
}
