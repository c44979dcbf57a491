// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

// What apps write about Moya's types: it has to compile.

extension Moya.Task: Equatable {
    /// Exhaustive, without a default.
    public static func == (left: Task, right: Task) -> Bool {
        switch (left, right) {
        case (.requestPlain, .requestPlain): return true
        case (.requestData(let left), .requestData(let right)): return left == right
        case (.uploadFile(let left), .uploadFile(let right)): return left == right
        case (.requestJSONEncodable, _), (.requestCustomJSONEncodable, _), (.requestParameters, _),
            (.requestCompositeData, _), (.requestCompositeParameters, _), (.uploadMultipart, _),
            (.uploadCompositeMultipart, _), (.downloadDestination, _), (.downloadParameters, _), (.requestPlain, _),
            (.requestData, _), (.uploadFile, _):
            return false
        }
    }
}

extension MoyaError {
    var name: String {
        switch self {
        case .imageMapping: return "image"
        case .jsonMapping: return "json"
        case .stringMapping: return "string"
        case .objectMapping: return "object"
        case .encodableMapping: return "encodable"
        case .statusCode: return "status"
        case .underlying(let error, _): return error.asAFError?.localizedDescription ?? "other"
        case .requestMapping: return "request"
        case .parameterEncoding: return "parameters"
        }
    }
}

extension TargetType {
    var baseURL: URL { URL.of("https://example.com") }
    var method: Moya.Method { .get }
    var headers: [String: String]? { ["A": "b"] }
}

private struct Short: TargetType {
    let path = "/short"
    let task = Task.requestPlain
}

private final class StubbedProvider: MoyaProvider<GitHub>, @unchecked Sendable {
    let log = Log()

    override init(
        endpointClosure: @escaping EndpointClosure = MoyaProvider<GitHub>.defaultEndpointMapping,
        requestClosure: @escaping RequestClosure = MoyaProvider<GitHub>.defaultRequestMapping,
        stubClosure: @escaping StubClosure = MoyaProvider.immediatelyStub,
        callbackQueue: DispatchQueue? = nil,
        session: Session = MoyaProvider<GitHub>.defaultAlamofireSession(),
        plugins: [PluginType] = [],
        trackInflights: Bool = false
    ) {
        super.init(
            endpointClosure: endpointClosure,
            requestClosure: requestClosure,
            stubClosure: stubClosure,
            callbackQueue: callbackQueue,
            session: session,
            plugins: plugins,
            trackInflights: trackInflights
        )
    }

    override func endpoint(_ token: GitHub) -> Endpoint {
        super.endpoint(token).adding(newHTTPHeaderFields: ["X-Overridden": "yes"])
    }

    override func request(
        _ target: GitHub,
        callbackQueue: DispatchQueue? = .none,
        progress: ProgressBlock? = .none,
        completion: @escaping Completion
    ) -> Moya.Cancellable {
        log.append("request")
        return super.request(target, callbackQueue: callbackQueue, progress: progress, completion: completion)
    }

    override func stubRequest(
        _ target: GitHub,
        request: URLRequest,
        callbackQueue: DispatchQueue?,
        completion: @escaping Moya.Completion,
        endpoint: Endpoint,
        stubBehavior: Moya.StubBehavior
    ) -> CancellableToken {
        log.append("stub")
        let token = CancellableToken {}
        let prepared = notifyPluginsOfImpendingStub(for: request, target: target)
        createStubFunction(
            token,
            forTarget: target,
            withCompletion: completion,
            endpoint: endpoint,
            plugins: plugins,
            request: prepared
        )()
        return token
    }
}

private final class VersionedEndpoint: Endpoint {
    init(_ endpoint: Endpoint) {
        super.init(
            url: endpoint.url + "/v2",
            sampleResponseClosure: endpoint.sampleResponseClosure,
            method: endpoint.method,
            task: endpoint.task,
            httpHeaderFields: endpoint.httpHeaderFields
        )
    }

    override func adding(newHTTPHeaderFields: [String: String]) -> Endpoint { self }
}

private final class PatientSession: Session, @unchecked Sendable {
    static let shared: PatientSession = {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 20
        configuration.headers = HTTPHeaders.default
        return PatientSession(configuration: configuration, startRequestsImmediately: false)
    }()
}

