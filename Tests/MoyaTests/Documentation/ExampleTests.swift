// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

// The examples of Moya's documentation with an API of our own: only the import is another.

enum TeaHouse {
    case today
    case member(name: String)
    case orders(of: String, page: Int)
    case place(tea: String, cups: Int)
    case review(text: String, photo: Data)
    case menu(to: URL)
}

extension TeaHouse: TargetType {
    static let base = Locking(URL.of("https://tea.example.com"))

    var baseURL: URL { Self.base.value }

    var path: String {
        switch self {
        case .today:
            return "/anything/today"
        case .member(let name):
            return "/anything/members/\(name)"
        case .orders(let name, _):
            return "/anything/members/\(name)/orders"
        case .place:
            return "/anything/orders"
        case .review:
            return "/anything/reviews"
        case .menu:
            return "/bytes/1024"
        }
    }

    var method: Moya.Method {
        switch self {
        case .today, .member, .orders, .menu:
            return .get
        case .place, .review:
            return .post
        }
    }

    var task: Task {
        switch self {
        case .today, .member:
            return .requestPlain
        case .orders(_, let page):
            return .requestParameters(parameters: ["page": page, "sort": "date"], encoding: URLEncoding.queryString)
        case .place(let tea, let cups):
            return .requestParameters(parameters: ["tea": tea, "cups": cups], encoding: JSONEncoding.default)
        case .review(let text, let photo):
            let parts = [
                MultipartFormData(provider: .data(Data(text.utf8)), name: "text"),
                MultipartFormData(provider: .data(photo), name: "photo", fileName: "tea.png", mimeType: "image/png"),
            ]
            return .uploadMultipart(parts)
        case .menu(let file):
            return .downloadDestination { _, _ in (file, [.removePreviousFile, .createIntermediateDirectories]) }
        }
    }

    var sampleData: Data {
        switch self {
        case .today:
            return Data("Sencha".utf8)
        case .member(let name):
            return Data(#"{"login": "\#(name)", "id": 100}"#.utf8)
        default:
            return Data()
        }
    }

    var headers: [String: String]? { ["Accept": "application/json"] }

    var validationType: ValidationType { .successCodes }
}

extension TeaHouse: AccessTokenAuthorizable {
    var authorizationType: AuthorizationType? {
        switch self {
        case .today: return nil
        case .member, .orders: return .bearer
        case .place: return .basic
        case .review, .menu: return .custom("Tea")
        }
    }
}

private struct TokenPlugin: PluginType {
    let token: () -> String?

    func prepare(_ request: URLRequest, target: TargetType) -> URLRequest {
        guard let token = token() else { return request }
        var request = request
        request.addValue("Bearer " + token, forHTTPHeaderField: "Authorization")
        return request
    }
}

private protocol CachePolicyGettable {
    var cachePolicy: URLRequest.CachePolicy { get }
}

extension TeaHouse: CachePolicyGettable {
    var cachePolicy: URLRequest.CachePolicy { .reloadIgnoringLocalCacheData }
}

private final class CachePolicyPlugin: PluginType {
    func prepare(_ request: URLRequest, target: TargetType) -> URLRequest {
        guard let target = target as? CachePolicyGettable else { return request }
        var request = request
        request.cachePolicy = target.cachePolicy
        return request
    }
}

/// An adapter around a provider, with the app's own errors.
private struct TeaHouseAdapter {
    static let provider = MoyaProvider<TeaHouse>(stubClosure: MoyaProvider.immediatelyStub)

    static func request(
        target: TeaHouse,
        success: @escaping (Response) -> Void,
        error: @escaping (Swift.Error) -> Void,
        failure: @escaping (MoyaError) -> Void
    ) {
        provider.request(target) { result in
            switch result {
            case .success(let response):
                if response.statusCode >= 200 && response.statusCode <= 300 {
                    success(response)
                } else {
                    error(NSError(domain: "tea", code: 0, userInfo: [NSLocalizedDescriptionKey: "Cold"]))
                }
            case .failure(let moyaError):
                failure(moyaError)
            }
        }
    }
}

@Suite("Moya's documentation, with stubs", .throttled)
struct ExampleTests {
    static func answer(_ provider: MoyaProvider<TeaHouse>, _ target: TeaHouse) -> Result<Response, MoyaError>? {
        var answer: Result<Response, MoyaError>?
        provider.request(target) { result in
            switch result {
            case let .success(response): answer = .success(response)
            case let .failure(error): answer = .failure(error)
            }
        }
        return answer
    }

