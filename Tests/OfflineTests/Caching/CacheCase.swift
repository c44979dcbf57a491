// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Two requests for one URL, the response to the first, and how the second one is answered.
///
/// `{60}` in the value of a field stands for the date 60 seconds after the first response.
struct CacheCase: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Equatable {
        /// From the cache, without a request, with this value of `Age`.
        case cached(age: Int)
        /// From the cache, stale, without a request.
        case stale
        /// By the server's response to a request without conditions of the cache.
        case loaded
        /// By the server's response to a conditional request.
        case replaced
        /// From the cache, after a 304.
        case validated
        /// By the status 504, without a request.
        case gatewayTimeout
        /// From the cache, with the status 304, without a request.
        case notModified
        /// By the error of the transport.
        case failed
    }

    /// The section of the RFC that decides.
    let section: String
    let title: String
    var status = 200
    var first: HTTPHeaders
    /// The seconds that the first response takes.
    var delay: Double = 0
    var firstFields: HTTPHeaders = [:]
    /// The seconds between the responses.
    var after: Double
    var fields: HTTPHeaders = [:]
    var method = HTTPMethod.get
    /// The second response; its status 0 stands for a lost connection.
    var second = 200
    var secondFields: HTTPHeaders = [:]
    var usesHeuristics = false
    let outcome: Outcome

    init(
        _ section: String,
        _ title: String,
        _ first: HTTPHeaders,
        after: Double = 0,
        _ outcome: Outcome,
        _ change: (inout CacheCase) -> Void = { _ in }
    ) {
        (self.section, self.title, self.first, self.after, self.outcome) = (section, title, first, after, outcome)
        change(&self)
    }

    var testDescription: String { "§\(section): \(title)" }
}

/// A server, a cache and a clock for both.
final class CacheWorld: Sendable {
    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    let requests = Recorder<URLRequest>()
    let cache: ResponseCache
    let transport: StubTransport
    let provider: Provider<CachedTarget>
    private let time: Locked<Date>
    private let answer: Locked<@Sendable (URLRequest) async throws -> SampleResponse>

    init(
        storedIn folder: URL? = nil,
        usesHeuristics: Bool = false,
        memoryLimit: Int = 16 << 20,
        diskLimit: Int = 128 << 20,
        plugins: [any Plugin] = [],
        user: Locked<String>? = nil,
        cookies: CookieStore? = nil,
        scope: RequestScope = RequestScope(),
        _ answer: @escaping @Sendable (URLRequest) async throws -> SampleResponse = { _ in .cacheable() }
    ) {
        let time = Locked(Self.start)
        let answers = Locked(answer)
        self.time = time
        self.answer = answers
        cache = ResponseCache(
            storedIn: folder,
            memoryLimit: memoryLimit,
            diskLimit: diskLimit,
            usesHeuristics: usesHeuristics,
            now: { time.withLock { $0 } }
        )
        var identify: (@Sendable (RequestContext) -> String?)?
        if let user { identify = { _ in user.withLock { $0 } } }
        transport = StubTransport { [requests] request in
            requests.append(request.urlRequest)
            return try await answers.withLock { $0 }(request.urlRequest)
        }
        provider = Provider(
            transport: transport,
            plugins: [ResponseCachePlugin(cache, user: identify)] + plugins
                + [cookies.map(CookiePlugin.init)].compactMap(\.self),
            scope: scope
        )
    }

    func pass(_ seconds: Double) { time.withLock { $0 += seconds } }

    func answer(_ answer: @escaping @Sendable (URLRequest) async throws -> SampleResponse) {
        self.answer.withLock { $0 = answer }
    }

    /// A header field's value with its dates.
    static func text(_ value: String) -> String {
        guard let start = value.firstIndex(of: "{"), let end = value.firstIndex(of: "}"),
            let offset = Double(value[value.index(after: start)..<end])
        else { return value }
        return value[..<start] + HTTPDateText.of(Self.start + offset) + value[value.index(after: end)...]
    }

    static func fields(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.map { HTTPHeaders.Field(name: $0.name, value: text($0.value)) })
    }
}

/// A date as a header field has it (RFC 9110 §5.6.7).
enum HTTPDateText {
    static func of(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}

struct CachedTarget: TargetType {
    var baseURL = URL.shop
    var path: RequestPath = "/list"
    var method = HTTPMethod.get
    var task = HTTPTask.plain
    var headers: HTTPHeaders = [:]
    var validation = StatusValidation.none
    var options = CallOptions()

    init(_ method: HTTPMethod = .get, _ path: RequestPath = "/list", _ headers: HTTPHeaders = [:]) {
        (self.method, self.path, self.headers) = (method, path, headers)
    }

    func with(_ policy: CachePolicy) -> CachedTarget {
        var target = self
        target.options = target.options.setting(\.cachePolicy, policy)
        return target
    }

    func validated() -> CachedTarget {
        var target = self
        target.validation = .successCodes
        return target
    }
}

extension SampleResponse {
    /// A response that is fresh for a minute.
    static func cacheable(_ body: String = "first", _ headers: HTTPHeaders = [:]) -> SampleResponse {
        let fields: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
        return .response(status: 200, headers: fields.merging(headers), data: Data(body.utf8))
    }
}

extension Response {
    var body: String { String(decoding: data, as: UTF8.self) }
}

extension CacheCase {
    /// Makes both requests, and returns what became of the second one.
    func run() async throws -> Outcome {
        let world = CacheWorld(usesHeuristics: usesHeuristics)
        world.answer { [self] _ in
            world.pass(delay)
            var headers = first
            if !headers.contains("Date") { headers["Date"] = "{0}" }
            if headers["Date"] == "" { headers["Date"] = nil }
            return .response(status: status, headers: CacheWorld.fields(headers), data: Data("first".utf8))
        }
        _ = try await world.provider.request(CachedTarget(.get, "/list", firstFields))
        world.pass(after)
        world.answer { [self] _ in
            if second == 0 { throw URLError(.networkConnectionLost) }
            let body = Data((second == 304 ? "" : "second").utf8)
            return .response(status: second, headers: CacheWorld.fields(secondFields), data: body)
        }
        let result = await world.provider.result(CachedTarget(method, "/list", CacheWorld.fields(fields)))
        guard case .success(let response) = result else { return .failed }
        return outcome(of: response, world.requests.elements)
    }

    private func outcome(of response: Response, _ requests: [URLRequest]) -> Outcome {
        let isConditional =
            requests.last?.value(forHTTPHeaderField: "If-None-Match") != fields["If-None-Match"]
            || requests.last?.value(forHTTPHeaderField: "If-Modified-Since")
                != fields["If-Modified-Since"].map(CacheWorld.text)
        switch response.origin {
        case .network:
            if requests.count == 1 { return .gatewayTimeout }
            return isConditional ? .replaced : .loaded
        case .revalidated: return .validated
        case .cache:
            if response.statusCode == 304 { return .notModified }
            return .cached(age: response.headers["Age"].flatMap { Int($0) } ?? -1)
        case .stale: return .stale
        }
    }
}
