// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Endpoints", .throttled)
struct EndpointTests {
    static func endpoint(
        _ task: Task = .requestPlain,
        url: String = "https://example.com/a",
        method: Moya.Method = .post,
        headers: [String: String]? = ["Title": "Nominated"]
    ) -> Endpoint {
        Endpoint(
            url: url,
            sampleResponseClosure: { .networkResponse(200, Data()) },
            method: method,
            task: task,
            httpHeaderFields: headers
        )
    }

    @Test("Added header fields replace those of the same name, and leave the endpoint unchanged")
    func adding() {
        let endpoint = Self.endpoint()
        #expect(
            endpoint.adding(newHTTPHeaderFields: ["A": "1", "Title": "New"]).httpHeaderFields == [
                "A": "1", "Title": "New",
            ]
        )
        #expect(endpoint.adding(newHTTPHeaderFields: [:]).httpHeaderFields == ["Title": "Nominated"])
        #expect(endpoint.httpHeaderFields == ["Title": "Nominated"])
        #expect(Self.endpoint(headers: nil).adding(newHTTPHeaderFields: ["A": "1"]).httpHeaderFields == ["A": "1"])
    }

    @Test("A replaced task leaves the other properties unchanged")
    func replacing() throws {
        let endpoint = Self.endpoint().replacing(task: .requestData(Data([7])))
        #expect(endpoint.url == "https://example.com/a")
        #expect(endpoint.method == .post)
        #expect(try endpoint.urlRequest().httpBody == Data([7]))
    }

    /// A task, the query, the body and the content type of its request.
    struct Encoded: CustomTestStringConvertible {
        let name: String
        let task: @Sendable () -> Task
        var query: String?
        var body: String?
        var contentType: String?

        var testDescription: String { name }
    }

    static let json = "application/json"
    static let form = "application/x-www-form-urlencoded; charset=utf-8"
    static var part: MultipartFormData { MultipartFormData(provider: .data(Data([1])), name: "n") }

    static let encoded: [Encoded] = [
        Encoded(name: "requestPlain", task: { .requestPlain }),
        Encoded(name: "uploadFile", task: { .uploadFile(URL(fileURLWithPath: "/f")) }),
        Encoded(name: "uploadMultipart", task: { .uploadMultipart([part]) }),
        Encoded(name: "downloadDestination", task: { .downloadDestination { url, _ in (url, []) } }),
        Encoded(name: "requestData", task: { .requestData(Data("raw".utf8)) }, body: "raw"),
        Encoded(
            name: "requestJSONEncodable",
            task: { .requestJSONEncodable(["a": 1]) },
            body: #"{"a":1}"#,
            contentType: json
        ),
        Encoded(
            name: "requestCustomJSONEncodable",
            task: {
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .convertToSnakeCase
                struct Page: Encodable { var pageSize = 2 }
                return .requestCustomJSONEncodable(Page(), encoder: encoder)
            },
            body: #"{"page_size":2}"#,
            contentType: json
        ),
        Encoded(
            name: "requestParameters in the body",
            task: { .requestParameters(parameters: ["b": 2, "a": "x y"], encoding: URLEncoding.default) },
            body: "a=x%20y&b=2",
            contentType: form
        ),
        Encoded(
            name: "requestParameters in the query",
            task: { .requestParameters(parameters: ["b": 2, "a": "1"], encoding: URLEncoding.queryString) },
            query: "a=1&b=2"
        ),
        Encoded(
            name: "requestParameters as JSON",
            task: { .requestParameters(parameters: ["a": [1, 2]], encoding: JSONEncoding.default) },
            body: #"{"a":[1,2]}"#,
            contentType: json
        ),
        Encoded(
            name: "requestCompositeData",
            task: { .requestCompositeData(bodyData: Data("raw".utf8), urlParameters: ["a": true]) },
            query: "a=1",
            body: "raw"
        ),
        Encoded(
            name: "requestCompositeParameters",
            task: {
                .requestCompositeParameters(
                    bodyParameters: ["b": 1],
                    bodyEncoding: URLEncoding.httpBody,
                    urlParameters: ["q": 2]
                )
            },
            query: "q=2",
            body: "b=1",
            contentType: form
        ),
        Encoded(
            name: "uploadCompositeMultipart",
            task: { .uploadCompositeMultipart([part], urlParameters: ["q": 2]) },
            query: "q=2"
        ),
        Encoded(
            name: "downloadParameters",
            task: {
                .downloadParameters(parameters: ["q": 2], encoding: URLEncoding.queryString) { url, _ in (url, []) }
            },
            query: "q=2"
        ),
    ]

    @Test("Each task is encoded into its request", arguments: encoded)
    func request(encoded: Encoded) throws {
        let request = try Self.endpoint(encoded.task()).urlRequest()
        #expect(request.url?.path == "/a")
        #expect(request.url?.query == encoded.query)
        #expect(request.httpBody.map { String(decoding: $0, as: UTF8.self) } == encoded.body)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == encoded.contentType)
        #expect(request.value(forHTTPHeaderField: "Title") == "Nominated")
        #expect(request.httpMethod == "POST")
    }

    @Test("A content type of the target is kept")
    func contentType() throws {
        let endpoint = Self.endpoint(.requestJSONEncodable([1]), headers: ["Content-Type": "application/vnd.api+json"])
        #expect(try endpoint.urlRequest().value(forHTTPHeaderField: "Content-Type") == "application/vnd.api+json")
    }

    @Test("A URL that is not valid is an error of the mapping", arguments: ["some invalid URL", "", "https://a b"])
    func invalidURL(url: String) {
        #expect {
            try Self.endpoint(url: url).urlRequest()
        } throws: { error in
            if case MoyaError.requestMapping(url) = error { true } else { false }
        }
    }

    struct Unencodable: Encodable {
        func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
    }

    struct FailingEncoding: ParameterEncoding {
        func encode(_ urlRequest: URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
            throw CocoaError(.coderInvalidValue)
        }
    }

    @Test("Parameters and values that cannot be encoded are errors")
    func unencodable() {
        #expect {
            try Self.endpoint(.requestParameters(parameters: [:], encoding: FailingEncoding())).urlRequest()
        } throws: { error in
            if case MoyaError.parameterEncoding(let cause) = error { cause is CocoaError } else { false }
        }
        #expect {
            try Self.endpoint(.requestParameters(parameters: ["a": Date()], encoding: JSONEncoding.default))
                .urlRequest()
        } throws: { error in
            if case MoyaError.parameterEncoding(let cause) = error {
                cause.asAFError?.isParameterEncodingError ?? false
            } else {
                false
            }
        }
        #expect {
            try Self.endpoint(.requestJSONEncodable(Unencodable())).urlRequest()
        } throws: { error in
            if case MoyaError.encodableMapping = error { true } else { false }
        }
        #expect {
            try Self.endpoint(.requestCustomJSONEncodable(Unencodable(), encoder: JSONEncoder())).urlRequest()
        } throws: { error in
            if case MoyaError.encodableMapping = error { true } else { false }
        }
    }

    @Test(
        "A composite task whose body encoding writes into the query is an error",
        arguments: [(URLEncoding.queryString, true), (URLEncoding.default, true), (URLEncoding.httpBody, false)]
    )
    func bodyEncoding(encoding: URLEncoding, isError: Bool) {
        let task = Task.requestCompositeParameters(bodyParameters: [:], bodyEncoding: encoding, urlParameters: [:])
        #expect(((try? Self.endpoint(task).urlRequest()) == nil) == isError)
    }
}

