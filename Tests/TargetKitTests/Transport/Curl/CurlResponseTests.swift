// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// What comes back from the server.
@Suite("CurlTransport: the response", .throttled, .timeLimit(.minutes(3)))
struct CurlResponseTests {
    let transport = CurlTransport.another()

    @Test(
        "Any status is a response, including redirects and refusals",
        arguments: [200, 201, 204, 301, 302, 304, 401, 404, 407, 500]
    )
    func status(code: Int) async throws {
        let server = try TestServer { _ in
            .status(
                code,
                headers: ["Location": "/elsewhere", "WWW-Authenticate": "Basic", "Proxy-Authenticate": "Basic"]
            )
        }
        let response = try await TestCall().send(to: server, with: transport)
        #expect(response.head.statusCode == code)
        #expect(response.head.httpVersion == "HTTP/1.1")
        #expect(server.requestCount == 1)
    }

    @Test("Header fields come in order, repeated ones each, with the octets of others than UTF-8")
    func headers() async throws {
        let head = Data("HTTP/1.1 200\r\nSet-Cookie: a=1\r\nX-Name: caf".utf8) + [0xE9]
        let rest = Data("\r\nset-cookie:b=2\r\nContent-Length: 0\r\n\r\n".utf8)
        let server = try TestServer(response: [.bytes(head + rest)])
        let headers = try await TestCall().send(to: server, with: transport).head.headers
        #expect(headers.fields.map(\.value) == ["a=1", "caf\u{F7E9}", "b=2", "0"])
        #expect(headers.fields.map(\.octets)[1] == Array("caf".utf8) + [0xE9])
        #expect(headers.fields.map(\.name.rawValue) == ["Set-Cookie", "X-Name", "set-cookie", "Content-Length"])
    }

    @Test("Interim responses and trailers are not part of the response")
    func interim() async throws {
        let server = try TestServer(response: [
            .text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"),
            .wait(for: .zero),
            .text(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n"
            ),
        ])
        let response = try await TestCall().send(to: server, with: transport)
        #expect(response.head.statusCode == 200)
        #expect(response.head.headers.fields.map(\.name.rawValue) == ["Transfer-Encoding", "Trailer"])
        #expect(response.text == "abc")
    }

    @Test(
        "A body comes in pieces of any size, with a length, in chunks, or up to the end",
        arguments: ["length", "chunks", "end"]
    )
    func framing(kind: String) async throws {
        let data = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let server = try TestServer(
            response: TestServer.Response(
                steps: [
                    "length": [.head(status: 200, headers: ["Content-Length": "\(data.count)"]), .body(data)],
                    "chunks": [
                        .head(status: 200, headers: ["Transfer-Encoding": "chunked"]),
                        .chunk(data[..<1]), .chunk(data[1..<70_000]), .chunk(data[70_000...]), .endChunks,
                    ],
                    "end": [.head(status: 200), .drip(data, chunkSize: 100_000, every: .zero), .close],
                ][kind] ?? []
            )
        )
        let response = try await TestCall().send(to: server, with: transport)
        guard case .data(let received) = response.body else { Issue.record("not in memory"); return }
        #expect(received.whole == data.whole)
    }

    @Test("A compressed body arrives decoded")
    func gzip() async throws {
        let server = try TestServer(
            response: TestServer.Response(headers: ["Content-Encoding": "gzip"], body: Gzip.helloWorld)
        )
        let response = try await TestCall().send(to: server, with: transport)
        #expect(response.text == "hello, world\n")
        #expect(try await server.request(at: 0).headers["Accept-Encoding"]?.contains("gzip") == true)
    }

    @Test(
        "Bytes after the end of a compressed body are an error",
        arguments: [
            ("gzip", Gzip.helloWorld, Data("more".utf8)),
            ("gzip", Gzip.zeros, Data(repeating: 1, count: 100_000)),
            ("deflate", Gzip.deflated, Data("more than four".utf8)),
        ]
    )
    func bytesBehindGzip(coding: String, body: Data, rest: Data) async throws {
        let head = TestServer.Step.head(
            status: 200,
            headers: ["Content-Encoding": coding, "Content-Length": "\(body.count + rest.count)"]
        )
        let server = try TestServer { request in
            request.path == "/together"
                ? [head, .body(body + rest)] : [head, .body(body), .wait(for: .zero), .body(rest)]
        }
        for path in ["/together", "/apart"] {
            let code = await TestCall(path: path).failure(at: server.baseURL, with: transport)
            #expect(code == .cannotDecodeRawData)
        }
    }

    @Test("A range request asks for the identity encoding, unless the caller sets another one")
    func range() async throws {
        let server = try TestServer(response: .text(""))
        let fields: [[String: String]] = [
            ["Range": "bytes=0-9"], [:], ["range": "bytes=0-9"], ["Range": "bytes=0-9", "accept-encoding": "br"],
        ]
        for headers in fields { try await TestCall(headers: headers).send(to: server, with: transport) }
        let sent = server.requests.map { $0.headers.values(for: "Accept-Encoding") }
        #expect([sent[0], sent[2], sent[3]] == [["identity"], ["identity"], ["br"]])
        #expect(sent[1].first?.contains("gzip") == true)
    }

