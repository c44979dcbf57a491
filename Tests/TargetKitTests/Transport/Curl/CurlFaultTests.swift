// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
@testable import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// What goes wrong, byte by byte, and what it is called.
@Suite("CurlTransport: faults", .throttled, .timeLimit(.minutes(3)))
struct CurlFaultTests {
    static let cases: [(name: String, reply: TestServer.Response, code: URLError.Code)] = [
        ("no byte, then closed", .close, .networkConnectionLost),
        ("no byte, then reset", .reset, .networkConnectionLost),
        ("closed in the status line", .raw("HTTP/1.1 20"), .networkConnectionLost),
        ("closed after the status line", .raw("HTTP/1.1 200 OK\r\n"), .networkConnectionLost),
        ("closed in a header", .raw("HTTP/1.1 200 OK\r\nContent-Le"), .networkConnectionLost),
        ("closed before the blank line", .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"), .networkConnectionLost),
        ("closed after a 100", .raw("HTTP/1.1 100 Continue\r\n\r\n"), .networkConnectionLost),
        ("reset in the head", [.text("HTTP/1.1 200 OK\r\nA: "), .wait(for: .zero), .reset], .networkConnectionLost),
        ("closed in the body", .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), .networkConnectionLost),
        ("closed before the body", .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .networkConnectionLost),
        (
            "closed in a chunk", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
            .networkConnectionLost
        ),
        (
            "no last chunk", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"),
            .networkConnectionLost
        ),
        (
            "chunk size no number", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxy\r\nab"),
            .cannotParseResponse
        ),
        (
            "chunk size over 64 bits",
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nab"),
            .cannotParseResponse
        ),
        ("garbage", .raw("garbage\r\n\r\n"), .badServerResponse),
        ("another protocol", .raw("SSH-2.0-OpenSSH_9.2\r\n"), .badServerResponse),
        ("status no number", .raw("HTTP/1.1 abc OK\r\n\r\n"), .badServerResponse),
        (
            "a CR in a field name", .raw("HTTP/1.1 200 OK\r\nA\rB: c\r\nContent-Length: 0\r\n\r\n"),
            .badServerResponse
        ),
        (
            "bad gzip", TestServer.Response(headers: ["Content-Encoding": "gzip"], body: Data("no gzip".utf8)),
            .cannotDecodeContentData
        ),
        (
            "header flood",
            [
                .text("HTTP/1.1 200 OK\r\n" + String(repeating: "X-Flood: 0123456789\r\n", count: 20_000) + "\r\n"),
                .close,
            ],
            .dataLengthExceedsMaximum
        ),
    ]

    @Test("Each fault has its code, and the next call works", arguments: cases.indices)
    func fault(index: Int) async throws {
        let (name, reply, code) = Self.cases[index]
        let transport = CurlTransport.another()
        let server = try TestServer { $0.path == "/fault" ? reply : .text("fine") }
        #expect(await TestCall(path: "/fault").failure(at: server.baseURL, with: transport) == code, "\(name)")
        #expect(try await TestCall().send(to: server, with: transport).text == "fine", "\(name)")
    }

    // libcurl 7.83 to 8.0 takes such a line for the rest of a field of the previous response, whose memory it freed.
    @Test(
        "A response whose first field begins with a space is invalid, also on a handle that received another one",
        arguments: [
            "HTTP/1.1 200 OK\r\n Lead: x\r\n", "HTTP/1.1 200 OK\r\n\tLead: x\r\n",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n Lead: x\r\n",
            "HTTP/1.1 103 Early Hints\r\n Lead: x\r\n\r\nHTTP/1.1 200 OK\r\n",
        ]
    )
    func leadingFold(start: String) async throws {
        let transport = CurlTransport.another()
        let server = try TestServer { request in
            request.path == "/fault" ? .raw(start + "Content-Length: 2\r\n\r\nok") : .text("fine")
        }
        for _ in 0..<5 {
            #expect(try await TestCall().send(to: server, with: transport).text == "fine")
            let code = await TestCall(path: "/fault").failure(at: server.baseURL, with: transport)
            #expect(code == .badServerResponse)
        }
    }

