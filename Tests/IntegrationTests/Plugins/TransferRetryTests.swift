// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Retry of transfers that can be continued", .throttled, .timeLimit(.minutes(2)))
struct TransferRetryTests {
    private struct File: TargetType {
        let baseURL: URL
        let task: HTTPTask
        var method = HTTPMethod.get
        var path: RequestPath { "/files" }
    }

    private static let size = 1_000_000

    private let folder: TemporaryFolder
    private let provider = Provider<File>(
        transport: SystemTransport.patient,
        plugins: [RetryPlugin(policy: RetryPolicy(attempts: 3, baseDelay: .zero), budget: .unlimited)]
    )

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A server that closes the connection after some bytes of each response.
    private func server(sending count: Int) throws -> TestServer {
        let content = Data((0..<Self.size).map { UInt8(truncatingIfNeeded: $0 >> 7) })
        return try TestServer { request in
            let first = request.headers["range"].flatMap { Int($0.filter(\.isNumber)) } ?? 0
            var headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Length": "\(Self.size - first)"]
            if first > 0 { headers["Content-Range"] = "bytes \(first)-\(Self.size - 1)/\(Self.size)" }
            let head = TestServer.Step.head(status: first == 0 ? 200 : 206, headers: headers)
            return [head, .body(content.dropFirst(first).prefix(count)), .close]
        }
    }

    @Test("A download that advances with each attempt is repeated until it is complete")
    func advancing() async throws {
        let server = try server(sending: 100_000)
        let file = folder.url.appendingPathComponent("file")
        let target = File(baseURL: server.baseURL, task: .download(to: .file(file).resumable))
        let response = try await provider.request(target)
        #expect(response.file == file)
        #expect(server.requestCount == 10)
    }

    @Test("A download that hardly advances ends with the last of its attempts")
    func stalling() async throws {
        let server = try server(sending: 10_000)
        let file = folder.url.appendingPathComponent("file")
        let target = File(baseURL: server.baseURL, task: .download(to: .file(file).resumable))
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(error?.kind == .connectionLost)
        #expect(server.requestCount == 3)
    }

    @Test("A plain download is repeated as often as the policy says, however much arrives")
    func plain() async throws {
        let server = try server(sending: 900_000)
        let target = File(baseURL: server.baseURL, task: .download(to: folder.url.appendingPathComponent("file")))
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(server.requestCount == 3)
    }

    @Test("An upload whose server still processes the interrupted request is repeated", arguments: [2, 3])
    func locked(count: Int) async throws {
        let server = try TestServer { request in
            switch (request.method, request.index) {
            case ("OPTIONS", _):
                TestServer.Response(
                    status: 204,
                    headers: ["Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Extension": "creation"]
                )
            case ("POST", _):
                TestServer.Response(status: 201, headers: ["Tus-Resumable": "1.0.0", "Location": "/files/1"])
            case ("PATCH", 2): [.close]
            case ("HEAD", 3..<(2 + count)):
                TestServer.Response(status: 423, headers: ["Tus-Resumable": "1.0.0"])
            case ("HEAD", _):
                TestServer.Response(
                    status: 200,
                    headers: ["Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Upload-Length": "1000"]
                )
            default:
                TestServer.Response(status: 204, headers: ["Tus-Resumable": "1.0.0", "Upload-Offset": "1000"])
            }
        }
        let content = try folder.file("content", Data(count: 1000))
        let upload = ResumableUpload.tus.stateFolder(folder.url.appendingPathComponent("state"))
        let target = File(baseURL: server.baseURL, task: .upload(file: content).resumable(upload), method: .post)
        let result = await provider.result(target)
        let methods = server.requests.map(\.method)
        if count == 2 {
            #expect(try result.get().statusCode == 204)
            #expect(methods == ["OPTIONS", "POST", "PATCH", "HEAD", "HEAD", "PATCH"])
        } else {
            #expect(throws: TargetKitError.self) { try result.get() }
            #expect(methods == ["OPTIONS", "POST", "PATCH", "HEAD", "HEAD"])
        }
    }

    @Test("The status 423 of another request is final")
    func lockedElsewhere() async throws {
        let server = try TestServer { _ in TestServer.Response(status: 423) }
        let target = File(baseURL: server.baseURL, task: .plain)
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(server.requestCount == 1)
    }

    @Test(
        "A download of several ranges at the same time obeys a limit of concurrent requests",
        arguments: [1, 2, 3, 4]
    )
    func limited(maxConcurrent: Int) async throws {
        let content = Data((0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 >> 9) })
        let server = try TestServer { request in
            let bounds = request.headers["range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap {
                Int($0)
            }
            guard let bounds, let first = bounds.first else {
                return TestServer.Response(
                    status: 200,
                    headers: ["ETag": "\"1\"", "Accept-Ranges": "bytes"],
                    body: content
                )
            }
            let last = bounds.dropFirst().first ?? content.count - 1
            let headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Range": "bytes \(first)-\(last)/\(content.count)"]
            return TestServer.Response(status: 206, headers: headers, body: content[first...last])
        }
        let file = folder.url.appendingPathComponent("file")
        let counter = ExchangeCounter()
        let provider = Provider<File>(
            transport: SystemTransport.patient,
            plugins: [ConcurrencyLimitPlugin(maxConcurrent), counter, counter.ends]
        )
        let target = File(baseURL: server.baseURL, task: .download(to: .file(file).segments(4)))
        let response = try await provider.request(target)
        #expect(response.file == file)
        #expect(try Data(contentsOf: file) == content)
        #expect(counter.maximum.withLock(\.self) <= maxConcurrent)
    }

    /// Counts the exchanges that are in flight, from the transport to their end.
    private struct ExchangeCounter: Plugin {
        fileprivate enum SentKey: RequestContextKey { typealias Value = Bool }

        let current = Locked(0)
        let maximum = Locked(0)

        var place: PluginPlace { .observation }

        var ends: ExchangeEnds { ExchangeEnds(current: current) }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            context[SentKey.self] = true
            let count = current.withLock { count in
                count += 1
                return count
            }
            maximum.withLock { $0 = max($0, count) }
            return try await next(request)
        }
    }

    /// Counts an end before the limit lets another exchange begin.
    private struct ExchangeEnds: Plugin {
        let current: Locked<Int>

        var place: PluginPlace { .start }

        func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
            if context[ExchangeCounter.SentKey.self] == true { current.withLock { $0 -= 1 } }
        }
    }
}
