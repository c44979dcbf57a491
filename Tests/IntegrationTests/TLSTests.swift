// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// TLS and HTTP/2 with nginx, whose certificate is signed by the authority in the file that `TARGETKIT_NGINX_CA` names.
@Suite("nginx: TLS and HTTP/2", .throttled, .needs(.nginxTLS), .timeLimit(.minutes(2)))
struct TLSTests {
    private func provider(
        trust: TLSPolicy.Trust? = nil,
        maxConnectionsPerHost: Int = 128,
        allowsHTTP2: Bool = true
    ) throws -> Provider<ServerCall> {
        let path = try #require(ProcessInfo.processInfo.environment["TARGETKIT_NGINX_CA"])
        return Provider(
            transport: CurlTransport(
                connectTimeout: .seconds(600),
                idleTimeout: .seconds(600),
                maxConnectionsPerHost: maxConnectionsPerHost,
                allowsHTTP2: allowsHTTP2,
                tls: TLSPolicy(trust: trust ?? .authoritiesFile(URL(filePath: path)))
            )
        )
    }

    @Test("An authority of one's own is trusted, and HTTP/2 is spoken")
    func http2() async throws {
        let response = try await provider().request(.nginxTLS(.get, "/")) as Response
        #expect(response.data == Data("ok\n".utf8))
        #expect(response.httpVersion == "HTTP/2")
        #expect(response.metrics?.httpVersion == "HTTP/2")
        #expect(response.metrics?.secureConnect != nil)
    }

    @Test("HTTP/1.1 is spoken where it is asked for")
    func http1() async throws {
        let response = try await provider(allowsHTTP2: false).request(.nginxTLS(.get, "/")) as Response
        #expect(response.httpVersion == "HTTP/1.1")
    }

    @Test("What the system does not trust is refused", arguments: Engine.allCases)
    func systemTrust(engine: Engine) async throws {
        let error = await engine.failure(of: .nginxTLS(.get, "/"))
        #expect(error?.stage == .transport)
        #if canImport(FoundationNetworking)
        // On Linux, URLSession doesn't tell a refused certificate from a lost connection.
        if engine == .urlSession {
            #expect(error?.kind == .connectionLost)
            return
        }
        #endif
        #expect(error?.kind == .insecureConnection)
    }

    @Test("Another name than the certificate's is refused, and an address that it names is not")
    func names() async throws {
        let base = ServerAvailability.nginxTLS.baseURL
        let address = try #require(URL(string: "https://127.0.0.1:\(base.port ?? 443)"))
        let call = ServerCall.nginxTLS(.get, "/")
        #expect(try await provider().request(call.with { $0.baseURL = address }).statusCode == 200)
        let other = try #require(URL(string: "https://localhost.localdomain.invalid:\(base.port ?? 443)"))
        #expect(try await provider().failure(of: call.with { $0.baseURL = other })?.kind == .cannotConnect)
        let trusting = try provider(trust: .insecureTrustAll(for: ["127.0.0.1"]))
        #expect(try await trusting.request(call.with { $0.baseURL = address }).statusCode == 200)
        #expect(await trusting.failure(of: call)?.kind == .insecureConnection)
    }

    // nginx answers each of these when it has the head: the body has to be on its way by then.
    @Test("A hundred calls at a time share one new connection, and each gets its own answer", arguments: 1...10)
    func multiplexed(round: Int) async throws {
        let provider = try provider(maxConnectionsPerHost: 1)
        let answers = await withTaskGroup(of: String.self) { group in
            for number in 0..<100 {
                let call = ServerCall.nginxTLS(.post, "/echo/\(number)", .data(Data(count: 500)))
                group.addTask { await Self.answer(to: call, from: provider) }
            }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers == Set((0..<100).map { "HTTP/2 /echo/\($0)" }))
    }

    /// The version and the path that were read, or what went wrong.
    private static func answer(to call: ServerCall, from provider: Provider<ServerCall>) async -> String {
        do {
            let response = try await provider.request(call) as Response
            let lines = EchoLines(String(decoding: response.data, as: UTF8.self))
            return "\(response.httpVersion) \(lines?.target ?? "")"
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "An answer that does not wait for a large body ends the call",
        arguments: [("/private", 401), ("/echo/early", 200)] as [(RequestPath, Int)]
    )
    func early(path: RequestPath, status: Int) async throws {
        let provider = try provider()
        // More than the server lets come before it has asked for more.
        let call = ServerCall.nginxTLS(.post, path, .data(Data(count: 8 << 20)))
        let response = try await provider.request(call) as Response
        #expect(response.statusCode == status)
        #expect(response.httpVersion == "HTTP/2")
        #expect(!response.data.isEmpty)
        #expect(try await provider.request(ServerCall.nginxTLS(.get, "/")).statusCode == 200)
    }

    @Test("Large bodies go up and come down over HTTP/2 unchanged")
    func large() async throws {
        let folder = try TemporaryFolder()
        let file = NginxFile(Data())
        let provider = try provider()
        let form = MultipartForm(parts: [.file(try folder.file("up.bin", NginxFile.noise), name: "film")])
        let length = try #require(try form.bodySource().length)
        let put = try await provider.request(.nginxTLS(.put, "/files/\(file.name)", .multipart(form))) as Response
        #expect(put.statusCode == 201)
        #expect(put.httpVersion == "HTTP/2")
        let target = folder.url.appendingPathComponent("down.bin")
        let get = try await provider.request(.nginxTLS(.get, "/files/\(file.name)", .download(to: target))) as Response
        #expect(get.file == target)
        let received = try Data(contentsOf: target)
        #expect(Int64(received.count) == length)
        #expect(received.range(of: NginxFile.noise) != nil)
        try await file.remove()
    }

    @Test("Awkward requests are read over HTTP/2 as over HTTP/1.1")
    func awkward() async throws {
        let call = ServerCall.nginxTLS(.post, "/echo/汉%2F字", .data(Data("x".utf8)).query(["a b": #""tea""#])).with {
            $0.headers = ["X-Probe": "汉字", "X-Empty": "", "Content-Type": "text/plain; charset=utf-8"]
        }
        let response = try await provider().request(call).filter()
        let lines = try #require(EchoLines(String(decoding: response.data, as: UTF8.self)))
        #expect(lines.method == "POST")
        #expect(lines.target == "/echo/%E6%B1%89%2F%E5%AD%97?a%20b=%22tea%22")
        #expect(lines.contentType == "text/plain; charset=utf-8")
        #expect(lines.probe == "汉字")
    }
}
#endif