    @Test("An error contains the URL, and libcurl's message and code")
    func userInfo() async throws {
        let port = try ClosedPort()
        let error = await #expect(throws: URLError.self) {
            try await CurlTransport.another().send(TestCall(path: "/a").request(to: port.baseURL))
        }
        #expect(error?.code == .cannotConnectToHost)
        #expect(
            error?.userInfo[NSURLErrorFailingURLErrorKey] as? URL
                == URL(string: "/a", relativeTo: port.baseURL)?.absoluteURL
        )
        #expect(error?.userInfo[CurlTransport.codeKey] as? Int == 7)
        #expect((error?.userInfo[CurlTransport.messageKey] as? String)?.contains("\(port.port)") == true)
    }

    @Test(
        "Unreachable servers and responses that are not HTTP have specific errors",
        arguments: [
            ("http://host.invalid", URLError.Code.cannotFindHost), ("ftp://127.0.0.1", .unsupportedURL),
            ("file:///etc/hostname", .unsupportedURL), ("http://[::1", .badURL), ("relative", .unsupportedURL),
            ("http:///127.0.0.1/x", .badURL), ("https:///127.0.0.1/x", .badURL), ("http:/127.0.0.1", .unsupportedURL),
            ("http://@/127.0.0.1", .badURL), ("http://:80/127.0.0.1", .badURL), ("http://?127.0.0.1", .badURL),
        ]
    )
    func unreachable(address: String, code: URLError.Code) async throws {
        guard let url = URL(string: address) else { return }
        let request = TransportRequest(urlRequest: URLRequest(url: url))
        let error = await #expect(throws: URLError.self) { try await CurlTransport.patient.send(request) }
        #expect(error?.code == code)
    }

    @Test(
        "The timeout of the whole exchange is in milliseconds",
        arguments: [TestServer.Response.hang, [.head(status: 200), .hang]]
    )
    func timeout(reply: TestServer.Response) async throws {
        let server = try TestServer(response: reply)
        let call = TestCall(timeout: .milliseconds(50))
        #expect(await call.failure(at: server.baseURL, with: CurlTransport.another()) == .timedOut)
        #expect(await TestCall(timeout: .zero).failure(at: server.baseURL, with: CurlTransport.another()) == .timedOut)
    }

    @Test("An extremely long timeout is no limit", arguments: [Duration.seconds(Int64.max), .seconds(1 << 40)])
    func longTimeout(timeout: Duration) async throws {
        let server = try TestServer(response: .text("fine"))
        #expect(try await TestCall(timeout: timeout).send(to: server, with: CurlTransport.another()).text == "fine")
    }

    @Test("An exchange that is idle for too long ends, and one that receives data slowly does not")
    func idle() async throws {
        var configuration = CurlTransport.Configuration.patient
        // A hundred times what is between two drops, which a busy machine may stretch.
        configuration.idleTimeout = .seconds(5)
        let transport = CurlTransport(configuration: configuration)
        let server = try TestServer { request in
            request.path == "/hang"
                ? [.head(status: 200), .hang]
                : [
                    .head(status: 200, headers: ["Content-Length": "120"]),
                    .drip(Data(count: 120), chunkSize: 1, every: .milliseconds(50)),
                ]
        }
        async let drip = TestCall().send(to: server, with: transport).bytes.count
        #expect(await TestCall(path: "/hang").failure(at: server.baseURL, with: transport) == .timedOut)
        #expect(try await drip == 120)
    }

    @Test("A body that cannot be read ends the call with the reader's error, and one that is too short with another")
    func badBody() async throws {
        struct Broken: Error {}
        struct Source: BodySource {
            var length: Int64? { 10 }
            var isShort: Bool
            func open() -> any BodyReader { Reader(isShort: isShort) }
            final class Reader: BodyReader {
                let isShort: Bool
                init(isShort: Bool) { self.isShort = isShort }
                func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
                    guard isShort else { throw Broken() }
                    return 0
                }
            }
        }
        let server = try TestServer(response: .text(""))
        let call = TestCall(method: "POST", body: .stream(Source(isShort: false)))
        await #expect(throws: Broken.self) { try await call.send(to: server, with: CurlTransport.patient) }
        let short = TestCall(method: "POST", body: .stream(Source(isShort: true)))
        #expect(await short.failure(at: server.baseURL, with: CurlTransport.patient) == .requestBodyStreamExhausted)
    }

    @Test("The error for a missing file, or one that cannot be created, names it")
    func badFiles() async throws {
        let server = try TestServer(response: .text("x"))
        let missing = URL(fileURLWithPath: "/nowhere/at/all")
        let upload = TestCall(method: "POST", body: .file(missing))
        #expect(await upload.failure(at: server.baseURL, with: CurlTransport.patient) == .fileDoesNotExist)
        let folder = TestCall(method: "POST", body: .file(URL(fileURLWithPath: "/tmp")))
        #expect(await folder.failure(at: server.baseURL, with: CurlTransport.patient) == .fileIsDirectory)
        #expect(server.headCount == 0)
        let download = TestCall(destination: .file(missing))
        #expect(await download.failure(at: server.baseURL, with: CurlTransport.patient) == .cannotCreateFile)
    }

    @Test("A pipe as the body is refused with its name, and does not block other calls")
    func pipe() async throws {
        let server = try TestServer(response: .text("x"))
        let folder = try TemporaryFolder()
        let pipe = folder.url.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let transport = CurlTransport.another()
        let request = try TestCall(method: "POST", body: .file(pipe)).request(to: server.baseURL)
        let error = await #expect(throws: URLError.self) { try await transport.send(request) }
        #expect(error?.code == .cannotOpenFile)
        #expect(error?.localizedDescription.contains(pipe.path) == true)
        #expect(try await TestCall().send(to: server, with: transport).text == "x")
    }

    @Test("A pipe as a certificate is refused with its name, and does not block other calls", arguments: [true, false])
    func pipeOfCertificates(isAuthority: Bool) async throws {
        let server = try TestServer(response: .text("x"))
        let folder = try TemporaryFolder()
        let pipe = folder.url.appendingPathComponent("pipe.pem")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        var configuration = CurlTransport.Configuration.patient
        if isAuthority {
            configuration.tls.trust = .authoritiesFile(pipe)
        } else {
            configuration.tls.clientCertificate = .init(file: pipe)
        }
        let transport = CurlTransport(configuration: configuration)
        let request = try TestCall().request(to: server.baseURL)
        let error = await #expect(throws: URLError.self) { try await transport.send(request) }
        #expect(error?.code == .cannotOpenFile)
        #expect(error?.localizedDescription.contains(pipe.path) == true)
    }

    @Test("A refusal that arrives before the body has been sent is the response")
    func earlyRefusal() async throws {
        var options = TestServer.Options()
        options.onHead = { _ in .response(.status(413)) }
        let server = try TestServer(options: options, response: .text(""))
        let source = CountingSource(byteCount: 3 << 20, length: nil)
        let response = try await TestCall(method: "POST", body: .stream(source)).send(
            to: server,
            with: CurlTransport.patient
        )
        #expect(response.head.statusCode == 413)
    }

    @Test("Running out of file descriptors is reported, for a socket and for a name lookup")
    func noDescriptors() async throws {
        await #expect(processExitsWith: .success) {
            let server = try TestServer(response: .text("fine"))
            let transport = CurlTransport.another()
            guard try await TestCall().send(to: server, with: transport).text == "fine" else { exit(2) }
            let port = try ClosedPort()
            let name = try #require(URL(string: "http://localhost:\(port.port)"))
            // Uses up all file descriptors.
            let null = open("/dev/null", O_RDONLY)
            while dup(null) >= 0 {}
            for base in [port.baseURL, name] {
                do {
                    _ = try await transport.send(TestCall().request(to: base))
                    exit(3)
                } catch let error as URLError {
                    guard error.code == .resourceUnavailable else { exit(4) }
                }
            }
        }
    }

    @Test(
        "The error for http on a port that may use TLS says so",
        arguments: [[.close], [.reset], [.bytes(Data([0x15, 3, 1, 0, 2, 2, 70])), .close]] as [TestServer.Response]
    )
    func plainToSecure(reply: TestServer.Response) async throws {
        var options = TestServer.Options()
        options.onHead = { _ in .response(reply) }
        let server = try TestServer(options: options, response: reply)
        let provider = Provider<TestTarget>(transport: CurlTransport.another())
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(TestTarget(server.baseURL))
        }
        #expect(error.map { "\($0)" }?.contains("if port \(server.port) uses TLS, call it with https") == true)
    }

    @Test("A host that spoke HTTP before isn't suspected of TLS")
    func plainBefore() async throws {
        let count = Tally()
        let server = try TestServer { _ in
            count.add()
            return count.value == 1 ? .text("fine") : .close
        }
        let provider = Provider<TestTarget>(transport: CurlTransport.another())
        _ = try await provider.request(TestTarget(server.baseURL))
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(TestTarget(server.baseURL))
        }
        #expect(error.map { "\($0)" }?.contains("TLS") == false)
    }

    @Test("The error for https on an http port describes it")
    func secureToPlain() async throws {
        var options = TestServer.Options()
        options.onConnect = { _ in [.stopReading, .text("HTTP/1.1 400 Bad Request\r\n\r\n"), .hang] }
        let server = try TestServer(options: options, response: .hang)
        let base = try #require(URL(string: "https://127.0.0.1:\(server.port)"))
        let error = await #expect(throws: URLError.self) {
            try await CurlTransport.another().send(TestCall().request(to: base))
        }
        #expect(error?.code == .secureConnectionFailed)
        #expect(error?.localizedDescription.contains("doesn't use TLS") == true)
    }
}
#endif