@Suite("Equal endpoints", .throttled)
struct EndpointEqualityTests {
    /// Two tasks, and whether their endpoints are equal.
    struct Pair: CustomTestStringConvertible {
        let name: String
        let isEqual: Bool
        let left: @Sendable () -> Task
        let right: @Sendable () -> Task

        var testDescription: String { "\(name): \(isEqual)" }
    }

    static func part(_ byte: UInt8) -> MultipartFormData {
        MultipartFormData(provider: .data(Data([byte])), name: "n")
    }

    static func same(_ name: String, _ task: @escaping @Sendable () -> Task) -> Pair {
        Pair(name: name, isEqual: true, left: task, right: task)
    }

    static func other(
        _ name: String,
        _ left: @escaping @Sendable () -> Task,
        _ right: @escaping @Sendable () -> Task
    ) -> Pair {
        Pair(name: name, isEqual: false, left: left, right: right)
    }

    static func composite(_ body: Int, _ query: Int) -> Task {
        .requestCompositeParameters(
            bodyParameters: ["b": body],
            bodyEncoding: JSONEncoding.default,
            urlParameters: ["q": query]
        )
    }

    static func download(_ value: Int, to path: String) -> Task {
        .downloadParameters(parameters: ["q": value], encoding: URLEncoding.queryString) { _, _ in
            (URL(fileURLWithPath: path), [])
        }
    }

    static func destination(_ path: String) -> Task {
        .downloadDestination { _, _ in (URL(fileURLWithPath: path), []) }
    }

