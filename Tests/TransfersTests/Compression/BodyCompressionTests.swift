// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TargetKitTransfers
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Compressed request bodies", .throttled, .timeLimit(.minutes(2)))
struct BodyCompressionTests {
    private static let text = Data(String(repeating: "{\"tea\":\"Long Jing\",\"price\":42}\n", count: 400).utf8)
    private static let json = "application/json"

    /// A server that returns the body as it was sent, with its coding, so that the transport decodes it.
    private func echo(refusals: Int = 0, status: Int = 415, headers: HTTPHeaders = [:]) throws -> TestServer {
        let count = Locked(0)
        return try TestServer { request in
            let coding = request.headers["Content-Encoding"]
            let isRefused =
                coding != nil
                && count.withLock {
                    $0 += 1; return $0 <= refusals
                }
            if isRefused { return .text("", status: status, headers: headers) }
            return .data(request.body, headers: coding.map { ["Content-Encoding": $0] } ?? [:])
        }
    }

    private func target(_ server: TestServer, _ task: HTTPTask) -> TestTarget {
        var target = TestTarget(server.baseURL)
        target.method = .post
        target.task = task
        target.validation = .none
        return target
    }

    private func provider(_ plugins: any Plugin...) -> Provider<TestTarget> {
        Provider(transport: SystemTransport.another(), plugins: plugins)
    }

    enum Kind: CaseIterable, Sendable { case data, largeData, file }

    private func body(_ kind: Kind, in folder: TemporaryFolder) throws -> (HTTPTask, Data) {
        var data = Self.text
        if kind != .data { for _ in 0..<6 { data += data } }
        switch kind {
        case .data, .largeData: return (.data(data, contentType: Self.json), data)
        case .file:
            let file = folder.url.appending(path: "report.json")
            try data.write(to: file)
            return (.upload(file: file), data)
        }
    }

    @Test(
        "A body arrives as it was, and takes fewer bytes on the way",
        arguments: [BodyCompression.gzip(), .deflate()],
        [Kind.data, .largeData, .file]
    )
    func arrives(compression: BodyCompression, kind: Kind) async throws {
        let (server, folder) = (try echo(), try TemporaryFolder())
        let (task, data) = try body(kind, in: folder)
        let response = try await provider(BodyCompressionPlugin(compression)).request(target(server, task))
        #expect(response.data == data)
        let sent = try await server.request(at: 0)
        #expect(sent.headers["Content-Encoding"] == (compression == .gzip() ? "gzip" : "deflate"))
        #expect(sent.body.count < data.count / 10)
        #expect((sent.headers["Content-Length"] != nil) == (kind == .data))
        #expect(sent.headers["Content-Type"] == Self.json)
    }

    @Test("An option of the call decides instead of the plugin")
    func option() async throws {
        let (server, task) = (try echo(), HTTPTask.data(Self.text, contentType: Self.json))
        let target = target(server, task)
        _ = try await provider(BodyCompressionPlugin()).request(
            target,
            options: .setting(\.bodyCompression, BodyCompression.none)
        )
        _ = try await provider(BodyCompressionPlugin(.none)).request(
            target,
            options: .setting(\.bodyCompression, .deflate())
        )
        #expect(server.requests.map { $0.headers["Content-Encoding"] } == [nil, "deflate"])
    }

    /// Requests that are sent as they are.
    enum Plain: CaseIterable, Sendable {
        case small, incompressible, picture, untyped, encoded, digest, part, resumable, noBody
    }

