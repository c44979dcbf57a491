// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("The requirements of Transport", .serialized)
struct TransportConformanceTests {
    #if canImport(CTargetKitCurl)
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
    /// Requirements that Linux's Foundation does not let anybody keep. `URLSessionTransportTests` has what happens instead,
    /// `FoundationTrapTests` and `FoundationFatalTests` say when it is mended.
    private static let broken: Set = [
        "A connection that is closed within the head is .networkConnectionLost",
        "It returns a redirect without a Location, with its body",
        "It reads a header field that is not UTF-8 as ISO-8859-1",
    ]
    /// `URLSessionStreamTests` has those of them that need no more than a switch.
    private static let streaming = Set(TransportConformance.streaming.map(\.description))
    private static let urlSessionRequirements = TransportConformance.requirements.filter { requirement in
        !broken.contains(requirement.description) && !streaming.contains(requirement.description)
    }

    @Test("Every exception for URLSession is in the list of requirements")
    func leftOut() {
        #expect(Self.broken.isSubset(of: TransportConformance.requirements.map(\.description)))
    }
    #else
    private static let urlSessionRequirements = TransportConformance.requirements
    #endif
}
