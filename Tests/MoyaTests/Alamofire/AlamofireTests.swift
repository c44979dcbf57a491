// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

#if canImport(Security)
import Security
#endif

@Suite("Alamofire's names", .throttled)
struct AlamofireTests {
    static func request(_ method: Moya.Method = .get, _ url: String = "https://example.com/a") throws -> URLRequest {
        try URLRequest(url: url, method: method)
    }

    @Test(
        "Parameters are written in order, with nested names and escapes",
        arguments: [
            ("b=2&a=1", "a=1&b=2"), ("flag=true", "flag=1"), ("list=[1,2]", "list%5B%5D=1&list%5B%5D=2"),
            ("user={name:ann}", "user%5Bname%5D=ann"), ("text=a b+c&d=é", "d=%C3%A9&text=a%20b%2Bc"),
        ]
    )
    func urlEncoding(values: String, expected: String) throws {
        let parameters: [String: Parameters] = [
            "b=2&a=1": ["b": 2, "a": 1], "flag=true": ["flag": true], "list=[1,2]": ["list": [1, 2]],
            "user={name:ann}": ["user": ["name": "ann"]], "text=a b+c&d=é": ["text": "a b+c", "d": "é"],
        ]
        let encoded = try URLEncoding.queryString.encode(Self.request(), with: parameters[values])
        #expect(encoded.url?.query == expected)
    }

    @Test("Arrays and Boolean values have formats")
    func formats() throws {
        let parameters: Parameters = ["a": [1, 2], "f": false]
        let plain = URLEncoding(destination: .queryString, arrayEncoding: .noBrackets, boolEncoding: .literal)
        #expect(try plain.encode(Self.request(), with: parameters).url?.query == "a=1&a=2&f=false")
        let indexed = URLEncoding(destination: .queryString, arrayEncoding: .indexInBrackets)
        #expect(try indexed.encode(Self.request(), with: parameters).url?.query == "a%5B0%5D=1&a%5B1%5D=2&f=0")
        #expect(plain.queryComponents(fromKey: "k", value: NSNumber(value: true)).map(\.1) == ["true"])
        #expect(plain.queryComponents(fromKey: "k", value: NSNumber(value: 1)).map(\.1) == ["1"])
        #expect(plain.queryComponents(fromKey: "k", value: 1.5).map(\.1) == ["1.5"])
        let whole: [(Any, String)] = [
            (52.0, "52"), (Float(-3), "-3"), (CGFloat(0), "0"), (1e20, "1e%2B20"), (1.7e9, "1700000000"),
        ]
        for (value, text) in whole {
            #expect(plain.queryComponents(fromKey: "k", value: value).map(\.1) == [text])
        }
    }

    @Test(
        "The destination depends on the method",
        arguments: [
            (Moya.Method.get, true), (.head, true), (.delete, true), (.post, false), (.put, false), (.patch, false),
        ]
    )
    func destination(method: Moya.Method, isQuery: Bool) throws {
        let request = try URLEncoding.default.encode(Self.request(method, "https://example.com/a?x=1"), with: ["a": 1])
        #expect(request.url?.query == (isQuery ? "x=1&a=1" : "x=1"))
        #expect((request.httpBody == nil) == isQuery)
        let encoder = URLEncodedFormParameterEncoder.default
        let encoded = try encoder.encode(["a": 1], into: Self.request(method))
        #expect(encoded.url?.query == (isQuery ? "a=1" : nil))
    }

