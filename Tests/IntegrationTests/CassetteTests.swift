// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Cassettes of what a real server answers.
@Suite("httpbin: cassettes", .throttled, .needs(.httpbin), .timeLimit(.minutes(2)))
struct CassetteTests {
    private static let calls: [ServerCall] = [
        .httpbin(.get, "/anything/tea", .query(["q": "green tea"])),
        .httpbin(.post, "/anything", .json(["items": [["id": 1, "count": 2]]])),
        .httpbin(.post, "/anything", .form(["a": "1", "b": "two words"])),
        .httpbin(.put, "/anything", .multipart([.text("tea", name: "title"), .data(Data([0, 1]), name: "file")])),
        .httpbin(.get, "/image/png"), .httpbin(.get, "/gzip"), .httpbin(.get, "/status/418"), .httpbin(.get, "/html"),
        .httpbin(.get, "/redirect/2"), .httpbin(.get, "/stream-bytes/3000?seed=1"),
    ]

    @Test("What httpbin answers is replayed byte for byte without it, and a changed request names the key")
    func replay() async throws {
        let folder = try TemporaryFolder()
        let recording = CassetteTransport(.record, folder: folder.url, recording: SystemTransport.another())
        let provider = Provider<ServerCall>(transport: recording)
        var originals: [Response] = []
        for call in Self.calls { originals.append(try await provider.request(call)) }

        let unreachable = StubTransport { _ in throw URLError(.cannotConnectToHost) }
        let cassette = CassetteTransport(.replay, folder: folder.url, recording: unreachable)
        let replaying = Provider<ServerCall>(transport: cassette)
        for (call, original) in zip(Self.calls, originals) {
            let replayed = try await replaying.request(call)
            #expect(replayed.statusCode == original.statusCode)
            #expect(replayed.data == original.data)
            #expect(replayed.headers.fields == original.headers.fields)
        }
        #expect(try cassette.unusedEntries.isEmpty)
        let changed = ServerCall.httpbin(.post, "/anything", .json(["items": [["id": 1, "count": 3]]]))
        let error = await #expect(throws: TargetKitError.self) { try await replaying.request(changed) }
        #expect("\(try #require(error?.underlying))".contains("body items.0.count: expected 2, found 3"))
    }
}
