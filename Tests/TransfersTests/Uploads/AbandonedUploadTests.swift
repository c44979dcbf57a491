// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit
import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uploads that can't be continued, and are begun again.
@Suite("Uploads: begun again", .throttled, .timeLimit(.minutes(2)))
struct AbandonedUploadTests {
    private let fixture: UploadFixture

    init() throws {
        fixture = try UploadFixture(size: 300_000)
    }

    private var hasState: Bool { fixture.stateNames.contains { $0.hasSuffix(".json") } }

    @Test("A tus upload that the server refuses to describe is begun again", arguments: [400, 403, 405, 410, 412, 451])
    func tus(status: Int) async throws {
        let server = try TusServer { request, number in
            if number == 3 { return .reset }
            return request.method.rawValue == "HEAD" ? .status(status, headers: ["Tus-Resumable": "1.0.0"]) : nil
        }
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000))
        _ = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        #expect(hasState)
        _ = try await fixture.provider().request(target)
        #expect(Array(server.methods.dropFirst(4)) == ["HEAD", "OPTIONS", "POST", "PATCH", "PATCH"])
        #expect(server.state.withLock { $0.uploads["/files/2"]?.data }?.whole == fixture.content.whole)
    }

    @Test("An upload of HTTP that the server refuses to describe is begun again", arguments: [400, 403, 405, 409, 451])
    func http(status: Int) async throws {
        let isFirst = Locked(true)
        let server = try HTTPUploadServer { request in
            if request.method.rawValue == "HEAD" { return .status(status) }
            guard request.method == .post else { return nil }
            let first = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            return first ? nil : .text("stored")
        }
        let target = fixture.target(server.baseURL, .http)
        _ = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        #expect(hasState)
        #expect(try await fixture.provider().request(target).data == Data("stored".utf8))
        #expect(server.methods == ["POST", "HEAD", "POST"])
    }

    @Test("A status that can be temporary keeps the upload", arguments: [401, 407, 408, 423, 425, 429, 500, 503])
    func temporary(status: Int) async throws {
        let server = try TusServer { request, number in
            if number == 3 { return .reset }
            return number == 4 ? .status(status) : nil
        }
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000))
        for _ in 1...2 {
            _ = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
            #expect(hasState)
        }
        _ = try await fixture.provider().request(target)
        #expect(server.content?.whole == fixture.content.whole)
        #expect(Array(server.methods.dropFirst(4)) == ["HEAD", "HEAD", "PATCH"])
    }

    @Test(
        "An upload whose parts the server refuses is begun again by the next call",
        arguments: [400, 405, 412, 415, 451]
    )
    func refusedPart(status: Int) async throws {
        let server = try TusServer { _, number in number == 3 ? .status(status) : nil }
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000))
        let error = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        #expect(error?.response?.statusCode == status)
        _ = try await fixture.provider().request(target)
        #expect(Array(server.methods.dropFirst(4)) == ["OPTIONS", "POST", "PATCH", "PATCH"])
    }

    /// A transport that reaches some ports only.
    private struct PartialNetwork: Transport {
        let unreachable: Locked<[Int: URLError.Code]>

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            if let port = request.urlRequest.url?.port, let code = unreachable.withLock({ $0[port] }) {
                throw URLError(code)
            }
            return try await SystemTransport.patient.send(request)
        }
    }

    @Test(
        "An upload at another server that can't be reached is begun again, at once or after the second timeout",
        arguments: [URLError.Code.cannotFindHost, .cannotConnectToHost, .serverCertificateUntrusted, .timedOut]
    )
    func unreachable(code: URLError.Code) async throws {
        let server = try TusServer()
        server.setLocationBase("http://127.0.0.1:9")
        let network = PartialNetwork(unreachable: Locked([9: code]))
        let target = fixture.target(server.baseURL, .tus)
        let provider = fixture.provider(transport: network)
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(hasState)
        server.setLocationBase("")
        if code == .timedOut {
            _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
            #expect(server.methods == ["OPTIONS", "POST"])
        }
        _ = try await provider.request(target)
        #expect(server.methods == ["OPTIONS", "POST", "OPTIONS", "POST", "PATCH"])
        #expect(server.state.withLock { $0.uploads["/files/2"]?.data }?.whole == fixture.content.whole)
    }

    @Test("An upload is kept while no server can be reached")
    func offline() async throws {
        let server = try TusServer { _, number in number == 3 ? .reset : nil }
        let other = try TestServer { [state = server.state] request in TusServer.response(to: request, state) }
        server.setLocationBase(other.baseURL.absoluteString)
        let network = PartialNetwork(unreachable: Locked([:]))
        let provider = fixture.provider(transport: network)
        let target = fixture.target(server.baseURL, .tus)
        let ports = try [server.baseURL, other.baseURL].map { try #require($0.port) }
        network.unreachable.withLock { $0 = [ports[1]: .cannotConnectToHost] }
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        network.unreachable.withLock { $0 = [ports[0]: .cannotFindHost, ports[1]: .cannotFindHost] }
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(hasState)
        network.unreachable.withLock { $0 = [:] }
        _ = try await provider.request(target)
        #expect(server.methods == ["OPTIONS", "POST"])
        #expect(other.requests.map(\.method.rawValue) == ["HEAD", "PATCH"])
    }

    @Test("An upload that is discarded begins again, with a file or with data", arguments: [false, true])
    func discarded(isData: Bool) async throws {
        let server = try TusServer { _, number in number == 3 ? .reset : nil }
        let upload = ResumableUpload.tus.chunkSize(200_000).stateFolder(fixture.states)
        var target = fixture.target(server.baseURL, upload)
        if isData { target.task = .data(fixture.content).resumable(upload) }
        let provider = fixture.provider()
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(hasState)
        await provider.discardTransfer(of: target)
        #expect(fixture.stateNames.isEmpty)
        _ = try await provider.request(target)
        #expect(Array(server.methods.dropFirst(4)) == ["OPTIONS", "POST", "PATCH", "PATCH"])
    }

    @Test("A transfer in progress, and a call that is not resumable, have nothing to discard")
    func notDiscarded() async throws {
        let server = try TusServer { _, number in number == 3 ? .hang : nil }
        let target = fixture.target(server.baseURL, .tus.chunkSize(200_000))
        let provider = fixture.provider()
        let call = Task { try await provider.request(target) }
        await server.server.waitForRequests(4)
        await provider.discardTransfer(of: target)
        #expect(hasState)
        await provider.discardTransfer(of: TestTarget(server.baseURL))
        call.cancel()
        _ = await call.result
        _ = try await provider.request(target)
        #expect(Array(server.methods.dropFirst(4)) == ["HEAD", "PATCH"])
    }
}