    @Test("Values are encoded as a form")
    func form() throws {
        struct Search: Encodable { var pageSize = 2, tags = ["x", "y"], isNew = true }
        #expect(
            try URLEncodedFormEncoder().encode(Search()) as String == "isNew=1&pageSize=2&tags%5B%5D=x&tags%5B%5D=y"
        )
        let encoder = URLEncodedFormEncoder(
            arrayEncoding: .noBrackets,
            boolEncoding: .literal,
            keyEncoding: .convertToSnakeCase
        )
        #expect(try encoder.encode(Search()) as String == "is_new=true&page_size=2&tags=x&tags=y")
        let request = try JSONParameterEncoder.default.encode(["a": 1], into: Self.request(.post))
        #expect(request.httpBody == Data(#"{"a":1}"#.utf8))
        #expect(request.headers["content-type"] == "application/json")
    }

    @Test("Header fields are found without regard to case, and replaced")
    func headers() throws {
        var headers: HTTPHeaders = ["Content-Type": "a", "Accept": "b"]
        headers.add(name: "content-type", value: "c")
        #expect(headers.count == 2)
        #expect(headers["CONTENT-TYPE"] == "c")
        headers.add(.authorization(bearerToken: "t"))
        #expect(headers.value(for: "authorization") == "Bearer t")
        headers["Authorization"] = nil
        headers.remove(name: "accept")
        #expect(headers.dictionary == ["content-type": "c"])
        #expect(HTTPHeaders(["b": "1", "A": "2"]).sorted().map(\.name) == ["A", "b"])
        #expect(HTTPHeader.authorization(username: "a", password: "b").value == "Basic YTpi")
        #expect(HTTPHeaders.default["Accept-Encoding"] != nil)
        var request = try Self.request()
        request.headers = ["A": "1"]
        request.headers.add(.accept("text/plain"))
        #expect(request.allHTTPHeaderFields == ["A": "1", "Accept": "text/plain"])
        #expect(request.method == .get)
        request.method = .patch
        #expect(request.httpMethod == "PATCH")
        #expect(URLSessionConfiguration.af.default.headers["User-Agent"] != nil)
    }

    @Test("Values that are not a URL are errors", arguments: ["", "https://[", "ht tp://x y"])
    func urls(text: String) throws {
        #expect(try "https://a.b".asURL().host == "a.b")
        #expect(URLRequest(url: URL(fileURLWithPath: "/")).urlRequest != nil)
        guard URL(string: text) == nil else { return }
        #expect {
            try text.asURL()
        } throws: { error in
            error.asAFError?.isInvalidURLError ?? false
        }
    }

    @Test("Errors have their properties")
    func errors() {
        let cause = URLError(.timedOut)
        let failed = AFError.sessionTaskFailed(error: cause)
        #expect(failed.isSessionTaskError)
        #expect((failed.underlyingError as? URLError)?.code == .timedOut)
        #expect(AFError.explicitlyCancelled.isExplicitlyCancelledError)
        let status = AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: 404))
        #expect(status.responseCode == 404)
        #expect(status.localizedDescription == "Response status code was unacceptable: 404.")
        let type = AFError.responseValidationFailed(
            reason: .unacceptableContentType(acceptableContentTypes: ["a/b"], responseContentType: "c/d")
        )
        #expect(type.responseContentType == "c/d")
        #expect(type.acceptableContentTypes == ["a/b"])
        #expect((cause as any Error).asAFError == nil)
        #expect(AFError.requestAdaptationFailed(error: cause).underlyingError is URLError)
    }
}

/// Adds a token, and refreshes it after a 401.
final class TokenInterceptor: RequestInterceptor, @unchecked Sendable {
    let token = Locking("old")
    let log = Log()

    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping (Result<URLRequest, Error>) -> Void
    ) {
        var request = urlRequest
        request.headers.add(.authorization(bearerToken: token.value))
        completion(.success(request))
    }

    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: Error,
        completion: @escaping (RetryResult) -> Void
    ) {
        guard let response = request.task?.response as? HTTPURLResponse, request.retryCount < 1 else {
            return completion(.doNotRetryWithError(error))
        }
        log.append("\(response.statusCode) \(request.retryCount) \(error.asAFError?.responseCode ?? 0)")
        token.update { $0 = "new" }
        completion(.retry)
    }
}

@Suite("Sessions", .throttled, .timeLimit(.minutes(1)))
struct SessionTests {
    let server: EchoServer

    init() throws {
        server = try EchoServer()
    }

    private func call(_ path: String) -> Call {
        Call(baseURL: server.baseURL, path: path, validationType: .successCodes)
    }

    @Test("An interceptor adapts each attempt and decides about retries")
    func interceptor() async {
        let interceptor = TokenInterceptor()
        let log = Log()
        let provider = MoyaProvider<Call>(
            session: Session(interceptor: interceptor),
            plugins: [RecordingPlugin(log: log)]
        )
        let result = await provider.result(of: call("/unavailable-once"))
        #expect(result.response?.statusCode == 200)
        #expect(interceptor.log.lines == ["503 0 503"])
        #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer old", "Bearer new"])
        #expect(log.lines == ["prepare", "willSend", "prepare", "willSend", "didReceive", "process"])
    }

    @Test("A retrier can end the call with its error")
    func retryError() async {
        let provider = MoyaProvider<Call>(session: Session(interceptor: TokenInterceptor()))
        let result = await provider.result(of: call("/status/500"))
        #expect(result.afError?.isRequestRetryError == true)
        #expect(server.requests.count == 2)
    }

    @Test("An adapter's error ends the call, and nothing is sent")
    func adaptError() async {
        let interceptor = Interceptor(
            adapters: [Adapter { _, _, completion in completion(.failure(CocoaError(.userCancelled))) }]
        )
        let provider = MoyaProvider<Call>(session: Session(interceptor: interceptor))
        let result = await provider.result(of: call("/echo"))
        #expect(result.afError?.isRequestAdaptationError == true)
        #expect(server.requests.isEmpty)
    }

