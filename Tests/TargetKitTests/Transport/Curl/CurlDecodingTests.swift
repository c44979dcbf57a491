// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKit
import TargetKitTransfers
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

@Suite("CurlTransport: content codings", .throttled, .timeLimit(.minutes(3)))
struct CurlDecodingTests {
    /// `hello, world\n` in each coding: with Python's `zlib`, and the encoders of libbrotlienc and libzstd.
    private static let encoded: [(coding: String, body: Data)] = [
        ("gzip", Gzip.helloWorld), ("x-gzip", Gzip.helloWorld), ("GZIP", Gzip.helloWorld), ("deflate", Gzip.deflated),
        // Without zlib's header, as some servers send it.
        ("deflate", Gzip.deflated.dropFirst(2).dropLast(4)),
        ("br", Data(base64Encoded: "CwaAaGVsbG8sIHdvcmxkCgM=") ?? Data()),
        ("zstd", Data(base64Encoded: "KLUv/SANaQAAaGVsbG8sIHdvcmxkCg==") ?? Data()),
        ("deflate, gzip", Gzip.twice), ("identity,deflate ,\tgzip", Gzip.twice),
    ]
    private static let text = "hello, world\n"

    enum Framing: CaseIterable {
        case length, chunks, end

        /// A response whose body arrives in pieces of a size.
        func response(_ coding: String, _ body: Data, pieces size: Int = .max) -> TestServer.Response {
            let pieces = stride(from: 0, to: body.count, by: max(1, min(size, body.count))).map { start in
                Data(body.dropFirst(start).prefix(size))
            }
            var headers: HTTPHeaders = ["Content-Encoding": coding]
            switch self {
            case .length: headers["Content-Length"] = "\(body.count)"
            case .chunks: headers["Transfer-Encoding"] = "chunked"
            case .end: headers["Connection"] = "close"
            }
            var steps = [TestServer.Step.head(status: 200, headers: headers)]
            for piece in pieces { steps += [self == .chunks ? .chunk(piece) : .body(piece), .wait(for: .zero)] }
            return TestServer.Response(steps: steps + (self == .chunks ? [.endChunks] : self == .end ? [.close] : []))
        }
    }

    private let transport = CurlTransport.another()

    @Test("Each coding is decoded, whatever the framing and the size of the pieces", arguments: Framing.allCases)
    func decoded(framing: Framing) async throws {
        for (coding, body) in Self.encoded {
            for size in [1, 7, 1_000] {
                let server = try TestServer(response: framing.response(coding, body, pieces: size))
                let response = try await TestCall().send(to: server, with: transport)
                #expect(response.text == Self.text, "\(coding) in pieces of \(size)")
            }
        }
    }

