// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
@testable import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Types that contain a secret expose it only through the property for it, never in a text, so that interpolation
/// cannot put it into a log, a crash report or an alert.
@Suite("Secrets in texts", .throttled, .timeLimit(.minutes(2)))
struct SecretsInTextsTests {
    /// A value that contains a secret.
    struct Holder: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable () async throws -> Any

        init(_ name: String, _ make: @escaping @Sendable () async throws -> Any) {
            testDescription = name
            self.make = make
        }
    }

    enum Login: TargetType {
        case login(password: String)

        var baseURL: URL { SecretsInTextsTests.url }
        var path: RequestPath { "/login" }
        var sampleResponse: SampleResponse { .response(status: 200, data: SecretsInTextsTests.bytes) }
    }

    struct Unsayable: Error { var token = "s3cret" }

    static let url = URL(string: "https://anna:s3cret@h.example/v1/a?token=s3cret&q=s3cret#s3cret") ?? .shop
    static let bytes = Data(#"{"password":"s3cret"}"#.utf8)
    static let fields: HTTPHeaders = ["Authorization": "Bearer s3cret", "Cookie": "sid=s3cret", "X-Plain": "s3cret"]
    static let login = Login.login(password: "s3cret")

    static var request: URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.allHTTPHeaderFields = fields.dictionary
        request.httpBody = bytes
        return request
    }

    static var response: Response {
        let headers: HTTPHeaders = ["Set-Cookie": "sid=s3cret", "X-Echo": "s3cret"]
        return Response(statusCode: 200, data: bytes, headers: headers, request: request)
    }

    static func error(_ stage: TargetKitError.Stage, _ underlying: any Error) -> TargetKitError {
        TargetKitError(stage: stage, target: login, request: request, response: response, underlying: underlying)
    }

    static var urlError: URLError {
        let inner: [String: Any] = [NSURLErrorFailingURLErrorKey: url, "more": [url], "text": "at \(url) since"]
        return URLError(
            .timedOut,
            userInfo: [
                NSURLErrorFailingURLErrorKey: url, "NSErrorFailingURLStringKey": url.absoluteString,
                NSLocalizedDescriptionKey: "no answer from \(url)",
                NSUnderlyingErrorKey: NSError(domain: "test", code: 1, userInfo: inner),
            ]
        )
    }

    private static let key = CodingPath("password")

    private struct CodingPath: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    static let errors: [Holder] = [
        Holder("an error with a URLError") { error(.transport, urlError) },
        Holder("its underlying error") { error(.transport, urlError).underlying as Any },
        Holder("an underlying error that was set") {
            var error = TargetKitError(stage: .transport)
            error.underlying = urlError
            return error.underlying as Any
        },
        Holder("an error with a CocoaError") {
            error(.request, CocoaError(.fileReadUnknown, userInfo: [NSURLErrorKey: url, "NSFilePath": "\(url)"]))
        },
        Holder("an error with an error that cannot be said") { error(.transport, Unsayable()) },
        Holder("an error within an error") { error(.request, error(.transport, urlError)) },
        Holder("an error with what cannot be decoded") {
            let context = DecodingError.Context(codingPath: [key], debugDescription: "no use for s3cret")
            let inner = error(.decoding, DecodingError.dataCorrupted(context))
            return [inner, inner.underlying as Any]
        },
        Holder("an error with what cannot be encoded") {
            let context = EncodingError.Context(codingPath: [key], debugDescription: "no form for s3cret")
            let inner = error(.request, EncodingError.invalidValue(["password": "s3cret"], context))
            return [inner, inner.underlying as Any]
        },
        Holder("the error of a URL that cannot be called") {
            let url = URL(string: "ftp://anna:s3cret@h.example/?token=s3cret") ?? .shop
            return await Provider<PluginTarget>().result(PluginTarget(baseURL: url)).failure as Any
        },
        Holder("the error of an upload that is no file") {
            let target = PluginTarget(method: .post, task: .upload(file: url))
            return await Provider<PluginTarget>().result(target).failure as Any
        },
        Holder("the error of a form's file that is no file") {
            let target = PluginTarget(method: .post, task: .multipart([.file(url, name: "f")]))
            return await Provider<PluginTarget>().result(target).failure as Any
        },
        Holder("the error of a server that is not there") {
            let port = try ClosedPort()
            let base = URL(string: "http://anna:s3cret@127.0.0.1:\(port.port)/?token=s3cret") ?? .shop
            return await Provider<PluginTarget>().result(PluginTarget(baseURL: base)).failure as Any
        },
        Holder("the system transport's own error") {
            let port = try ClosedPort()
            let base = URL(string: "http://anna:s3cret@127.0.0.1:\(port.port)/?token=s3cret") ?? .shop
            return await #expect(throws: URLError.self) {
                try await SystemTransport.patient.send(TransportRequest(urlRequest: URLRequest(url: base)))
            } as Any
        },
        Holder("the error of too many redirects") {
            let sample = SampleResponse.response(status: 302, headers: ["Location": "?token=s3cret"], data: Data())
            let provider = Provider<PluginTarget>(transport: StubTransport(sample))
            return await provider.result(PluginTarget(baseURL: url)).failure as Any
        },
        Holder("InvalidRequest") {
            let text = url.absoluteString
            return [InvalidRequest.unsupportedURL(text), .unreadableURL(text), .unreadableFile(path: text)]
        },
        Holder("the error of a body's file") {
            #expect(throws: URLError.self) { try TransportRequest.Body.file(url).source() } as Any
        },
        Holder("CredentialFileError") {
            await #expect(throws: CredentialFileError.self) { try await FileCredentialStore<String>(url).load() } as Any
        },
        Holder("HostFailoverPlugin.Problem") { HostFailoverPlugin.Problem.unusableHost(url) },
        Holder("UnreadableBody") {
            let context = DecodingError.Context(codingPath: [key], debugDescription: "no use for s3cret")
            return UnreadableBody.undecodableLine(number: 1, DecodingError.dataCorrupted(context))
        },
    ]

    static let values: [Holder] = [
        Holder("Response") { response },
        Holder("ResponseHead") { ResponseHead(statusCode: 200, headers: fields) },
        Holder("ResponseHead of lines") {
            ResponseHead(statusCode: 200, headerLines: Array("Set-Cookie: sid=s3cret\r\n".utf8))
        },
        Holder("ResponseStream") { ResponseStream(statusCode: 200, headers: fields, body: ResponseBody { nil }) },
        Holder("RequestEvent") { RequestEvent.response(response) },
        Holder("HTTPHeaders") {
            let fields: HTTPHeaders = ["Authorization": "Bearer s3cret", "Set-Cookie": "sid=s3cret"]
            return [fields, Array(fields), fields.fields] as [Any]
        },
        Holder("RequestPath") { "/a?token=s3cret&access%5Ftoken=s3cret&x=1" as RequestPath },
        Holder("Route") { Route.post("/a?token=s3cret", .json(["password": "s3cret"])) },
        Holder("HTTPTask") {
            let form: MultipartForm = [.text("s3cret", name: "password")]
            return [
                .json(["a": "s3cret"]), .form(["a": "s3cret"]), .data(bytes), .multipart(form),
                .parameters(["a": "s3cret"]), .plain.query(["a": "s3cret"]), .form(["a": "s3cret"]),
            ] as [HTTPTask]
        },
        Holder("MultipartForm") {
            MultipartForm(parts: [.data(bytes, name: "a"), .text("s3cret", name: "b", headers: fields)])
        },
        Holder("Image") { MultipartForm.Part.image(bytes) },
        Holder("Endpoint") {
            Endpoint(
                url: url,
                method: .post,
                task: .json(["password": "s3cret"]),
                headers: fields,
                sampleResponse: .response(status: 200, headers: fields, data: bytes)
            )
        },
        Holder("SampleResponse") {
            [SampleResponse.response(status: 200, headers: fields, data: bytes), .failure(urlError)]
        },
        Holder("StubTransport") { StubTransport(.response(status: 200, headers: fields, data: bytes)) },
        Holder("TransportRequest") { TransportRequest(urlRequest: request, body: .data(bytes)) },
        Holder("TransportRequest.Body") { TransportRequest.Body.data(bytes) },
        Holder("TransportResponse") {
            TransportResponse(head: ResponseHead(statusCode: 200, headers: fields), body: .data(bytes))
        },
        Holder("Redirect") { Redirect(statusCode: 302, from: url, to: url) },
        Holder("MultiTarget") { MultiTarget(login) },
        Holder("RequestContext") { RequestContext(target: login, attempt: 0) },
        Holder("RequestOutcome") {
            var outcomes: [RequestOutcome<Login>] = []
            for await outcome in Provider<Login>.stubbed().requests([login], maxConcurrent: 1) {
                outcomes.append(outcome)
            }
            return outcomes
        },
        Holder("RequestOutcomes.Iterator") {
            var outcomes = Provider<Login>.stubbed().requests([login, login], maxConcurrent: 1).makeAsyncIterator()
            _ = await outcomes.next()
            return outcomes
        },
        Holder("ResponseStream.Elements.Iterator") {
            let pieces = Recorder<Data>()
            let body = ResponseBody {
                pieces.append(Data())
                return pieces.count == 1 ? Data("a\ns3cret\ns3cret".utf8) : nil
            }
            var lines = ResponseStream(statusCode: 200, headers: fields, body: body).lines().makeAsyncIterator()
            _ = try await lines.next()
            return lines
        },
        Holder("TransportRequest.Destination") {
            [TransportRequest.Destination.file(url), .memory(), .stream(buffer: 1)]
        },
        Holder("RequestOutcomes") { Provider<Login>.stubbed().requests([login], maxConcurrent: 1) },
        Holder("Cookie") { Cookie(name: "sid", value: "s3cret", domain: "h.example") },
        Holder("CookieStore") {
            let store = CookieStore()
            store.store(["sid=s3cret; Path=/"], from: url)
            return store
        },
        Holder("TLSPolicy") {
            TLSPolicy(clientCertificate: .init(file: URL(filePath: "/c.p12"), password: "s3cret"))
        },
    ]

    #if os(Linux)
    static let configurations: [Holder] = [
        Holder("CurlTransport") {
            let tls = TLSPolicy(clientCertificate: .init(file: URL(filePath: "/c.p12"), password: "s3cret"))
            return [CurlTransport.Proxy.url(url), CurlTransport(proxy: .url(url), tls: tls)] as [Any]
        }
    ]
    #else
    static let configurations: [Holder] = []
    #endif

    static let plugins: [Holder] = [
        Holder("BasicCredentials") { try BasicCredentials(user: "anna", password: "s3cret") },
        Holder("OAuthCredential") { OAuthCredential(accessToken: "s3cret", refreshToken: "s3cret") },
        Holder("OAuthClient") { OAuthClient(id: "app", tokenURL: url, authentication: .basic(secret: "s3cret")) },
        Holder("OAuthClient.Authentication") { OAuthClient.Authentication.form(secret: "s3cret") },
        Holder("OAuthGrant") { OAuthGrant.refreshToken("s3cret") },
        Holder("OAuthRequestTarget") {
            let targets = Recorder<MultiTarget>()
            let client = OAuthClient(id: "app", tokenURL: url, authentication: .form(secret: "s3cret")) { target in
                targets.append(target)
                throw Boom()
            }
            _ = try? await client.credential(.refreshToken("s3cret"))
            return targets.elements
        },
        Holder("MemoryCredentialStore") { MemoryCredentialStore("s3cret") },
        Holder("SignableRequest") { SignableRequest(method: .post, url: url, headers: fields, body: .data(bytes)) },
        Holder("DefaultHeadersPlugin") { DefaultHeadersPlugin(others: ["Authorization": "Bearer s3cret"]) },
        Holder("HostFailoverPlugin") { HostFailoverPlugin(hosts: [url]) },
        Holder("ServerEnvironment") {
            let text = url.absoluteString
            let environment = ServerEnvironment("a", baseURL: text, modules: ["m": text], headers: fields)
            let store = EnvironmentStore(default: environment, storage: MemoryEnvironmentStorage(), launch: .ignored)
            return [environment, store, store.updates] as [Any]
        },
        Holder("EnvironmentStore.Launch") {
            EnvironmentStore.Launch(arguments: ["-token", "s3cret"], variables: ["API_KEY": "s3cret"])
        },
        Holder("Provider") {
            let store = MemoryCredentialStore(OAuthCredential(accessToken: "s3cret"))
            let authenticator = OAuthAuthenticator(refresh: { $0 })
            let cookies = CookieStore()
            cookies.store(["sid=s3cret; Path=/"], from: url)
            let provider = Provider<Login>(
                stubClosure: { _ in .immediate },
                plugins: [
                    AuthenticationPlugin(authenticator: authenticator, store: store) { _ in },
                    HostFailoverPlugin(hosts: [url]), NetworkLoggerPlugin { _ in },
                    CookiePlugin(cookies),
                ]
            )
            _ = try await provider.request(login)
            let handle = provider.request(login) { _ in }
            _ = try await handle.response()
            return [provider, handle] as [Any]
        },
    ]

    @Test("No textual form of a type with a secret shows it", arguments: errors + values + configurations + plugins)
    func everyForm(_ holder: Holder) async throws {
        let forms = TextualForms(of: try await holder.make())
        #expect(forms.texts.count >= 3)
        #expect(forms.forms(holding: "s3cret") == [])
    }

    @Test("Requests, responses and errors are not Encodable; only types that are meant to be stored are")
    func json() async throws {
        let stored = ["Cookie", "OAuthCredential"]
        for holder in Self.errors + Self.values + Self.plugins where !stored.contains(holder.testDescription) {
            #expect(!(try await holder.make() is any Encodable), "\(holder.testDescription)")
        }
    }
}
