// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import Glibc
@testable import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// What the error of a call says about the limit of the transport that it exceeded.
@Suite("CurlTransport: what a timeout says", .throttled, .timeLimit(.minutes(2)))
struct CurlTimeoutTests {
    private func failure(
        of url: URL,
        _ change: (inout CurlTransport.Configuration) -> Void
    ) async throws -> TargetKitError {
        var configuration = CurlTransport.Configuration.patient
        change(&configuration)
        let provider = Provider<URLTarget>(transport: CurlTransport(configuration: configuration))
        let error = await #expect(throws: TargetKitError.self) { _ = try await provider.request(URLTarget(url)) }
        return try #require(error)
    }

    @Test("A server that sends nothing: the idle timeout, and what to set")
    func idle() async throws {
        let server = try TestServer(response: .hang)
        let error = try await failure(of: server.baseURL) { $0.idleTimeout = .milliseconds(200) }
        #expect(error.kind == .timedOut)
        #expect(
            error.description.contains(
                #"the request timed out: no data was sent or received for 0.2 seconds; set \.timeout, or a longer "#
                    + "idleTimeout of CurlTransport"
            )
        )
    }

    @Test("A host that accepts no connection: the connect timeout, and what to check")
    func unconnected() async throws {
        let host = try FullHost()
        defer { withExtendedLifetime(host) {} }
        let error = try await failure(of: host.url) { $0.connectTimeout = .milliseconds(300) }
        #expect(error.kind == .timedOut)
        #expect(
            error.description.contains(
                "the request timed out: no connection was opened within 0.3 seconds; check the host and the port, or "
                    + "set a longer connectTimeout of CurlTransport"
            )
        )
    }
}

/// A listener whose queue of connections is full, so that Linux ignores further ones.
private final class FullHost {
    private let descriptors: [Int32]
    let url: URL

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var descriptors = (0..<5).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_NONBLOCK, 0) }
        self.descriptors = descriptors
        let listener = descriptors.removeFirst()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
                guard bind(listener, address, length) == 0, listen(listener, 0) == 0 else { return errno }
                getsockname(listener, address, &length)
                for client in descriptors { _ = connect(client, address, length) }
                return 0
            }
        }
        url = try #require(status == 0 ? URL(string: "http://127.0.0.1:\(address.sin_port.bigEndian)/") : nil)
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
#endif
