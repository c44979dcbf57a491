// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Calls over the network", .throttled, .timeLimit(.minutes(1)))
struct NetworkTests {
    let server: EchoServer

    init() throws {
        server = try EchoServer()
    }

    private func echo(_ response: Moya.Response?) throws -> EchoServer.Received {
        try #require(response).map(EchoServer.Received.self)
    }

    @Test("The server receives the method, the query, the fields and the body of each task")
    func requests() async throws {
        let provider = MoyaProvider<Call>()
        let call = Call(
            baseURL: server.baseURL,
            path: "/echo/a b",
            method: .post,
            task: .requestCompositeParameters(
                bodyParameters: ["name": "ann"],
                bodyEncoding: JSONEncoding.default,
                urlParameters: ["page": 2]
            ),
            headers: ["X-Own": "1"]
        )
        let received = try echo(await provider.result(of: call).response)
        #expect(received.method == "POST")
        #expect(received.path == "/echo/a%20b")
        #expect(received.query == "page=2")
        #expect(received.body == #"{"name":"ann"}"#)
        #expect(received.headers["content-type"] == "application/json")
        #expect(received.headers["x-own"] == "1")
    }

    @Test("The session's header fields are sent, and those of the target replace them")
    func sessionHeaders() async throws {
        let configuration = URLSessionConfiguration.default
        configuration.headers = ["X-App": "3.1", "X-Own": "session"]
        let provider = MoyaProvider<Call>(session: Session(configuration: configuration))
        let call = Call(baseURL: server.baseURL, headers: ["X-Own": "target"])
        let received = try echo(await provider.result(of: call).response)
        #expect(received.headers["x-app"] == "3.1")
        #expect(received.headers["x-own"] == "target")
        let standard = try echo(await MoyaProvider<Call>().result(of: call).response)
        #expect(standard.headers["user-agent"]?.hasSuffix("TargetKit") == true)
        #expect(standard.headers["accept-language"] != nil)
    }

    @Test("Without a validation, every status is a success", arguments: [200, 204, 404, 500])
    func noValidation(status: Int) async {
        let call = Call(baseURL: server.baseURL, path: "/status/\(status)")
        #expect(await MoyaProvider<Call>().result(of: call).response?.statusCode == status)
    }

    @Test("A status that is not accepted is Alamofire's validation error, with the response", arguments: [401, 503])
    func validation(status: Int) async {
        let call = Call(baseURL: server.baseURL, path: "/status/\(status)", validationType: .successCodes)
        let result = await MoyaProvider<Call>().result(of: call)
        #expect(result.afError?.responseCode == status)
        #expect(result.afError?.isResponseValidationError == true)
        #expect(result.error?.response?.statusCode == status)
        #expect(result.error?.response?.response?.statusCode == status)
    }

    @Test("A refused connection is Alamofire's task error with a URL error")
    func refused() async throws {
        let port = try RefusedPort()
        let result = await MoyaProvider<Call>().result(of: Call(baseURL: port.baseURL))
        #expect((result.afError?.underlyingError as? URLError)?.code == .cannotConnectToHost)
        #expect(result.error?.response == nil)
    }