    @Test("A partial compressed body is returned as received, and the next complete one is decoded")
    func partOfGzip() async throws {
        let part = Gzip.zeros.prefix(50)
        let server = try TestServer { request in
            let isPart = request.headers["Range"] != nil
            return TestServer.Response(
                status: isPart ? 206 : 200,
                headers: ["Content-Encoding": "gzip"],
                body: isPart ? part : Gzip.helloWorld
            )
        }
        for _ in 0..<2 {
            let response = try await TestCall(headers: ["Range": "bytes=0-49"]).send(to: server, with: transport)
            #expect(response.bytes == part)
            #expect(response.head.headers["Content-Encoding"] == "gzip")
            #expect(try await TestCall().send(to: server, with: transport).text == "hello, world\n")
        }
    }

    @Test("A body of exactly the limit is accepted, and one byte more is not")
    func limit() async throws {
        let server = try TestServer { request in
            .text(String(repeating: "x", count: request.path == "/more" ? 100_001 : 100_000))
        }
        let call = TestCall(destination: .memory(limit: 100_000))
        #expect(try await call.send(to: server, with: transport).text.utf8.count == 100_000)
        let more = TestCall(path: "/more", destination: .memory(limit: 100_000))
        #expect(await more.failure(at: server.baseURL, with: transport) == .dataLengthExceedsMaximum)
    }

    @Test("The limit counts decoded bytes")
    func decodedLimit() async throws {
        let server = try TestServer(
            response: TestServer.Response(headers: ["Content-Encoding": "gzip"], body: Gzip.zeros)
        )
        let code = await TestCall(destination: .memory(limit: 99_999)).failure(at: server.baseURL, with: transport)
        #expect(code == .dataLengthExceedsMaximum)
        let whole = try await TestCall(destination: .memory(limit: 100_000)).send(to: server, with: transport)
        #expect(whole.text.utf8.count == 100_000)
    }

    @Test("A status line can end with its code")
    func noReason() async throws {
        let server = try TestServer(response: .raw("HTTP/1.1 201\r\nContent-Length: 1\r\n\r\nx"))
        let response = try await TestCall().send(to: server, with: transport)
        #expect(response.head.statusCode == 201)
        #expect(response.text == "x")
    }

    @Test("A file is replaced by the whole body, including an empty one", arguments: [0, 5, 200_000])
    func file(size: Int) async throws {
        let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
        let server = try TestServer(response: TestServer.Response(body: body))
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("download")
        try Data("old".utf8).write(to: file)
        let response = try await TestCall(destination: .file(file)).send(to: server, with: transport)
        guard case .file(let url) = response.body else { Issue.record("not in a file"); return }
        #expect(url == file)
        #expect(try Data(contentsOf: file) == body)
        #expect(folder.names == ["download"])
    }

    @Test("A body that is cut is an error, also when a file receives it, and there is nothing beside the file")
    func failedFile() async throws {
        let server = try TestServer(response: .raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"))
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("download")
        let code = await TestCall(destination: .file(file)).failure(at: server.baseURL, with: transport)
        #expect(code == .networkConnectionLost)
        #expect(folder.names == ["download"])
    }

    @Test("Connections are kept alive, and the metrics report it")
    func metrics() async throws {
        let server = try TestServer(response: .text("hello"))
        let first = try await TestCall(method: "POST", body: .data(Data("abc".utf8))).send(
            to: server,
            with: transport
        )
        let second = try await TestCall().send(to: server, with: transport)
        #expect(server.connectionCount == 1)
        #expect([first, second].map { $0.metrics?.reusedConnection } == [false, true])
        #expect([first, second].map { $0.metrics?.bytesSent } == [3, 0])
        #expect([first, second].map { $0.metrics?.bytesReceived } == [5, 5])
        #expect([first, second].allSatisfy { $0.metrics?.remoteAddress == "127.0.0.1" })
        #expect([first, second].allSatisfy { $0.metrics?.secureConnect == nil })
        let metrics = try #require(first.metrics)
        #expect(try #require(metrics.firstByte) > .zero && metrics.total >= (metrics.firstByte ?? .zero))
    }
}

/// Made with `printf 'hello, world\n' | gzip -n`, and with `head -c 100000 /dev/zero | gzip -9n`.
enum Gzip {
    /// Made with Python's `zlib.compress(b"hello, world\n")`.
    static let deflated = Data(base64Encoded: "eJzLSM3JyddRKM8vyknhAgAh5wST") ?? Data()
    static let helloWorld = Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJ11Eozy/KSeECAFN0JPQNAAAA") ?? Data()
    static let zeros =
        Data(
            base64Encoded:
                "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
        ) ?? Data()
}
#endif
