// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// Requests that an HTTP/2 server does not process, and those that it may have processed (RFC 9113 §6.8, §8.7).
@Suite(
    "CurlTransport: refused requests",
    .throttled,
    .serialized,
    .enabled(if: HTTP2Server.isAvailable, "skipped: there is no /usr/bin/openssl or no python3"),
    .timeLimit(.minutes(3))
)
struct CurlRefusalTests {
    /// Sends POSTs with the bodies at once, and returns the failures.
    private func post(
        _ bodies: [String],
        to server: HTTP2Server,
        with transport: CurlTransport
    ) async -> [URLError.Code] {
        await withTaskGroup(of: URLError.Code?.self) { group in
            for body in bodies {
                let call = TestCall(method: "POST", body: .data(Data(body.utf8)))
                group.addTask { await call.failure(at: server.baseURL, with: transport) }
            }
            return await group.reduce(into: []) { if let code = $1 { $0.append(code) } }
        }
    }

    /// The bodies of the requests that the server has processed so far.
    private func processed(by server: HTTP2Server, with transport: CurlTransport) async -> [String] {
        _ = await post(["end"], to: server, with: transport)
        return await server.processed(through: "end").dropLast()
    }

    static let refusals: [[HTTP2Server.Behaviour]] = [
        [.refuse, .answer], [.answer, .refuse, .answer], [.goAway, .answer], [.answer, .goAway, .answer],
        [.answer, .goAwayAndClose, .answer], [.goAwayAndClose, .answer], [.answerAndGoAway, .answer],
    ]

    @Test("A request that the server reports as not processed is sent again", arguments: refusals, ["GET", "POST"])
    func refused(behaviours: [HTTP2Server.Behaviour], method: String) async throws {
        let server = try HTTP2Server(behaviours)
        let transport = server.transport()
        let body: TransportRequest.Body = method == "POST" ? .data(Data("x".utf8)) : .none
        let call = TestCall(method: method, body: body)
        for behaviour in behaviours where behaviour.rawValue.hasPrefix("answer") {
            #expect(await call.failure(at: server.baseURL, with: transport) == nil)
        }
    }

    @Test(
        "Each of many POSTs is processed once by a server that ends its connections with GOAWAY",
        arguments: [(1, 20), (7, 200), (50, 400)]
    )
    func goAwayUnderLoad(requestsPerConnection: Int, count: Int) async throws {
        let server = try HTTP2Server(requestsPerConnection: requestsPerConnection)
        let transport = server.transport()
        let bodies = (0..<count).map { "\(1000 + $0)" }
        #expect(await post(bodies, to: server, with: transport).isEmpty)
        let processed = await processed(by: server, with: transport)
        #expect(processed.sorted() == bodies)
    }

    @Test("Many GETs succeed at a server that ends its connections with GOAWAY")
    func manyGets() async throws {
        let server = try HTTP2Server(requestsPerConnection: 7)
        let transport = server.transport()
        let codes = await withTaskGroup(of: URLError.Code?.self) { group in
            for _ in 0..<200 { group.addTask { await TestCall().failure(at: server.baseURL, with: transport) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.allSatisfy { $0 == nil })
    }

    @Test("A server that refuses every request gets a limited number of them", arguments: ["GET", "POST"])
    func refusesAll(method: String) async throws {
        let server = try HTTP2Server([.goAwayAndClose])
        let transport = server.transport()
        let body: TransportRequest.Body = method == "POST" ? .data(Data("x".utf8)) : .none
        let call = TestCall(method: method, body: body)
        #expect(await call.failure(at: server.baseURL, with: transport) == .networkConnectionLost)
        transport.shutdown()
    }

    @Test(
        "A POST that the server may have processed is sent once",
        arguments: [HTTP2Server.Behaviour.close, .acceptAndClose]
    )
    func lost(behaviour: HTTP2Server.Behaviour) async throws {
        let server = try HTTP2Server([.answer, behaviour, .answer])
        let transport = server.transport()
        #expect(await post(["first"], to: server, with: transport).isEmpty)
        #expect(await post(["second"], to: server, with: transport) == [.networkConnectionLost])
        #expect(await processed(by: server, with: transport) == ["first", "second"])
    }

    static let earlyResponses: [HTTP2Server.Behaviour] = [.early, .earlyWithLength, .earlyAndReset]

    @Test(
        "A response that arrives before the request has been sent is returned afterward",
        arguments: earlyResponses,
        [true, false]
    )
    func early(behaviour: HTTP2Server.Behaviour, hasSibling: Bool) async throws {
        let server = try HTTP2Server(hasSibling ? [.answer, .hang, behaviour] : [.answer, behaviour])
        let transport = server.transport()
        #expect(await TestCall().failure(at: server.baseURL, with: transport) == nil)
        let sibling = Task { hasSibling ? await TestCall().failure(at: server.baseURL, with: transport) : nil }
        if hasSibling { _ = await server.events(through: "HEADERS 3") }
        let upload = TestCall(method: "POST", body: .data(Data(count: 200_000)), timeout: .seconds(60))
        #expect(await upload.failure(at: server.baseURL, with: transport) == nil)
        sibling.cancel()
        _ = await sibling.value
    }
}
#endif
