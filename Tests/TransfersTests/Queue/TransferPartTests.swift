// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

@Suite("A queue of transfers: partial downloads", .throttled, .timeLimit(.minutes(2)))
struct TransferPartTests {
    private struct Clip: TargetType, Codable {
        var baseURL: URL
        var file: URL

        var path: RequestPath { "/clip" }
        var task: HTTPTask { .download(to: .file(file).resumable) }
    }

    private let folder: TemporaryFolder
    private let server: TestServer
    private let queue: TransferQueue<Clip>

    private var clip: Clip { Clip(baseURL: server.baseURL, file: folder.url.appendingPathComponent("clip")) }
    private var parts: [String] { folder.names.filter { $0.hasSuffix(".download") } }

    private var partSize: Int? {
        parts.first.flatMap { try? Data(contentsOf: folder.url.appendingPathComponent($0)).count }
    }

    init() throws {
        folder = try TemporaryFolder()
        let half = Data(repeating: 1, count: 500)
        server = try TestServer { request in
            guard request.headers["range"] == nil else {
                let headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Range": "bytes 500-999/1000"]
                return TestServer.Response(status: 206, headers: headers, body: half)
            }
            return [.head(status: 200, headers: ["ETag": "\"1\"", "Content-Length": "1000"]), .body(half), .hang]
        }
        queue = try TransferQueue(Provider(transport: SystemTransport.patient), maxConcurrent: 1)
    }

    private func wait(until isRight: () -> Bool) async throws {
        while !isRight() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Starts a download, and pauses it when a part of it is stored.
    private func paused() async throws -> UUID {
        let id = try await queue.add(clip)
        try await wait { partSize == 500 }
        queue.pause(id)
        await server.waitForConnections(closed: server.requestCount)
        return id
    }

    @Test("removes the part of a paused transfer that is cancelled or removed", arguments: [false, true])
    func ended(isRemoved: Bool) async throws {
        let id = try await paused()
        #expect(parts.count == 1)
        if isRemoved { queue.remove(id) } else { queue.cancel(id) }
        try await wait { parts.isEmpty }
    }

    @Test("keeps the part of a transfer when a cancelled one to the same file is cancelled again or removed")
    func sameFile() async throws {
        let cancelled = try await paused()
        queue.cancel(cancelled)
        try await wait { parts.isEmpty }
        let id = try await paused()
        // Starts when the call of the paused transfer has ended.
        let next = try await queue.add(Clip(baseURL: server.baseURL, file: folder.url.appendingPathComponent("next")))
        try await wait { parts.count == 2 }
        queue.cancel(cancelled)
        queue.remove(cancelled)
        #expect(parts.count == 2)
        queue.remove(next)
        queue.resume(id)
        #expect(try await queue.response(of: id).file == clip.file)
        #expect(server.requests.contains { $0.headers["Range"] == "bytes=500-" })
    }

    @Test("has finished when it is paused or cancelled after its file is in place", arguments: [false, true])
    func finished(isCancelled: Bool) async throws {
        struct Ending: Plugin {
            let end: @Sendable () -> Void
            func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) { end() }
        }
        let server = try TestServer { _ in TestServer.Response(body: Data("new".utf8)) }
        let ending = Locked<(@Sendable () -> Void)?>(nil)
        let hasBegun = Gate()
        let plugin = Ending { ending.withLock(\.self)?() }
        let queue = try TransferQueue<Clip>(Provider(transport: WaitingTransport(gate: hasBegun), plugins: [plugin]))
        let file = folder.url.appendingPathComponent("clip")
        let id = try await queue.add(Clip(baseURL: server.baseURL, file: file))
        ending.withLock { $0 = { if isCancelled { queue.cancel(id) } else { queue.pause(id) } } }
        hasBegun.open()
        try await wait { queue[id]?.response != nil }
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(folder.names == ["clip"])
    }

    /// Waits at a gate before it sends.
    private struct WaitingTransport: Transport {
        let gate: Gate
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            await gate.wait()
            return try await SystemTransport.patient.send(request)
        }
    }
}

extension Transfer {
    /// The response of a transfer that has finished.
    fileprivate var response: Response? {
        if case .finished(let response) = state { response } else { nil }
    }
}
