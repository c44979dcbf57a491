// SPDX-License-Identifier: MIT
import TargetKit
import TestSupport
import Testing

@Suite("The promises of Transport", .serialized)
struct TransportConformanceTests {
    #if canImport(CTargetKitCurl)
    @Test("CurlTransport keeps each promise", .timeLimit(.minutes(1)), arguments: TransportConformance.promises)
    func curl(promise: TransportPromise) async throws {
        let transport = CurlTransport.another()
        try await promise.check(transport)
        transport.shutdown()
    }
    #endif

    @Test("URLSessionTransport keeps each promise", .timeLimit(.minutes(1)), arguments: urlSessionPromises)
    func urlSession(promise: TransportPromise) async throws {
        let transport = URLSessionTransport.another()
        try await promise.check(transport)
        transport.shutdown()
    }

    #if canImport(FoundationNetworking)
    /// Promises that Linux's Foundation does not let anybody keep. `URLSessionTransportTests` has what happens instead,
    /// `FoundationTrapTests` and `FoundationFatalTests` say when it is mended.
    private static let broken: Set = [
        "A connection that ends within the head is .networkConnectionLost",
        "It brings back a redirect without a Location, and its body",
        "It reads a header field that is not UTF-8 as ISO-8859-1",
    ]
    /// `URLSessionStreamTests` has those of them that need no more than a switch.
    private static let streaming = Set(TransportConformance.streaming.map(\.description))
    private static let urlSessionPromises = TransportConformance.promises.filter { promise in
        !broken.contains(promise.description) && !streaming.contains(promise.description)
    }

    @Test("What is left out for URLSession is in the list of promises")
    func leftOut() {
        #expect(Self.broken.isSubset(of: TransportConformance.promises.map(\.description)))
    }
    #else
    private static let urlSessionPromises = TransportConformance.promises
    #endif
}
