// SPDX-License-Identifier: MIT
import Testing
import TargetKitMoya

@Suite("Server trust", .throttled, .timeLimit(.minutes(3)))
struct RedirectTrustTests {
    @Test("A redirect to a host without an evaluator fails, and nothing is sent there")
    func redirect() async throws {
        let server = try EchoServer()
        let port = try RefusedPort()
        let target = port.baseURL.absoluteString.replacingOccurrences(of: "http:", with: "https:")
        let manager = ServerTrustManager(evaluators: ["example.com": DefaultTrustEvaluator()])
        let provider = MoyaProvider<Call>(session: Session(serverTrustManager: manager))
        let task = Task.requestParameters(parameters: [:], encoding: URLEncoding.queryString)
        let call = Call(baseURL: URL.of("\(server.baseURL)/redirect?\(target)"), path: "", task: task)
        guard
            case .serverTrustEvaluationFailed(.noRequiredEvaluator(let host))? = await provider.result(of: call).afError
        else {
            Issue.record("The redirect was followed.")
            return
        }
        #expect(host == "127.0.0.1")
        #expect(server.requests.count == 1)
    }
}

#if os(Linux)
import TestSupport

/// The server is OpenSSL's own, with a certificate that each test makes.
@Suite(
    "Server trust with certificates",
    .throttled,
    .enabled(if: TLSServer.isAvailable, "skipped: there is no /usr/bin/openssl"),
    .timeLimit(.minutes(3))
)
struct TrustTests {
    private func result(
        _ server: TLSServer,
        _ evaluator: any ServerTrustEvaluating
    ) async -> Result<Moya.Response, MoyaError> {
        let manager = ServerTrustManager(evaluators: ["localhost": evaluator])
        let provider = MoyaProvider<Call>(session: Session(serverTrustManager: manager))
        return await provider.result(of: Call(baseURL: server.baseURL))
    }

    /// The certificate of a PEM file, in DER.
    private func certificate(_ name: String, of server: TLSServer) throws -> Data {
        let lines = try String(contentsOf: server.file(name), encoding: .utf8).split(separator: "\n")
        return try #require(Data(base64Encoded: lines.filter { !$0.hasPrefix("-") }.joined()))
    }

    @Test(
        "Accepting self-signed certificates makes the app's certificates the authorities",
        arguments: ["server", "ca"]
    )
    func selfSigned(name: String) async throws {
        let server = try TLSServer()
        let certificate = try certificate("\(name).pem", of: server)
        for accepts in [true, false] {
            let pinned = PinnedCertificatesTrustEvaluator(
                certificates: [certificate],
                acceptSelfSignedCertificates: accepts
            )
            let result = await result(server, CompositeTrustEvaluator(evaluators: [pinned]))
            #expect((result.response?.statusCode == 200) == accepts)
            #expect((result.afError?.isServerTrustEvaluationError == true) == !accepts)
        }
        let other = try TLSServer()
        let pinned = PinnedCertificatesTrustEvaluator(certificates: [certificate], acceptSelfSignedCertificates: true)
        #expect(await result(other, pinned).afError?.isServerTrustEvaluationError == true)
    }

    @Test("All evaluators of a composite have to trust the server")
    func composite() async throws {
        let server = try TLSServer()
        let certificate = try certificate("server.pem", of: server)
        let key = PinnedCertificatesTrustEvaluator(certificates: [certificate], isValidated: false)
        let other = try PinnedCertificatesTrustEvaluator(
            certificates: [self.certificate("server.pem", of: TLSServer())],
            isValidated: false
        )
        #expect(await result(server, key).response?.statusCode == 200)
        let all: [[any ServerTrustEvaluating]] = [
            [DefaultTrustEvaluator(), key], [DefaultTrustEvaluator(), DisabledTrustEvaluator()], [key, other],
        ]
        for evaluators in all {
            let composite = CompositeTrustEvaluator(evaluators: evaluators)
            #expect(await result(server, composite).afError?.isServerTrustEvaluationError == true)
        }
    }

    /// Chooses an evaluator by its own rule.
    private final class ChoosingManager: ServerTrustManager {
        override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
            DefaultTrustEvaluator()
        }
    }

    @Test("An evaluator that a subclass of the manager chooses fails the call, instead of having no effect")
    func chosenEvaluator() async throws {
        let server = try TLSServer()
        let manager = ChoosingManager(evaluators: ["localhost": DisabledTrustEvaluator()])
        let provider = MoyaProvider<Call>(session: Session(serverTrustManager: manager))
        let result = await provider.result(of: Call(baseURL: server.baseURL))
        guard case .serverTrustEvaluationFailed(.customEvaluationFailed)? = result.afError else {
            Issue.record("The server was trusted.")
            return
        }
    }

    @Test("A pattern in the place of a host has no effect")
    func pattern() async throws {
        let server = try TLSServer()
        let manager = ServerTrustManager(
            allHostsMustBeEvaluated: false,
            evaluators: ["*": DisabledTrustEvaluator(), "*.localhost": DisabledTrustEvaluator()]
        )
        let provider = MoyaProvider<Call>(session: Session(serverTrustManager: manager))
        #expect(await provider.result(of: Call(baseURL: server.baseURL)).response == nil)
    }

    @Test("A self-signed certificate for another host is refused")
    func otherHost() async throws {
        let server = try TLSServer(name: "example.com")
        let certificate = try certificate("server.pem", of: server)
        let pinned = PinnedCertificatesTrustEvaluator(certificates: [certificate], acceptSelfSignedCertificates: true)
        #expect(await result(server, pinned).afError?.isServerTrustEvaluationError == true)
    }

    @Test("Without validation, only the key is compared")
    func keysOnly() async throws {
        let server = try TLSServer(name: "example.com")
        for name in ["server", "ca"] {
            let certificate = try certificate("\(name).pem", of: server)
            let result = await result(
                server,
                PinnedCertificatesTrustEvaluator(certificates: [certificate], isValidated: false)
            )
            #expect((result.response?.statusCode == 200) == (name == "server"))
            #expect((result.afError?.isServerTrustEvaluationError == true) == (name == "ca"))
        }
    }

    @Test("Certificates of one host are not trusted for another one")
    func hosts() async throws {
        let (server, other) = (try TLSServer(), try TLSServer())
        let pinned = PinnedCertificatesTrustEvaluator(
            certificates: [try certificate("ca.pem", of: server)],
            acceptSelfSignedCertificates: true
        )
        let manager = ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator(), "example.com": pinned])
        let provider = MoyaProvider<Call>(session: Session(serverTrustManager: manager))
        for server in [server, other] {
            let result = await provider.result(of: Call(baseURL: server.baseURL))
            #expect(result.afError?.isServerTrustEvaluationError == true)
        }
        #expect(await self.result(server, DisabledTrustEvaluator()).response?.statusCode == 200)
    }
}
#endif