    static let pairs: [Pair] = [
        same("requestPlain") { .requestPlain },
        same("uploadMultipart") { .uploadMultipart([part(1)]) },
        other("uploadMultipart", { .uploadMultipart([part(1)]) }, { .uploadMultipart([part(2)]) }),
        same("uploadCompositeMultipart") { .uploadCompositeMultipart([part(1)], urlParameters: ["q": 1]) },
        other(
            "uploadCompositeMultipart with other parts",
            { .uploadCompositeMultipart([part(1)], urlParameters: ["q": 1]) },
            { .uploadCompositeMultipart([part(2)], urlParameters: ["q": 1]) }
        ),
        other(
            "uploadCompositeMultipart with other parameters",
            { .uploadCompositeMultipart([part(1)], urlParameters: ["q": 1]) },
            { .uploadCompositeMultipart([part(1)], urlParameters: ["q": 2]) }
        ),
        same("uploadFile") { .uploadFile(URL(fileURLWithPath: "/a")) },
        other("uploadFile", { .uploadFile(URL(fileURLWithPath: "/a")) }, { .uploadFile(URL(fileURLWithPath: "/b")) }),
        same("downloadDestination") { destination("/a") },
        Pair(
            name: "downloadDestination with another destination",
            isEqual: true,
            left: { destination("/a") },
            right: { destination("/b") }
        ),
        same("downloadParameters") { download(1, to: "/a") },
        other("downloadParameters", { download(1, to: "/a") }, { download(2, to: "/a") }),
        same("requestCompositeData") { .requestCompositeData(bodyData: Data([1]), urlParameters: ["q": 1]) },
        other(
            "requestCompositeData with another body",
            { .requestCompositeData(bodyData: Data([1]), urlParameters: ["q": 1]) },
            { .requestCompositeData(bodyData: Data([2]), urlParameters: ["q": 1]) }
        ),
        other(
            "requestCompositeData with other parameters",
            { .requestCompositeData(bodyData: Data([1]), urlParameters: ["q": 1]) },
            { .requestCompositeData(bodyData: Data([1]), urlParameters: ["q": 2]) }
        ),
        same("requestData") { .requestData(Data([1])) },
        other("requestData", { .requestData(Data([1])) }, { .requestData(Data([2])) }),
        same("requestJSONEncodable") { .requestJSONEncodable(["a": 1]) },
        other("requestJSONEncodable", { .requestJSONEncodable(["a": 1]) }, { .requestJSONEncodable(["a": 2]) }),
        same("requestParameters") { .requestParameters(parameters: ["a": 1], encoding: URLEncoding.default) },
        other(
            "requestParameters",
            { .requestParameters(parameters: ["a": 1], encoding: URLEncoding.default) },
            { .requestParameters(parameters: ["a": 2], encoding: URLEncoding.default) }
        ),
        same("requestCompositeParameters") { composite(1, 1) },
        other("requestCompositeParameters with another body", { composite(1, 1) }, { composite(2, 1) }),
        other("requestCompositeParameters with another query", { composite(1, 1) }, { composite(1, 2) }),
        same("requestCustomJSONEncodable") { .requestCustomJSONEncodable(["a": 1], encoder: JSONEncoder()) },
        other(
            "requestCustomJSONEncodable",
            { .requestCustomJSONEncodable(["a": 1], encoder: JSONEncoder()) },
            { .requestCustomJSONEncodable(["a": 2], encoder: JSONEncoder()) }
        ),
        other(
            "requestCustomJSONEncodable with another encoder",
            { .requestCustomJSONEncodable(["a": Date(timeIntervalSince1970: 0)], encoder: JSONEncoder()) },
            {
                let encoder = JSONEncoder()
                encoder.dateEncodingStrategy = .iso8601
                return .requestCustomJSONEncodable(["a": Date(timeIntervalSince1970: 0)], encoder: encoder)
            }
        ),
    ]

    @Test("Endpoints are equal if they send the same request", arguments: pairs)
    func equality(pair: Pair) {
        let (left, right) = (EndpointTests.endpoint(pair.left()), EndpointTests.endpoint(pair.right()))
        #expect((left == right) == pair.isEqual)
        if pair.isEqual { #expect(left.hashValue == right.hashValue) }
    }

    @Test("Endpoints with another URL, method or header field are not equal")
    func otherRequest() {
        let endpoint = EndpointTests.endpoint()
        #expect(endpoint != EndpointTests.endpoint(url: "https://example.com/b"))
        #expect(endpoint != EndpointTests.endpoint(method: .put))
        #expect(endpoint != EndpointTests.endpoint(headers: ["Title": "Other"]))
    }

    @Test("Endpoints that cannot become a request are compared by their URL")
    func invalid() {
        #expect(EndpointTests.endpoint(url: "a b") == EndpointTests.endpoint(url: "a b"))
        #expect(EndpointTests.endpoint(url: "a b") != EndpointTests.endpoint(url: "a c"))
        #expect(EndpointTests.endpoint(url: "a b") != EndpointTests.endpoint())
    }
}