    @Test("A coding that ends early is an error, also when a file receives the body", arguments: Framing.allCases)
    func cutOff(framing: Framing) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        for (coding, body) in Self.encoded {
            for count in Set([1, body.count / 2, body.count - 5, body.count - 1]) {
                let server = try TestServer(response: framing.response(coding, body.prefix(count)))
                for destination in [TransportRequest.Destination.memory(), .file(file)] {
                    let call = TestCall(destination: destination)
                    let code = await call.failure(at: server.baseURL, with: transport)
                    #expect(code == .cannotDecodeContentData, "\(count) bytes of \(coding)")
                }
            }
        }
    }

    @Test("A call to download a body that ends early fails, and leaves the user's file as it was")
    func download() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("mine", Data("old".utf8))
        let server = try TestServer(response: Framing.length.response("gzip", Gzip.zeros.dropLast(60)))
        let provider = Provider<TestTarget>(transport: transport)
        for task in [HTTPTask.download(to: file), .download(to: .file(file).resumable)] {
            let error = await #expect(throws: TargetKitError.self) {
                try await provider.request(TestTarget(server.baseURL).with { $0.task = task })
            }
            #expect((error?.underlying as? URLError)?.code == .cannotDecodeContentData)
            #expect(try Data(contentsOf: file) == Data("old".utf8))
        }
    }

    @Test("A stream whose coding ends early throws after what could be decoded", arguments: [1, 1 << 20])
    func stream(buffer: Int) async throws {
        let server = try TestServer(response: Framing.chunks.response("gzip", Gzip.zeros.dropLast(4)))
        let response = try await TestCall(destination: .stream(buffer: buffer)).send(to: server, with: transport)
        guard case .stream(let body) = response.body else { Issue.record("not a stream"); return }
        var count = 0
        let error = await #expect(throws: URLError.self) { for try await piece in body { count += piece.count } }
        #expect(error?.code == .cannotDecodeContentData)
        #expect(count == 100_000)
    }

    @Test("A slow reader receives all of a body that expands a lot", arguments: ["gzip", "deflate, gzip"])
    func slowReader(coding: String) async throws {
        // 3,000,000 zeros in 30 members.
        let members = Data((0..<30).flatMap { _ in Gzip.zeros })
        let body = coding == "gzip" ? members : Gzip.twice
        let server = try TestServer(response: Framing.length.response(coding, body, pieces: 500))
        let response = try await TestCall(destination: .stream(buffer: 1)).send(to: server, with: transport)
        guard case .stream(let pieces) = response.body else { Issue.record("not a stream"); return }
        var received = Data()
        for try await piece in pieces {
            received.append(piece)
            await Task.yield()
        }
        #expect(received == (coding == "gzip" ? Data(count: 3_000_000) : Data(Self.text.utf8)))
    }

    @Test("Several gzip members are one body", arguments: [1, 40, 1_000])
    func members(size: Int) async throws {
        let body = Gzip.helloWorld + Gzip.helloWorld + Gzip.helloWorld
        let server = try TestServer(response: Framing.length.response("gzip", body, pieces: size))
        let response = try await TestCall().send(to: server, with: transport)
        #expect(response.text == Self.text + Self.text + Self.text)
        let cutOff = try TestServer(response: Framing.length.response("gzip", body.dropLast(30), pieces: size))
        #expect(await TestCall().failure(at: cutOff.baseURL, with: transport) == .cannotDecodeContentData)
    }

    /// 70 MB of zeros in 90 KB.
    private static let bomb = Data((0..<700).flatMap { _ in Gzip.zeros })

    @Test("A body in memory that its coding expands beyond all measure is an error that names the limit")
    func expansion() async throws {
        let server = try TestServer(response: Framing.chunks.response("gzip", Self.bomb, pieces: 10_000))
        let provider = Provider<TestTarget>(transport: transport)
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(TestTarget(server.baseURL))
        }
        #expect(error?.kind == .tooLarge)
        #expect(error?.description.contains("64 MiB") == true)
        let call = TestCall(destination: .stream(buffer: 1 << 20))
        guard case .stream(let body) = try await call.send(to: server, with: transport).body else { return }
        var count = 0
        for try await piece in body { count += piece.count }
        #expect(count == 70_000_000)
    }

    @Test("The expansion of a body in memory is an option, and limited for a plugin that reads it as a stream")
    func expansionOption() async throws {
        let server = try TestServer(response: Framing.length.response("gzip", Self.bomb, pieces: 10_000))
        let provider = Provider<TestTarget>(transport: transport)
        let target = TestTarget(server.baseURL)
        let response = try await provider.request(target, options: .setting(\.maxExpansion, .max))
        #expect(response.data.count == 70_000_000)
        let plugin = BandwidthLimitPlugin(BandwidthLimit(bytesPerSecond: 1 << 40))
        let limited = Provider<TestTarget>(transport: transport, plugins: [plugin])
        let error = await #expect(throws: TargetKitError.self) { try await limited.request(target) }
        #expect(error?.kind == .tooLarge)
    }

    @Test("Zeros after the last gzip member are padding", arguments: [1, 40, 1_000], [1, 100_000])
    func padding(size: Int, count: Int) async throws {
        let body = Gzip.helloWorld + Data(count: count)
        let server = try TestServer(response: Framing.length.response("gzip", body, pieces: max(size, count / 10)))
        #expect(try await TestCall().send(to: server, with: transport).text == Self.text)
        let members = try TestServer(response: Framing.chunks.response("gzip", body + body, pieces: 1_000))
        #expect(try await TestCall().send(to: members, with: transport).text == Self.text + Self.text)
    }

    @Test("Other bytes after the end of a coding mean a damaged body, not a lost connection")
    func excess() async throws {
        for (coding, body) in Self.encoded {
            let excess = body + Data("more than four".utf8)
            let server = try TestServer(response: Framing.length.response(coding, excess))
            let provider = Provider<TestTarget>(transport: transport)
            let error = await #expect(throws: TargetKitError.self) {
                try await provider.request(TestTarget(server.baseURL))
            }
            #expect(error?.kind == .decoding, "\(coding)")
        }
    }

    @Test(
        "A body with an unknown coding is returned as received",
        arguments: ["compress", "gzip, aes128gcm", "aes128gcm, gzip", "gzip,gzip,gzip,gzip,gzip,gzip", "gzip;q=1"]
    )
    func unknown(coding: String) async throws {
        let server = try TestServer(response: Framing.length.response(coding, Gzip.helloWorld))
        let response = try await TestCall().send(to: server, with: transport)
        #expect(response.bytes == Gzip.helloWorld)
        #expect(response.head.headers["Content-Encoding"] == coding)
    }

    @Test("A response without a body can have a coding", arguments: ["gzip", "br", "zstd", "deflate, gzip"])
    func empty(coding: String) async throws {
        let server = try TestServer { request in
            let status = request.path.split(separator: "/").first.flatMap { Int($0) } ?? 200
            let length = request.method == .head ? 100 : 0
            let fields: HTTPHeaders = ["Content-Encoding": coding]
            let framing: HTTPHeaders = status == 200 ? ["Content-Length": "\(length)"] : [:]
            return [.head(status: status, headers: HTTPHeaders(fields.fields + framing.fields))]
        }
        for (method, path) in [("GET", "/200"), ("HEAD", "/200"), ("GET", "/204"), ("GET", "/304"), ("GET", "/200")] {
            let response = try await TestCall(path: path, method: method).send(to: server, with: transport)
            #expect(response.bytes.isEmpty)
        }
        #expect(server.connectionCount == 1)
    }

    @Test("The codings that are asked for are those that can be decoded")
    func accepted() async throws {
        let server = try TestServer(response: .status(204))
        try await TestCall().send(to: server, with: transport)
        let names = try await server.request(at: 0).headers["Accept-Encoding"]?.split(separator: ", ") ?? []
        #expect(names.starts(with: ["gzip", "deflate"]))
        for name in names { #expect(Self.encoded.contains { $0.coding == name }) }
    }
}

extension Gzip {
    /// Python's `gzip.compress(zlib.compress(b"hello, world\n"))`.
    fileprivate static let twice =
        Data(base64Encoded: "H4sIAAAAAAACA6uYc9rj7MmT1wM1zuuf8nzIxKD4nGUyAA+NdKEVAAAA") ?? Data()
}
#endif
