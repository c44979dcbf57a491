// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitDiagnostics
import TargetKitPlugins
import TargetKitTesting
import TargetKitTransfers
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Recordings of compressed requests", .throttled, .timeLimit(.minutes(2)))
struct CompressedRecordingTests {
    private struct SignIn: RequestModel {
        var password = "s3cret"
        var note: String

        /// A large body is compressed while it is sent.
        init(size: Int) { note = String(repeating: "green tea ", count: size / 10) }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func target(_ server: TestServer, size: Int = 4000) -> TestTarget {
        var target = TestTarget(server.baseURL)
        target.method = .post
        target.task = .json(SignIn(size: size))
        return target
    }

    @Test(
        "A cassette stores the body as text without its secrets, and replays it with any coding",
        arguments: [BodyCompression.gzip(), .deflate()],
        [4000, 280_000]
    )
    func cassette(compression: BodyCompression, size: Int) async throws {
        let server = try TestServer(response: .json("{}"))
        let target = target(server, size: size)
        let recording = CassetteTransport(.record, folder: folder.url, recording: SystemTransport.another())
        let plugin = BodyCompressionPlugin(compression)
        _ = try await Provider<TestTarget>(transport: recording, plugins: [plugin]).request(target)
        #expect(server.requests.first?.headers["Content-Encoding"] != nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        let body = try #require(names.first { $0.contains("request") })
        let text = try String(contentsOf: folder.url.appending(path: body), encoding: .utf8)
        #expect(text.contains(#""password":"<redacted>""#) && text.contains("green tea"))
        for plugins in [[plugin], [], [BodyCompressionPlugin()]] {
            let cassette = CassetteTransport(.replay, folder: folder.url)
            _ = try await Provider<TestTarget>(transport: cassette, plugins: plugins).request(target)
        }
        #expect(server.requests.count == 1)
    }

    @Test("An archive has the body as text without its secrets, and its size on the way, and can be replayed")
    func archive() async throws {
        let server = try TestServer(response: .json("{}"))
        let traffic = HARPlugin(file: folder.url.appending(path: "traffic.har"))
        let plugins: [any Plugin] = [BodyCompressionPlugin(), traffic]
        _ = try await Provider<TestTarget>(transport: SystemTransport.another(), plugins: plugins).request(
            target(server)
        )
        await traffic.flush()
        let file = try #require(traffic.files.first)
        let json = try JSONValue(parsing: Data(contentsOf: file))
        let request = json[path: "log.entries.0.request"]
        #expect(request[path: "postData.text"].string?.contains(#""password":"<redacted>""#) == true)
        #expect(request["bodySize"].int == server.requests.first?.body.count)
        let replaying = Provider<TestTarget>(
            transport: CassetteTransport(har: file),
            plugins: [BodyCompressionPlugin()]
        )
        _ = try await replaying.request(target(server))
    }

    @Test("A stub and the log of its requests read the text of a compressed body")
    func stub() async throws {
        let log = RequestLog()
        let stub = StubTransport(
            routes: [.post("/things").with(.json("password", "s3cret")): .json("{}")],
            log: log
        )
        let provider = Provider<TestTarget>(transport: stub, plugins: [BodyCompressionPlugin()])
        let server = try TestServer(response: .json("{}"))
        _ = try await provider.request(target(server))
        let request = try #require(log.requests.first)
        #expect(request.body.count < 1000 && request.text.contains("green tea"))
    }
}
