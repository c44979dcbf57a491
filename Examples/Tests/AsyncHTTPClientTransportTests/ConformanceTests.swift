// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import AsyncHTTPClientTransport
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import Testing

@Suite("A transport on async-http-client", .serialized)
struct ConformanceTests {
    /// The requirements that this transport cannot meet.
    private static let unsupported: Set = [
        // SwiftNIO repairs a field that is not UTF-8 before the client sees it.
        "readsLatin1Fields",
        // The client ends a body only when its reader is cancelled or releases it, and has no deadline after the head.
        "timeoutIncludesStream",
        "timeoutEndsUnreadStream",
        // In two of four runs, the client did not return within 30 seconds after a cancel while it sent a body.
        "cancelsUpload",
    ]
    private static let requirements = TransportConformance.requirements.filter { !unsupported.contains($0.id) }

    @Test("It meets each requirement of Transport", .timeLimit(.minutes(1)), arguments: requirements)
    func conforms(requirement: TransportRequirement) async throws {
        try await withTransport { try await requirement.check($0) }
    }

    @Test("Every exception is in the list of requirements")
    func exceptions() {
        #expect(Self.unsupported.isSubset(of: TransportConformance.requirements.map(\.id)))
    }

    @Test("The handle of a provider's call cancels its exchange", .timeLimit(.minutes(1)))
    func handle() async throws {
        try await withTransport { transport in
            let server = try TestServer(response: .hang)
            let provider = Provider<URLTarget>(transport: transport)
            let handle = provider.request(URLTarget(server.baseURL), on: .global()) { _ in }
            _ = try await server.log.next()
            handle.cancel()
            let error = await #expect(throws: TargetKitError.self) { try await handle.response() }
            #expect(error?.stage == .cancelled)
            try await server.waitForClosedConnections()
        }
    }

    private func withTransport(_ body: (AsyncHTTPClientTransport) async throws -> Void) async throws {
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: AsyncHTTPClientTransport.configuration
        )
        do {
            try await body(AsyncHTTPClientTransport(client))
        } catch {
            Issue.record(error)
        }
        try await client.shutdown()
    }
}