    @Test("Targets: sample data")
    func targets() throws {
        let provider = MoyaProvider<TeaHouse>(stubClosure: MoyaProvider.immediatelyStub)
        #expect(try Self.answer(provider, .today)?.get().mapString() == "Sencha")
        #expect(try Self.answer(provider, .member(name: "ann"))?.get().map(User.self).id == 100)
    }

    @Test("Endpoints: header fields for each target, and requests that are changed")
    func endpoints() {
        let endpointClosure = { (target: TeaHouse) -> Endpoint in
            let defaultEndpoint = MoyaProvider.defaultEndpointMapping(for: target)
            switch target {
            case .today:
                return defaultEndpoint
            default:
                return defaultEndpoint.adding(newHTTPHeaderFields: ["APP_NAME": "TeaHouse"])
            }
        }
        let requestClosure = { (endpoint: Endpoint, done: MoyaProvider.RequestResultClosure) in
            do {
                var request: URLRequest = try endpoint.urlRequest()
                request.httpShouldHandleCookies = false
                done(.success(request))
            } catch {
                done(.failure(MoyaError.underlying(error, nil)))
            }
        }
        let provider = MoyaProvider<TeaHouse>(
            endpointClosure: endpointClosure,
            requestClosure: requestClosure,
            stubClosure: MoyaProvider.immediatelyStub
        )
        let request = Self.answer(provider, .member(name: "ann"))?.response?.request
        #expect(request?.value(forHTTPHeaderField: "APP_NAME") == "TeaHouse")
        #expect(request?.httpShouldHandleCookies == false)
        #expect(Self.answer(provider, .today)?.response?.request?.value(forHTTPHeaderField: "APP_NAME") == nil)
    }