    @Test("What doesn't compress, or is fixed by the head, is sent as it is", arguments: Plain.allCases)
    func plain(kind: Plain) async throws {
        var random = SeededGenerator(seed: 3)
        let noise = Data((0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) })
        let server = try TestServer(response: .status(204))
        var target = target(server, .data(Self.text, contentType: Self.json))
        switch kind {
        case .small: target.task = .data(Data("{}".utf8), contentType: Self.json)
        case .incompressible: target.task = .data(noise, contentType: Self.json)
        case .picture: target.task = .data(Self.text, contentType: "image/png")
        case .untyped: target.task = .data(Self.text)
        case .encoded: target.headers = ["Content-Encoding": "br"]
        case .digest: target.headers = ["Content-Digest": "sha-256=:AA==:"]
        case .part: target.headers = ["Upload-Offset": "0"]
        case .resumable: target.headers = ["upload-complete": "?1"]
        case .noBody: target.task = .plain
        }
        _ = try await provider(BodyCompressionPlugin()).request(target)
        let sent = try await server.request(at: 0)
        #expect(sent.headers["Content-Encoding"] == (kind == .encoded ? "br" : nil))
        #expect(sent.body.count == [.small: 2, .incompressible: 4096, .noBody: 0][kind] ?? Self.text.count)
    }

    @Test(
        "A server that refuses the coding gets the body as it is, and later ones at once",
        arguments: [415, 411],
        [Kind.data, .file]
    )
    func refused(status: Int, kind: Kind) async throws {
        let (server, folder) = (try echo(refusals: 9, status: status), try TemporaryFolder())
        let (task, data) = try body(kind, in: folder)
        let provider = provider(BodyCompressionPlugin())
        for _ in 0..<2 { #expect(try await provider.request(target(server, task)).data == data) }
        #expect(server.requests.map { $0.headers["Content-Encoding"] } == ["gzip", nil, nil])
    }

    @Test(
        "Accept-Encoding in the response to a refusal says whether the coding was refused",
        arguments: [
            ([], false), (["gzip"], true), (["br", "x-GZIP ; q=0.5"], true), (["*"], true), (["br, *;q=0.1"], true),
            ([""], false), (["identity"], false), (["gzip;q=0"], false), (["gzip; Q=0.000, br"], false),
            (["gzip;q=0", "*"], false), (["*;q=0"], false), (["gzip;a=\",\";q=1"], true), (["\"gzip\""], false),
        ]
    )
    func accepted(values: [String], isAccepted: Bool) async throws {
        let headers = HTTPHeaders(values.map { HTTPHeaders.Field(name: "Accept-Encoding", value: $0) })
        let server = try echo(refusals: 9, headers: headers)
        let target = target(server, .data(Self.text, contentType: Self.json))
        let response = try await provider(BodyCompressionPlugin()).request(target)
        #expect(response.statusCode == (isAccepted ? 415 : 200))
    }

    @Test("A redirect that keeps the body compresses it again, and a refusal counts for its origin alone")
    func redirected() async throws {
        let last = try echo(refusals: 1)
        let first = try TestServer { _ in
            .status(308, headers: ["Location": "\(last.baseURL.absoluteString)/b"])
        }
        let provider = provider(BodyCompressionPlugin())
        let target = target(first, .data(Self.text, contentType: Self.json))
        for _ in 0..<2 { #expect(try await provider.request(target).data == Self.text) }
        #expect(first.requests.map { $0.headers["Content-Encoding"] } == ["gzip", "gzip"])
        #expect(last.requests.map { $0.headers["Content-Encoding"] } == ["gzip", nil, nil])
    }

    @Test("A 415 that isn't about the coding is the response, and is remembered for no one")
    func otherRefusal() async throws {
        let accepting = try echo(refusals: 9, headers: ["Accept-Encoding": "br, GZIP;q=0.5"])
        let (task, provider) = (HTTPTask.data(Self.text, contentType: Self.json), provider(BodyCompressionPlugin()))
        #expect(try await provider.request(target(accepting, task)).statusCode == 415)
        #expect(accepting.requests.count == 1)
        let always = try TestServer(response: .text("", status: 415))
        for _ in 0..<2 { #expect(try await provider.request(target(always, task)).statusCode == 415) }
        #expect(always.requests.map { $0.headers["Content-Encoding"] } == ["gzip", nil, "gzip", nil])
    }

    @Test("A signature covers the bytes that are sent")
    func signed() async throws {
        let server = try echo()
        let signing = RequestSigningPlugin(fields: ["X-Length"]) { request, _ in
            ["X-Length": "\(try request.body.source()?.length ?? 0)"]
        }
        let task = HTTPTask.data(Self.text, contentType: Self.json)
        _ = try await provider(signing, BodyCompressionPlugin()).request(target(server, task))
        let sent = try await server.request(at: 0)
        #expect(sent.headers["X-Length"] == "\(sent.body.count)")
        #expect(sent.body.count < Self.text.count)
    }

    @Test("An error of the body's file is the error of the call")
    func missingFile() async throws {
        let server = try echo()
        let missing = URL(filePath: "/nothing/report.json")
        let error = await #expect(throws: TargetKitError.self) {
            try await provider(BodyCompressionPlugin()).request(target(server, .upload(file: missing)))
        }
        #expect(error?.kind == .unreadableFile || error?.stage == .request)
        #expect(server.requests.isEmpty)
    }
}
