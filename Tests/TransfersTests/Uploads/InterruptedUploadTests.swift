// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit
import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uploads that are interrupted at random moments. `TARGETKIT_UPLOAD_SERVER` makes this program the process that is
/// killed.
@Suite("Uploads: interruptions", .throttled, .serialized, .timeLimit(.minutes(5)))
struct InterruptedUploadTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let size = 16 << 20
    private static let upload = ResumableUpload.tus.chunkSize(256 << 10)

    /// The offsets at which parts were sent.
    private static func offsets(_ server: TusServer) -> [Int] {
        server.server.requests.compactMap { request in
            request.method == .patch ? request.headers["Upload-Offset"].flatMap { Int($0) } : nil
        }
    }

    @Test("An upload that is cancelled or reset 40 times arrives identical, and nothing that was stored is sent twice")
    func interrupted() async throws {
        let fixture = try UploadFixture(size: Self.size)
        let server = try TusServer()
        let target = fixture.target(server.baseURL, Self.upload)
        var random = SeededGenerator(seed: 12)
        var isComplete = false
        for round in 0..<40 {
            let before = server.server.bytesReceived
            let call = Task { try await fixture.provider().request(target) }
            await server.server.waitForBytes(received: before + Int.random(in: 1...(360 << 10), using: &random))
            if round.isMultiple(of: 2) { call.cancel() } else { server.server.closeConnections(reset: true) }
            isComplete = if case .success = await call.result { true } else { false }
            if isComplete { break }
        }
        if !isComplete { _ = try await fixture.provider().request(target) }
        #expect(server.state.withLock { $0.uploads.values.contains { $0.data == fixture.content } })
        let offsets = Self.offsets(server)
        #expect(offsets == offsets.sorted())
        #expect(Set(offsets).count == offsets.count)
        #expect(server.methods.count { $0 == "POST" } <= 3)
        #expect(fixture.stateNames.isEmpty)
    }

    #if os(Linux)
    @Test("A process that is killed while it uploads continues when it is started again")
    func killed() async throws {
        let fixture = try UploadFixture(size: Self.size)
        let server = try TusServer()
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let words = [
            "TARGETKIT_UPLOAD_SERVER=\(server.baseURL)", "TARGETKIT_UPLOAD_FILE=\(fixture.file.path)",
            "TARGETKIT_UPLOAD_STATES=\(fixture.states.path)", program, "--testing-library", "swift-testing", "--filter",
            "InterruptedUploadTests.process",
        ]
        var random = SeededGenerator(seed: 6)
        for _ in 0..<6 {
            let (before, heads) = (server.server.bytesReceived, server.server.headCount)
            let child = try ChildProcess("/usr/bin/env", words)
            await server.server.waitForHeads(heads + 1)
            await server.server.waitForBytes(received: before + Int.random(in: 1...(2 << 20), using: &random))
            kill(child.id, SIGKILL)
            #expect(child.wait() == 128 + SIGKILL)
        }
        let (status, output, _) = try await ChildProcess.finished("/usr/bin/env", words)
        #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
        let contents = server.state.withLock { $0.uploads.values.map(\.data) }
        #expect(contents.contains(fixture.content))
        // Killed between the creation and the state, an upload is created again.
        #expect(server.methods.count { $0 == "POST" } <= 3)
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("The process that is killed", .enabled(if: environment["TARGETKIT_UPLOAD_SERVER"] != nil))
    func process() async throws {
        let url = try #require(Self.environment["TARGETKIT_UPLOAD_SERVER"].flatMap { URL(string: $0) })
        let file = URL(filePath: try #require(Self.environment["TARGETKIT_UPLOAD_FILE"]))
        let states = URL(filePath: try #require(Self.environment["TARGETKIT_UPLOAD_STATES"]))
        let target = TestTarget(url).with {
            $0.method = .post
            $0.task = .upload(file: file).resumable(Self.upload.stateFolder(states))
            $0.validation = .successCodes
        }
        _ = try await Provider<TestTarget>().request(target)
    }
    #endif
}
