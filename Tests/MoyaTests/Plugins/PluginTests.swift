// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Moya's plugins", .throttled, .timeLimit(.minutes(1)))
struct PluginTests {
    static let request = URLRequest(url: URL.of("https://example.com"))

    @Test(
        "A token is added with the target's scheme",
        arguments: [
            (AuthorizationType.basic as AuthorizationType?, "Basic Y5v" as String?), (.bearer, "Bearer Y5v"),
            (.custom("CustomToken"), "CustomToken Y5v"), (nil, nil),
        ]
    )
    func accessToken(type: AuthorizationType?, expected: String?) {
        let plugin = AccessTokenPlugin { _ in "Y5v" }
        for target in [Call(authorizationType: type), MultiTarget(Call(authorizationType: type))] as [any TargetType] {
            let prepared = plugin.prepare(Self.request, target: target)
            #expect(prepared.value(forHTTPHeaderField: "Authorization") == expected)
        }
        #expect(plugin.prepare(Self.request, target: GitHub.zen).value(forHTTPHeaderField: "Authorization") == nil)
    }

    @Test("The token closure receives the target, the inner one of a multi-target")
    func tokenTarget() {
        let plugin = AccessTokenPlugin { target in (target as? Call)?.path ?? "none" }
        let target = MultiTarget(Call(path: "/inner", authorizationType: .bearer))
        #expect(
            plugin.prepare(Self.request, target: target).value(forHTTPHeaderField: "Authorization") == "Bearer /inner"
        )
    }

    @Test("Schemes are equal by their values")
    func schemes() {
        #expect(AuthorizationType.custom("a") == .custom("a"))
        #expect(AuthorizationType.custom("a") != .custom("b"))
        #expect(AuthorizationType.basic != .bearer)
        #expect(AuthorizationType.custom("a").value == "a")
    }

    @Test("Activity begins and ends with each call, also with a failed one")
    func activity() {
        let log = Log()
        let plugin = NetworkActivityPlugin { change, _ in log.append(change == .began ? "began" : "ended") }
        let provider = MoyaProvider<Call>(stubClosure: MoyaProvider.immediatelyStub, plugins: [plugin])
        provider.request(Call()) { _ in }
        provider.request(Call(validationType: .customCodes([1]))) { _ in }
        #expect(log.lines == ["began", "ended", "began", "ended"])
    }

    @Test("A credential answers the server's challenge, and without one the 401 is the response")
    func credentials() async throws {
        let server = try EchoServer()
        let call = Call(baseURL: server.baseURL, path: "/private")
        let without = MoyaProvider<Call>(plugins: [CredentialsPlugin { _ in nil }])
        #expect(await without.result(of: call).response?.statusCode == 401)
        let with = MoyaProvider<Call>(
            plugins: [CredentialsPlugin { _ in URLCredential(user: "ann", password: "tea", persistence: .none) }]
        )
        #expect(await with.result(of: call).response?.statusCode == 200)
        #expect(server.requests.last?.headers["authorization"] == "Basic YW5uOnRlYQ==")
    }

    /// Logs a stubbed call of `target` with options, without dates.
    private func log(
        _ options: NetworkLoggerPlugin.Configuration.LogOptions,
        _ target: Call,
        _ sample: EndpointSampleResponse = .networkResponse(200, Data("cool body".utf8))
    ) -> [String] {
        let log = Log()
        let formatter = NetworkLoggerPlugin.Configuration.Formatter(entry: { identifier, message, _ in
            "\(identifier): \(message)"
        })
        let plugin = NetworkLoggerPlugin(
            configuration: .init(
                formatter: formatter,
                output: { _, items in items.forEach(log.append) },
                logOptions: options
            )
        )
        let provider = MoyaProvider<Call>(
            endpointClosure: { StubTests.endpoint(of: $0, sample) },
            stubClosure: MoyaProvider.immediatelyStub,
            plugins: [plugin]
        )
        provider.request(target) { _ in }
        return log.lines
    }

    static var call: Call {
        Call(
            method: .post,
            task: .requestData(Data("cool body".utf8)),
            headers: ["Content-Type": "application/json"]
        )
    }

    @Test("The default options log the URL, the fields and the method")
    func defaultLog() {
        let lines = log(.default, Self.call)
        #expect(lines.first == "Request: https://example.com/endpoint")
        #expect(
            lines.contains {
                $0.hasPrefix("Request Headers: ") && $0.contains("\"Content-Type\": \"application/json\"")
            }
        )
        #expect(lines.contains("HTTP Request Method: POST"))
        #expect(!lines.contains { $0.contains("cool body") })
        #expect(lines.contains { $0.hasPrefix("Response: Received empty network response for ") })
    }

    @Test(
        "The lines have the texts of Moya's: the URL of a response, the case of a target, the body stream of a request"
    )
    func texts() throws {
        struct Streamed: RequestType {
            let request: URLRequest?
            let sessionHeaders: [String: String] = [:]

            func authenticate(username: String, password: String, persistence: URLCredential.Persistence) -> Self {
                self
            }
            func authenticate(with credential: URLCredential) -> Self { self }
            func cURLDescription(calling handler: @escaping (String) -> Void) -> Self { self }
        }
        let log = Log()
        let plugin = NetworkLoggerPlugin(
            configuration: .init(output: { _, items in items.forEach(log.append) }, logOptions: .verbose)
        )
        var request = Self.request
        request.httpBodyStream = InputStream(data: Data("cool body".utf8))
        plugin.willSend(Streamed(request: request), target: GitHub.zen)
        #expect(log.lines.contains { $0.contains("Request Body Stream: ") })
        let url = URL.of("https://ann:hunter2@api.github.com/zen?token=hunter2")
        let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        let response = Response(statusCode: 200, data: Data(), response: head)
        plugin.didReceive(.success(response), target: GitHub.zen)
        #expect(
            log.lines.contains { $0.contains("{ URL: https://api.github.com/zen?token=<redacted> } { Status Code: ") }
        )
        let error = AFError.responseSerializationFailed(reason: .inputFileNil)
        plugin.didReceive(.failure(.underlying(error, nil)), target: GitHub.zen)
        plugin.didReceive(.failure(.underlying(error, nil)), target: GitHub.userProfile("hunter2"))
        let text = """
            : underlying(Alamofire.AFError.responseSerializationFailed(reason: \
            Alamofire.AFError.ResponseSerializationFailureReason.inputFileNil), nil)
            """
        #expect(log.lines.contains { $0.hasSuffix("Error: Error calling zen " + text) })
        #expect(log.lines.contains { $0.hasSuffix("Error: Error calling userProfile " + text) })
        #expect(!log.lines.joined().contains("hunter2"))
    }

    @Test("The verbose options log the bodies, too")
    func verboseLog() {
        let lines = log(.verbose, Self.call)
        #expect(lines.contains("Request Body: cool body"))
        #expect(lines.contains("Response Body: cool body"))
    }

    @Test(
        "Bodies of responses are logged by kind",
        arguments: [
            (NetworkLoggerPlugin.Configuration.LogOptions.successResponseBody, 200, true),
            (.successResponseBody, 500, true), (.errorResponseBody, 200, false), (.errorResponseBody, 500, true),
            (.requestMethod, 500, false),
        ]
    )
    func responseBodies(options: NetworkLoggerPlugin.Configuration.LogOptions, status: Int, isLogged: Bool) {
        var call = Self.call
        call.validationType = .successCodes
        let lines = log(options, call, .networkResponse(status, Data("secretless".utf8)))
        #expect(lines.contains("Response Body: secretless") == isLogged)
    }

    @Test("A failure without a response is logged as an error")
    func errorLog() {
        let error = NSError(domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet)
        #expect(log(.default, Self.call, .networkError(error)).contains { $0.hasPrefix("Error: Error calling ") })
    }

    @Test("The names in the metadata of an upload are logged, and values that aren't secret")
    func metadata() {
        var call = Self.call
        call.headers = ["Upload-Metadata": "filename YS50eHQ=,token czNjcmV0"]
        for options in [.default, .formatRequestAscURL] as [NetworkLoggerPlugin.Configuration.LogOptions] {
            let lines = log(options, call)
            #expect(lines.contains { $0.contains("filename YS50eHQ=,token <redacted>") })
            #expect(!lines.joined().contains("czNjcmV0"))
        }
    }

    @Test("A request can be logged as a cURL command")
    func curl() {
        let lines = log(.formatRequestAscURL, Self.call)
        let command = lines.first ?? ""
        #expect(command.hasPrefix("Request: $ curl -v"))
        #expect(command.contains("-X POST"))
        #expect(command.contains("-H \"Content-Type: application/json\""))
        #expect(command.contains("-d \"cool body\""))
        #expect(command.hasSuffix("\"https://example.com/endpoint\""))
    }

    @Test("The formatter of bodies redacts the secrets of a form with parts")
    func secretParts() {
        let parts = [("password", "hunter2"), ("place", "home")].map { name, value in
            "--x\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        let text = NetworkLoggerPlugin.Configuration.Formatter
            .defaultDataFormatter(Data((parts.joined() + "--x--\r\n").utf8))
        #expect(text.contains("home"))
        #expect(!text.contains("hunter2"))
    }

    @Test(
        "No secret is logged",
        arguments: [
            NetworkLoggerPlugin.Configuration.LogOptions.verbose,
            [.formatRequestAscURL, .successResponseBody],
        ]
    )
    func secrets(options: NetworkLoggerPlugin.Configuration.LogOptions) {
        let call = Call(
            baseURL: URL.of("https://ann:hunter2@example.com"),
            method: .post,
            task: .requestCompositeParameters(
                bodyParameters: ["password": "hunter2"],
                bodyEncoding: JSONEncoding.default,
                urlParameters: ["access_token": "hunter2"]
            ),
            headers: ["Authorization": "Bearer hunter2", "Cookie": "session=hunter2", "X-Api-Key": "hunter2"]
        )
        let lines = log(options, call, .networkResponse(200, Data(#"{"token":"hunter2"}"#.utf8)))
        #expect(!lines.joined().contains("hunter2"))
    }

    @Test("The default formatter names Moya, the date, the identifier and the message")
    func formatter() {
        typealias Formatter = NetworkLoggerPlugin.Configuration.Formatter
        let line = Formatter.defaultEntryFormatter(identifier: "Request", message: "text", target: GitHub.zen)
        #expect(line.hasPrefix("Moya_Logger: ["))
        #expect(line.hasSuffix("] Request: text"))
        #expect(Formatter.defaultDataFormatter(Data("a".utf8)) == "a")
        #expect(Formatter.defaultDataFormatter(Data([0xFF, 0xFE])) == "## Cannot map data to String ##")
    }

    @Test("The formatters of bodies are used")
    func bodyFormatters() {
        let log = Log()
        let plugin = NetworkLoggerPlugin()
        plugin.configuration.logOptions = .verbose
        plugin.configuration.formatter.requestData = { _ in "formatted request" }
        plugin.configuration.formatter.responseData = { _ in "formatted response" }
        plugin.configuration.output = { _, items in items.forEach(log.append) }
        let provider = MoyaProvider<Call>(stubClosure: MoyaProvider.immediatelyStub, plugins: [plugin])
        provider.request(Self.call) { _ in }
        #expect(log.lines.contains { $0.hasSuffix("Request Body: formatted request") })
        #expect(log.lines.contains { $0.hasSuffix("Response Body: formatted response") })
        #expect(NetworkLoggerPlugin.default.configuration.logOptions == .default)
        #expect(NetworkLoggerPlugin.verbose.configuration.logOptions == .verbose)
    }
}