    @Test("The hooks run in order, and the completion comes last")
    func hooks() async throws {
        let log = Log()
        let provider = MoyaProvider<Call>(plugins: [RecordingPlugin("1", log: log), RecordingPlugin("2", log: log)])
        let result = await provider.result(of: Call(baseURL: server.baseURL))
        #expect(
            log.lines == [
                "prepare1", "prepare2", "willSend1", "willSend2", "didReceive1", "didReceive2", "process1", "process2",
            ]
        )
        #expect(try echo(result.response).headers["x-prepared2"] == "yes")
    }

    @Test("Without a queue, hooks and completion run on the main queue")
    func mainQueue() async {
        struct Plugin: PluginType {
            let log: Log
            func didReceive(_ result: Result<Moya.Response, MoyaError>, target: TargetType) {
                log.append("didReceive \(DispatchQueue.isMain)")
            }
            func process(
                _ result: Result<Moya.Response, MoyaError>,
                target: TargetType
            ) -> Result<Moya.Response, MoyaError> {
                log.append("process \(DispatchQueue.isMain)")
                return result
            }
        }
        let log = Log()
        #expect(!DispatchQueue.isMain)
        let provider = MoyaProvider<Call>(plugins: [Plugin(log: log)])
        let isMain = await withCheckedContinuation { continuation in
            provider.request(Call(baseURL: server.baseURL)) { _ in continuation.resume(returning: DispatchQueue.isMain)
            }
        }
        #expect(isMain)
        #expect(log.lines == ["didReceive true", "process true"])
    }

    @Test("A call ends on its queue")
    func queue() async {
        let provider = MoyaProvider<Call>(callbackQueue: StubQueueTests.queue("provider"))
        let name = await withCheckedContinuation { continuation in
            provider.request(Call(baseURL: server.baseURL)) { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: StubQueueTests.key))
            }
        }
        #expect(name == "provider")
    }

    @Test("A cancelled call fails as cancelled, once")
    func cancel() async {
        let provider = MoyaProvider<Call>()
        let result: Result<Moya.Response, MoyaError> = await withCheckedContinuation { continuation in
            let call = provider.request(
                Call(baseURL: server.baseURL, path: "/hang"),
                callbackQueue: .global()
            ) { continuation.resume(returning: $0) }
            call.cancel()
            #expect(call.isCancelled)
        }
        #expect(result.afError?.isExplicitlyCancelledError == true)
    }

    @Test("A released provider finishes its calls")
    func released() async {
        let result: Result<Moya.Response, MoyaError> = await withCheckedContinuation { continuation in
            MoyaProvider<Call>().request(Call(baseURL: server.baseURL), callbackQueue: .global()) {
                continuation.resume(returning: $0)
            }
        }
        #expect(result.response?.statusCode == 200)
    }

    @Test("The response has the request as it was sent, and the head")
    func response() async throws {
        let call = Call(baseURL: server.baseURL, headers: ["A": "b"])
        let response = try #require(await MoyaProvider<Call>().result(of: call).response)
        #expect(response.request?.value(forHTTPHeaderField: "A") == "b")
        #expect(response.response?.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(response.response?.url == URL(target: call))
    }

    @Test("Redirects are followed, unless the session does not")
    func redirects() async throws {
        let call = Call(baseURL: server.baseURL, path: "/redirect")
        #expect(try echo(await MoyaProvider<Call>().result(of: call).response).path == "/echo")
        let provider = MoyaProvider<Call>(session: Session(redirectHandler: .doNotFollow))
        #expect(await provider.result(of: call).response?.statusCode == 302)
    }

    @Test("Cookies are stored in the session's storage and sent back")
    func cookies() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        let provider = MoyaProvider<Call>(session: Session(configuration: configuration))
        _ = await provider.result(of: Call(baseURL: server.baseURL, path: "/cookies"))
        let received = try echo(await provider.result(of: Call(baseURL: server.baseURL)).response)
        #expect(received.headers["cookie"] == "flavor=oat")
        #expect(configuration.httpCookieStorage?.cookies(for: server.baseURL)?.map(\.value) == ["oat"])
    }

    @Test("A GET with a body fails with Alamofire's error, and is not sent")
    func bodyInGet() async {
        let call = Call(baseURL: server.baseURL, task: .requestData(Data([1])))
        guard
            case .urlRequestValidationFailed(.bodyDataInGETRequest(let data))? =
                await MoyaProvider<Call>().result(of: call).afError
        else {
            Issue.record("another error")
            return
        }
        #expect(data == Data([1]))
        #expect(server.requests.isEmpty)
    }

    @Test("A Content-Length of the app is replaced by the right one")
    func contentLength() async throws {
        let call = Call(
            baseURL: server.baseURL,
            method: .post,
            task: .requestData(Data("four".utf8)),
            headers: ["Content-Length": "1"]
        )
        #expect(try echo(await MoyaProvider<Call>().result(of: call).response).body == "four")
    }

    @Test("A request closure can change the request")
    func requestClosure() async throws {
        let provider = MoyaProvider<Call>(requestClosure: { endpoint, done in
            do {
                var request = try endpoint.urlRequest()
                request.setValue("closure", forHTTPHeaderField: "X-Set-By")
                request.timeoutInterval = 30
                let finished = request
                done(.success(finished))
            } catch {
                done(.failure(.underlying(error, nil)))
            }
        })
        let received = try echo(await provider.result(of: Call(baseURL: server.baseURL)).response)
        #expect(received.headers["x-set-by"] == "closure")
    }

    @Test("An idle timeout of the session fails the call as timed out")
    func timeout() async {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 0.2
        let provider = MoyaProvider<Call>(session: Session(configuration: configuration))
        let result = await provider.result(of: Call(baseURL: server.baseURL, path: "/hang"))
        #expect((result.afError?.underlyingError as? URLError)?.code == .timedOut)
    }

    /// A provider whose requests have a timeout of their own.
    private func provider(_ seconds: TimeInterval, _ session: Session = Session()) -> MoyaProvider<Call> {
        MoyaProvider(
            requestClosure: { endpoint, done in
                done(
                    Result { try endpoint.urlRequest() }
                        .map { request in
                            var request = request
                            request.timeoutInterval = seconds
                            return request
                        }
                        .mapError { MoyaError.underlying($0, nil) }
                )
            },
            session: session
        )
    }

    @Test(
        "The timeout of a request is the time without a byte, not that of the whole exchange",
        arguments: [false, true]
    )
    func requestTimeout(isDownload: Bool) async throws {
        let folder = try TestFolder()
        let task =
            isDownload
            ? Task.downloadDestination { _, _ in (folder.url.appendingPathComponent("a"), []) } : .requestPlain
        let slow = Call(baseURL: server.baseURL, path: "/slow", task: task)
        #expect(await provider(4).result(of: slow).response?.statusCode == 200)
        let hanging = Call(baseURL: server.baseURL, path: "/hang", task: task)
        let result = await provider(0.3).result(of: hanging)
        #expect((result.afError?.underlyingError as? URLError)?.code == .timedOut)
    }

    @Test("Any number of different timeouts apply, and ones that are none leave the session's")
    func differentTimeouts() async {
        let session = Session()
        let seconds = Locking(0.2)
        let provider = MoyaProvider<Call>(
            requestClosure: { endpoint, done in
                var request = try? endpoint.urlRequest()
                request?.timeoutInterval = seconds.value
                done(request.map(Result.success) ?? .failure(.requestMapping("")))
            },
            session: session
        )
        for number in 0..<10 {
            seconds.update { $0 = 0.2 + Double(number) / 100 }
            let result = await provider.result(of: Call(baseURL: server.baseURL, path: "/hang"))
            #expect((result.afError?.underlyingError as? URLError)?.code == .timedOut)
        }
        for none in [0, -1, .infinity] as [TimeInterval] {
            seconds.update { $0 = none }
            #expect(await provider.result(of: Call(baseURL: server.baseURL)).response?.statusCode == 200)
        }
    }

    @Test("The resource timeout of a session limits each request, and not an interceptor's retries together")
    func resourceTimeout() async {
        struct Patient: RequestInterceptor {
            func retry(
                _ request: Request,
                for session: Session,
                dueTo error: any Error,
                completion: @escaping @Sendable (RetryResult) -> Void
            ) {
                completion(request.retryCount < 2 ? .retryWithDelay(3.5) : .doNotRetry)
            }
        }
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForResource = 6
        let provider = MoyaProvider<Call>(session: Session(configuration: configuration, interceptor: Patient()))
        let call = Call(baseURL: server.baseURL, path: "/unavailable/2", validationType: .successCodes)
        #expect(await provider.result(of: call).response?.statusCode == 200)
        let limited = MoyaProvider<Call>(session: Session(configuration: configuration))
        let result = await limited.result(of: Call(baseURL: server.baseURL, path: "/hang"))
        #expect((result.afError?.underlyingError as? URLError)?.code == .timedOut)
    }

    @Test("Calls that are cancelled at any time end once")
    func cancelRace() async throws {
        let provider = MoyaProvider<Call>()
        let log = Log()
        let url = server.baseURL
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let call = Call(baseURL: url)
                    let running = Locking<[any Moya.Cancellable]>([])
                    let token = provider.request(call, callbackQueue: .global()) { result in
                        log.append("\(index) \(result.response == nil ? "cancelled" : "response")")
                    }
                    running.update { $0.append(token) }
                    if index % 2 == 0 { await _Concurrency.Task.yield() }
                    running.value.first?.cancel()
                }
            }
        }
        let lines = await log.waitForCount(200)
        #expect(Set(lines.map { $0.prefix { $0 != " " } }).count == 200)
        #expect(log.lines.count == 200)
    }

    @Test("No textual form of an error has a secret")
    func secrets() async {
        let call = Call(
            baseURL: server.baseURL,
            path: "/status/401",
            headers: ["Authorization": "Bearer hunter2"],
            validationType: .successCodes
        )
        let error = await MoyaProvider<Call>().result(of: call).error
        var dumped = ""
        dump(error, to: &dumped)
        for text in [dumped, "\(String(describing: error))", String(reflecting: error)] {
            #expect(!text.contains("hunter2"))
        }
    }
}
