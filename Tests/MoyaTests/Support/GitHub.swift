// SPDX-License-Identifier: MIT
import TargetKitMoya

/// The API of the examples. The file imports only the module under test, as apps import only Moya.
enum GitHub {
    case zen
    case userProfile(String)
}

extension GitHub: TargetType {
    var baseURL: URL { URL.of("https://api.github.com") }

    var path: String {
        switch self {
        case .zen: return "/zen"
        case .userProfile(let name): return "/users/\(name)"
        }
    }

    var method: Moya.Method { .get }

    var task: Task { .requestPlain }

    var sampleData: Data {
        switch self {
        case .zen: return Data("Half measures are as bad as nothing at all.".utf8)
        case .userProfile(let name): return Data("{\"login\": \"\(name)\", \"id\": 100}".utf8)
        }
    }

    var headers: [String: String]? { nil }

    var validationType: ValidationType { .successAndRedirectCodes }
}

/// A call whose every property the test sets.
struct Call: TargetType, AccessTokenAuthorizable {
    var baseURL = URL.of("https://example.com")
    var path = "/endpoint"
    var method = Moya.Method.get
    var task = Task.requestPlain
    var headers: [String: String]?
    var validationType = ValidationType.none
    var sampleData = Data("sample".utf8)
    var authorizationType: AuthorizationType?
}

/// A user as GitHub describes one.
struct User: Codable, Equatable {
    var login: String
    var id: Int
}

extension MoyaProvider {
    /// Makes a call and waits for its result.
    func result(of target: Target, on queue: DispatchQueue? = .global()) async -> Result<Response, MoyaError> {
        await withCheckedContinuation { continuation in
            request(target, callbackQueue: queue) { continuation.resume(returning: $0) }
        }
    }
}

extension Result where Success == Response, Failure == MoyaError {
    var response: Response? { try? get() }

    var error: MoyaError? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// The error below Moya's.
    var afError: AFError? {
        if case .underlying(let error, _) = error { error.asAFError } else { nil }
    }
}

extension MoyaError {
    /// Whether the call was cancelled before its request was sent.
    var isURLCancellation: Bool {
        if case .underlying(let cause, nil) = self { (cause as NSError).code == NSURLErrorCancelled } else { false }
    }
}

/// A plugin that records its hooks.
final class RecordingPlugin: PluginType, Sendable {
    let name: String
    let log: Log

    init(_ name: String = "", log: Log = Log()) {
        self.name = name
        self.log = log
    }

    func prepare(_ request: URLRequest, target: TargetType) -> URLRequest {
        log.append("prepare\(name)")
        var request = request
        request.addValue("yes", forHTTPHeaderField: "X-Prepared\(name)")
        return request
    }

    func willSend(_ request: RequestType, target: TargetType) { log.append("willSend\(name)") }

    func didReceive(_ result: Result<Moya.Response, MoyaError>, target: TargetType) {
        log.append("didReceive\(name)\(result.response == nil ? " error" : "")")
    }

    func process(_ result: Result<Moya.Response, MoyaError>, target: TargetType) -> Result<Moya.Response, MoyaError> {
        log.append("process\(name)")
        return result
    }
}

extension URL {
    /// The URL of a text; a file URL if it is not one, which no test expects.
    static func of(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/") }
}

extension DispatchQueue {
    private static let mainKey: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the caller runs on the main queue. On Linux, any thread can run it.
    static var isMain: Bool { getSpecific(key: mainKey) ?? false }
}