    @Test("A retry policy repeats idempotent calls, up to its limit")
    func policy() async {
        let policy = RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0.001)
        let provider = MoyaProvider<Call>(session: Session(interceptor: policy))
        #expect(await provider.result(of: call("/unavailable-once")).response?.statusCode == 200)
        _ = await provider.result(of: call("/status/503"))
        #expect(server.requests.count == 2 + 3)
        var post = call("/status/503")
        post.method = .post
        _ = await provider.result(of: post)
        #expect(server.requests.count == 2 + 3 + 1)
    }

    @Test("Cancelling ends a call whose interceptor never answers", arguments: [true, false])
    func silent(isAdapter: Bool) async {
        let log = Log()
        let adapter = Adapter { request, _, completion in
            log.append("called")
            if !isAdapter { completion(.success(request)) }
        }
        let retrier = Retrier { _, _, _, _ in log.append("called") }
        let interceptor = Interceptor(adapter: adapter, retrier: retrier)
        let provider = MoyaProvider<Call>(session: Session(interceptor: interceptor))
        let ended = Log()
        let running = provider.request(call("/status/500"), callbackQueue: .global()) { result in
            ended.append("\(result.afError?.isExplicitlyCancelledError ?? false)")
        }
        _ = await log.waitForCount(isAdapter ? 1 : 2)
        running.cancel()
        #expect(await ended.waitForCount(1) == ["true"])
    }

    @Test("Hosts without an evaluator, and evaluators of the app, are errors")
    func trust() async throws {
        struct Own: ServerTrustEvaluating {
            #if canImport(Security)
            func evaluate(_ trust: SecTrust, forHost host: String) throws {}
            #endif
        }
        let managers = [
            ServerTrustManager(evaluators: [:]),
            ServerTrustManager(evaluators: ["127.0.0.1": Own()]),
            ServerTrustManager(evaluators: ["127.0.0.1": PinnedCertificatesTrustEvaluator()]),
            ServerTrustManager(evaluators: ["127.0.0.1": CompositeTrustEvaluator(evaluators: [Own()])]),
        ]
        let port = try RefusedPort()
        let url = try #require(
            URL(string: port.baseURL.absoluteString.replacingOccurrences(of: "http:", with: "https:"))
        )
        for manager in managers {
            let provider = MoyaProvider<Call>(session: Session(serverTrustManager: manager))
            #expect(await provider.result(of: Call(baseURL: url)).afError?.isServerTrustEvaluationError == true)
        }
        let open = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: ["a": DisabledTrustEvaluator()])
        let provider = MoyaProvider<Call>(session: Session(serverTrustManager: open))
        #expect(await provider.result(of: Call(baseURL: url)).afError?.isSessionTaskError == true)
    }
}

@Suite("Cancelling all requests of a session", .throttled, .timeLimit(.minutes(3)))
struct CancelAllTests {
    @Test("All calls of providers with the session are cancelled, and those with another session are not")
    func cancelAll() async throws {
        let server = try EchoServer()
        let session = Session()
        let hanging = Call(baseURL: server.baseURL, path: "/hang")
        let (first, second) = (MoyaProvider<Call>(session: session), MoyaProvider<Call>(session: session))
        let other = MoyaProvider<Call>()
        let ended = Log()
        for provider in [first, second] {
            provider.request(hanging, callbackQueue: .global()) { result in
                ended.append("\(result.afError?.isExplicitlyCancelledError ?? false)")
            }
        }
        let target = LegacyTarget(hanging)
        let awaited = _Concurrency.Task { try await first.targetKit.request(target) }
        let untouched = other.request(hanging) { _ in ended.append("the other session's") }
        await server.waitForRequests(4)
        session.cancelAllRequests(completingOnQueue: .global()) { ended.append("all") }
        #expect(await ended.waitForCount(3).sorted() == ["all", "true", "true"])
        await #expect(throws: (any Error).self) { try await awaited.value }
        #expect(!untouched.isCancelled)
        untouched.cancel()
    }
}

/// Records the events of a session.
private struct RecordingMonitor: EventMonitor {
    let queue = DispatchQueue(label: "monitor")
    let log: Log

    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        log.append("create \(urlRequest.url?.path ?? "")")
    }

    func requestDidResume(_ request: Request) { log.append("resume") }
    func requestDidCancel(_ request: Request) { log.append("cancel") }
    func requestDidFinish(_ request: Request) {
        log.append("finish \(request.response?.statusCode ?? 0) \(request.error?.responseCode ?? 0)")
    }
}

@Suite("Event monitors", .throttled, .timeLimit(.minutes(1)))
struct EventMonitorTests {
    @Test("A monitor is told about a request's beginning, its attempts and its end")
    func events() async throws {
        let server = try EchoServer()
        let log = Log()
        let session = Session(interceptor: TokenInterceptor(), eventMonitors: [RecordingMonitor(log: log)])
        let provider = MoyaProvider<Call>(session: session)
        let call = Call(baseURL: server.baseURL, path: "/status/500", validationType: .successCodes)
        _ = await provider.result(of: call)
        let lines = await log.waitForCount(4)
        #expect(lines.prefix(3) == ["create /status/500", "resume", "create /status/500"])
        #expect(lines.last?.hasPrefix("finish 500") == true)
    }
}