/// Apps keep providers, sessions and configurations in global and static constants, which Swift 6 accepts only of
/// `Sendable` types.
private let sharedProvider = MoyaProvider<GitHub>(
    stubClosure: MoyaProvider.immediatelyStub,
    session: Networking.session
)

private enum Networking {
    static let session = Session(configuration: .default)
    static let logger = NetworkLoggerPlugin.Configuration(formatter: .init(requestData: { _ in "own" }))
}

extension MoyaProvider {
    func request(_ target: Target) async throws -> Response {
        try await withCheckedThrowingContinuation { continuation in
            self.request(target, callbackQueue: .global()) { continuation.resume(with: $0) }
        }
    }

    func value<Value: Decodable>(_ type: Value.Type, of target: Target) async throws -> Value {
        try await request(target).map(type)
    }
}

@Suite("What apps build on Moya", .throttled)
struct ShapeTests {
    @Test("Subclasses override requests, endpoints and stubs")
    func subclass() {
        let provider = StubbedProvider()
        var field: String?
        _ = provider.request(.zen) { field = $0.response?.request?.value(forHTTPHeaderField: "X-Overridden") }
        #expect(field == "yes")
        #expect(provider.log.lines == ["request", "stub"])
    }

    @Test("Providers and sessions can be global constants, and be used in any task")
    func global() async throws {
        let response = try await _Concurrency.Task.detached { try await sharedProvider.request(.zen) }.value
        #expect(response.data == GitHub.zen.sampleData)
        #expect(sharedProvider.session === Networking.session)
    }

    @Test("Each function of a logger's configuration can be replaced")
    func configuration() {
        let log = Log()
        var configuration = Networking.logger
        configuration.formatter.entry = { identifier, message, target in "\(identifier) \(target.path) \(message)" }
        configuration.formatter.responseData = { _ in "response" }
        configuration.output = { target, items in log.append("\(target.path) \(items.count)") }
        #expect(configuration.formatter.entry("a", "b", GitHub.zen) == "a /zen b")
        #expect(configuration.formatter.requestData(Data()) == "own")
        #expect(configuration.formatter.responseData(Data()) == "response")
        configuration.formatter.requestData = { _ in "request" }
        #expect(configuration.formatter.requestData(Data()) == "request")
        configuration.output(GitHub.zen, ["a", "b"])
        #expect(log.lines == ["/zen 2"])
    }

    @Test("Endpoints and sessions can be subclassed")
    func others() throws {
        let endpoint = VersionedEndpoint(MoyaProvider<GitHub>.defaultEndpointMapping(for: .zen))
        #expect(try endpoint.urlRequest().url?.absoluteString == "https://api.github.com/zen/v2")
        #expect(PatientSession.shared.sessionConfiguration.timeoutIntervalForRequest == 20)
        #expect(MoyaProvider<GitHub>(session: PatientSession.shared).session === PatientSession.shared)
    }

    @Test("Extensions of the target, the provider, the task and the error compile and work")
    func extensions() async throws {
        #expect(URL(target: Short()).absoluteString == "https://example.com/short")
        #expect(Task.requestPlain == .requestPlain)
        #expect(Task.requestData(Data()) != .requestPlain)
        #expect(MoyaError.requestMapping("").name == "request")
        let provider = MoyaProvider<GitHub>(stubClosure: MoyaProvider.immediatelyStub)
        #expect(try await provider.value(User.self, of: .userProfile("ann")) == User(login: "ann", id: 100))
    }

    @Test("Swift's task is still there under its full name")
    func swiftTask() async {
        #expect(await _Concurrency.Task { 7 }.value == 7)
    }

    @Test("A provider can be used through its protocol")
    func providerType() {
        func zen<P: MoyaProviderType>(_ provider: P) -> Data? where P.Target == GitHub {
            var data: Data?
            _ = provider.request(.zen, callbackQueue: nil, progress: nil) { data = $0.response?.data }
            return data
        }
        #expect(zen(MoyaProvider<GitHub>(stubClosure: MoyaProvider.immediatelyStub)) == GitHub.zen.sampleData)
    }
}