    @Test("Testing: a stub for each target, and an error of the server")
    func testing() {
        let provider = MoyaProvider<TeaHouse>(
            endpointClosure: { (target: TeaHouse) -> Endpoint in
                Endpoint(
                    url: URL(target: target).absoluteString,
                    sampleResponseClosure: { .networkResponse(401, Data(#"{"error":"token"}"#.utf8)) },
                    method: target.method,
                    task: target.task,
                    httpHeaderFields: target.headers
                )
            },
            stubClosure: { (target: TeaHouse) -> Moya.StubBehavior in
                switch target {
                case .today: return .immediate
                default: return .delayed(seconds: 60)
                }
            }
        )
        #expect(Self.answer(provider, .today)?.error?.response?.statusCode == 401)
        #expect(Self.answer(provider, .member(name: "ann")) == nil)
    }

    @Test("Plugins: a token, a cache policy")
    func plugins() {
        let provider = MoyaProvider<TeaHouse>(
            stubClosure: MoyaProvider.immediatelyStub,
            plugins: [TokenPlugin(token: { "eyeAm.AJsoN" }), CachePolicyPlugin()]
        )
        let request = Self.answer(provider, .today)?.response?.request
        #expect(request?.value(forHTTPHeaderField: "Authorization") == "Bearer eyeAm.AJsoN")
        #expect(request?.cachePolicy == .reloadIgnoringLocalCacheData)
    }

    @Test(
        "Authentication: a scheme for each target",
        arguments: [
            (TeaHouse.today, nil as String?), (.member(name: "ann"), "Bearer foo"),
            (.place(tea: "", cups: 0), "Basic foo"),
            (.review(text: "", photo: Data([1])), "Tea foo"),
        ]
    )
    func authentication(target: TeaHouse, expected: String?) {
        let plugin = AccessTokenPlugin { target in target is TeaHouse ? "foo" : "bar" }
        let provider = MoyaProvider<MultiTarget>(stubClosure: MoyaProvider.immediatelyStub, plugins: [plugin])
        var field: String?
        provider.request(MultiTarget(target)) { result in
            field = result.response?.request?.value(forHTTPHeaderField: "Authorization")
        }
        #expect(field == expected)
    }

    @Test("Multi-target: one provider for several APIs")
    func multiTarget() {
        let provider = MoyaProvider<MultiTarget>(stubClosure: MoyaProvider.immediatelyStub)
        var texts: [String] = []
        for target in [MultiTarget(TeaHouse.today), MultiTarget(GitHub.zen), .target(TeaHouse.today)] {
            provider.request(target) { result in
                if let text = try? result.get().mapString() { texts.append(text) }
            }
        }
        #expect(texts == ["Sencha", "Half measures are as bad as nothing at all.", "Sencha"])
    }

    @Test("Errors: each case has its handler")
    func errors() {
        let provider = MoyaProvider<TeaHouse>(stubClosure: MoyaProvider.immediatelyStub)
        var name = ""
        provider.request(.today) { result in
            do {
                let response = try result.get().filterSuccessfulStatusCodes()
                _ = try response.mapJSON()
            } catch MoyaError.statusCode(let response) {
                name = "status \(response.statusCode)"
            } catch MoyaError.jsonMapping(let response) {
                name = "json \(response.data.count)"
            } catch {
                name = "other"
            }
        }
        #expect(name == "json 6")
    }

    @Test("An adapter around a provider")
    func adapter() {
        var text = ""
        TeaHouseAdapter.request(
            target: .today,
            success: { text = (try? $0.mapString()) ?? "" },
            error: { text = $0.localizedDescription },
            failure: { text = $0.localizedDescription }
        )
        #expect(text == "Sencha")
    }

    @Test("Optional parameters are left out")
    func optionalParameters() throws {
        var parameters: [String: Any] = ["q": "tea"]
        let page: Int? = nil
        parameters["page"] = page
        let call = Call(task: .requestParameters(parameters: parameters, encoding: URLEncoding.default))
        let request = try MoyaProvider<Call>.defaultEndpointMapping(for: call).urlRequest()
        #expect(request.url?.query == "q=tea")
    }
}

@Suite(
    "Moya's documentation, with httpbin",
    .throttled,
    .enabled(if: Httpbin.isRunning, Comment(rawValue: Httpbin.skipReason)),
    .timeLimit(.minutes(2))
)
struct HttpbinExampleTests {
    /// What httpbin says about a request.
    struct Echo: Decodable {
        var method: String
        var url: String
        var headers: [String: String]
        var args: [String: String]
        var form: [String: String]
        var files: [String: String]
        var data: String
    }

    private let provider = MoyaProvider<Call>(plugins: [AccessTokenPlugin { _ in "foo" }])

    private func call(_ target: TeaHouse) -> Call {
        Call(
            baseURL: Httpbin.baseURL,
            path: target.path,
            method: target.method,
            task: target.task,
            headers: target.headers,
            validationType: target.validationType,
            authorizationType: target.authorizationType
        )
    }

    private func echo(_ target: TeaHouse) async throws -> Echo {
        try await provider.result(of: call(target)).get().map(Echo.self)
    }

    @Test("Queries, JSON, tokens and forms arrive")
    func requests() async throws {
        let orders = try await echo(.orders(of: "ann", page: 2))
        #expect(orders.method == "GET")
        #expect(orders.args == ["page": "2", "sort": "date"])
        #expect(orders.headers["Authorization"] == "Bearer foo")
        #expect(orders.headers["Accept"] == "application/json")
        let place = try await echo(.place(tea: "Sencha", cups: 2))
        #expect(
            try JSONDecoder().decode([String: JSON].self, from: Data(place.data.utf8)).keys.sorted() == ["cups", "tea"]
        )
        let review = try await echo(.review(text: "Good", photo: Data("png".utf8)))
        #expect(review.form == ["text": "Good"])
        #expect(review.files == ["photo": "png"])
        #expect(review.headers["Authorization"] == "Tea foo")
    }

    /// Any JSON value.
    struct JSON: Decodable {
        init(from decoder: any Decoder) throws {}
    }

    @Test("A download is stored")
    func download() async throws {
        let folder = try TestFolder()
        let result = await provider.result(of: call(.menu(to: folder.url.appendingPathComponent("a/menu.bin"))))
        #expect(result.response?.statusCode == 200)
        #expect(try Data(contentsOf: folder.url.appendingPathComponent("a/menu.bin")).count == 1024)
    }

    @Test("Basic and digest challenges are answered", arguments: ["basic-auth", "digest-auth/auth"])
    func credentials(scheme: String) async {
        let provider = MoyaProvider<Call>(
            plugins: [CredentialsPlugin { _ in URLCredential(user: "user", password: "passwd", persistence: .none) }]
        )
        let call = Call(baseURL: Httpbin.baseURL, path: "/\(scheme)/user/passwd", validationType: .successCodes)
        #expect(await provider.result(of: call).response?.statusCode == 200)
        let without = await MoyaProvider<Call>().result(of: call)
        #expect(without.afError?.responseCode == 401)
    }

    @Test("Awaited calls and streams work on the same targets")
    func targetKit() async throws {
        let response = try await provider.targetKit.request(LegacyTarget(call(.today)))
        #expect(response.statusCode == 200)
    }
}
