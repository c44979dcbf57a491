// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

@Suite("The requirements of Transport", .throttled)
struct TransportConformanceTests {
    #if os(Linux)
    @Test("CurlTransport meets each requirement", .timeLimit(.minutes(3)), arguments: TransportConformance.requirements)
    func curl(requirement: TransportRequirement) async throws {
        let transport = CurlTransport.another()
        try await requirement.check(transport)
        transport.shutdown()
    }
    #endif

    @Test("URLSessionTransport meets each requirement", .timeLimit(.minutes(3)), arguments: urlSessionRequirements)
    func urlSession(requirement: TransportRequirement) async throws {
        let transport = URLSessionTransport.another()
        try await requirement.check(transport)
        transport.shutdown()
    }

    #if canImport(FoundationNetworking)
    /// Requirements that Linux's Foundation does not let anybody keep. `URLSessionTransportTests` has what happens
    /// instead, `FoundationTrapTests` and `FoundationFatalTests` say when it is mended.
    private static let broken: Set = [
        "closedWithinHead", "returnsRedirectWithoutLocation", "readsLatin1Fields",
    ]
    /// `URLSessionStreamTests` has those of them that need no more than a switch.
    private static let streaming = Set(TransportConformance.streaming.map(\.id))
    private static let urlSessionRequirements = TransportConformance.requirements.filter { requirement in
        !broken.contains(requirement.id) && !streaming.contains(requirement.id)
    }

    @Test("Every exception for URLSession is in the list of requirements")
    func leftOut() {
        #expect(Self.broken.isSubset(of: TransportConformance.requirements.map(\.id)))
    }
    #else
    private static let urlSessionRequirements = TransportConformance.requirements
    #endif
}
