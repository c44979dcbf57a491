// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Endpoint", .throttled)
struct EndpointTests {
    private func request(_ method: HTTPMethod, _ task: HTTPTask, headers: HTTPHeaders = [:]) throws -> URLRequest {
        try Endpoint(url: .example, method: method, task: task, headers: headers).urlRequest()
    }

    private func text(_ request: URLRequest) -> String? {
        request.httpBody.map { String(decoding: $0, as: UTF8.self) }
    }

    struct Note: Encodable, Sendable {
        var text = "a b"
        var page = 2
    }

    @Test("A plain endpoint has its URL and method, no body and no header of its own")
    func plain() throws {
        let request = try request(.delete, .plain)
        #expect(request.url == .example)
        #expect(request.httpMethod == "DELETE")
        #expect(request.httpBody == nil)
        #expect((request.allHTTPHeaderFields ?? [:]).isEmpty)
    }

    @Test(
        "Each task puts its values where it says, with the Content-Type that belongs to them",
        arguments: [
            (.get, .parameters(["q": "a b", "n": 1]), "?n=1&q=a%20b", nil, nil),
            (.post, .parameters(["n": 1]), "", "n=1", "application/x-www-form-urlencoded; charset=utf-8"),
            (.post, .parameters(["n": 1], encoding: .query), "?n=1", nil, nil),
            (.put, .parameters(["n": 1], encoding: .json), "", #"{"n":1}"#, "application/json"),
            (.post, .json(Note()), "", #"{"page":2,"text":"a b"}"#, "application/json"),
            (.get, .query(Note()), "?page=2&text=a%20b", nil, nil),
            (.get, .query(["b": 1, "a": "x"]), "?a=x&b=1", nil, nil),
            (.get, .query(ordered: ["b": 1, "a": "x", "b": 2]), "?b=1&a=x&b=2", nil, nil),
            (.post, .form(Note()), "", "page=2&text=a%20b", "application/x-www-form-urlencoded; charset=utf-8"),
            (.post, .form(["b": 1, "a": "x"]), "", "a=x&b=1", "application/x-www-form-urlencoded; charset=utf-8"),
            (
                .post, .form(ordered: ["b": 1, "a": "x"]), "", "b=1&a=x",
                "application/x-www-form-urlencoded; charset=utf-8"
            ),
            (.post, .data(Data("raw".utf8)), "", "raw", nil),
            (.post, .data(Data("raw".utf8), contentType: "text/x"), "", "raw", "text/x"),
            (.post, .json(Note()).query(["p": 1]), "?p=1", #"{"page":2,"text":"a b"}"#, "application/json"),
            (
                .post, .json(Note()).parameters(["p": 1], encoding: .query).query(["z": 2]), "?z=2&p=1",
                #"{"page":2,"text":"a b"}"#, "application/json"
            ),
            (.get, .download(to: URL(filePath: "/tmp/x")).parameters(["p": 1]), "?p=1", nil, nil),
        ] as [(HTTPMethod, HTTPTask, String, String?, String?)]
    )
    func tasks(method: HTTPMethod, task: HTTPTask, query: String, body: String?, type: String?) throws {
        let request = try request(method, task)
        #expect(request.url?.absoluteString == URL.example.absoluteString + query)
        #expect(text(request) == body)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == type)
        #expect(request.httpMethod == method.rawValue)
    }

    @Test(
        "A Content-Type that the caller has set stays the only one",
        arguments: [.json(["a": 1]), .form(["a": 1]), .parameters(["a": 1]), .parameters(["a": 1], encoding: .json)]
            as [HTTPTask]
    )
    func contentType(task: HTTPTask) throws {
        let fields = try request(.post, task, headers: ["content-type": "application/vnd.x"]).allHTTPHeaderFields ?? [:]
        #expect(fields.filter { $0.key.lowercased() == "content-type" }.map(\.value) == ["application/vnd.x"])
    }

    @Test("A body that one encoding has made is kept when another one makes none")
    func keptBody() throws {
        struct HeaderEncoding: ParameterEncoding {
            func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest {
                var request = request
                request.setValue("\(parameters.count)", forHTTPHeaderField: "X-Count")
                return request
            }
        }
        let task = HTTPTask.parameters(["a": 1], encoding: .json).parameters(["b": 2], encoding: HeaderEncoding())
        let request = try request(.post, task)
        #expect(text(request) == #"{"a":1}"#)
        #expect(request.value(forHTTPHeaderField: "X-Count") == "1")
    }

    @Test("An in-memory form is the request's body, with its boundary in the Content-Type")
    func multipart() throws {
        let form = MultipartForm(parts: [.text("b", name: "a")], boundary: "xyz")
        let request = try request(.post, .multipart(form).query(["album": 7]))
        #expect(request.url?.query() == "album=7")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "multipart/form-data; boundary=xyz")
        #expect(text(request)?.hasPrefix("--xyz\r\n") == true)
        #expect(text(request)?.hasSuffix("--xyz--\r\n") == true)
    }

    @Test(
        "Two bodies are an error",
        arguments: [
            .json(["a": 1]).data(Data("x".utf8)), .json(["a": 1]).form(["b": 1]), .form(["a": 1]).json(["b": 1]),
            .json(["a": 1]).parameters(["b": 1], encoding: .json), .data(Data("x".utf8)).parameters(["b": 1]),
        ] as [HTTPTask]
    )
    func twoBodies(task: HTTPTask) throws {
        let error = try #require(throws: TargetKitError.self) { try request(.post, task) }
        #expect(error.stage == .request)
        #expect(error.underlying as? InvalidRequest == .twoBodies)
    }

    @Test(
        "GET and HEAD with a body are refused",
        arguments: [HTTPMethod.get, .head],
        [
            .json(["a": 1]), .data(Data("x".utf8)), .form(["a": 1]), .parameters(["a": 1], encoding: .json),
            .multipart([.text("b", name: "a")]), .upload(file: URL(filePath: #filePath)),
        ] as [HTTPTask]
    )
    func bodyOnGet(method: HTTPMethod, task: HTTPTask) throws {
        let error = try #require(throws: TargetKitError.self) { try request(method, task) }
        #expect(error.underlying as? InvalidRequest == .bodyNotAllowed(method: method.rawValue))
    }

    @Test(
        "A header that would break out of its line is refused",
        arguments: [
            ("X Y", "1"), ("", "1"), ("X:Y", "1"), ("X\r\nY", "1"), ("É", "1"), ("X", "1\r\nY: 2"), ("X", "1\n2"),
            ("X", "a\u{0}b"),
        ]
    )
    func headerSafety(name: String, value: String) throws {
        let headers = HTTPHeaders(dictionaryLiteral: (name, value))
        let error = try #require(throws: TargetKitError.self) { try request(.get, .plain, headers: headers) }
        #expect(error.stage == .request)
        #expect(!error.description.contains(value) || value == "1")
    }

    @Test(
        "Header fields that frame the message are refused",
        arguments: ["Content-Length", "content-length", "Transfer-Encoding"]
    )
    func reservedHeaders(name: String) throws {
        let headers = HTTPHeaders(dictionaryLiteral: (name, "3"))
        let error = try #require(throws: TargetKitError.self) {
            try request(.post, .data(Data("abc".utf8)), headers: headers)
        }
        #expect(error.underlying as? InvalidRequest == .reservedHeader(name: name))
    }

    @Test("A method that is no token is refused", arguments: ["", "GE T", "GET\r\nX: y", "G\u{0}T", "ÉT"])
    func methodSafety(method: String) throws {
        let error = try #require(throws: TargetKitError.self) { try request(HTTPMethod(rawValue: method), .plain) }
        #expect(error.underlying as? InvalidRequest == .invalidMethod(method))
    }

    @Test(
        "A URL without http or host is refused",
        arguments: [
            "ftp://h.example/", "file:///etc/passwd", "/relative", "http://", "mailto:a@b", "https:///path",
            "http://anna@/",
            "http://:80/", "https://?q=h", "httpx://h.example/", "http:h.example", "http://anna:tea@:80/",
        ]
    )
    func urlSafety(url: String) throws {
        let url = try #require(URL(string: url))
        let error = try #require(throws: TargetKitError.self) { try Endpoint(url: url).urlRequest() }
        #expect(error.kind == .invalidRequest)
    }

    @Test(
        "A base URL without a host does not take one from the path",
        arguments: [
            "http://", "https://", "http:/", "http:", "https:///", "https:", "http://?q=1", "https://:443",
            "http://anna@",
        ],
        ["/evil.test/x", "//evil.test/x", "///evil.test", "evil.test", "@evil.test/x", "", "/"] as [RequestPath]
    )
    func hostFromPath(base: String, path: RequestPath) throws {
        let url = try #require(URL(string: base))
        let error = try #require(throws: TargetKitError.self) {
            try Endpoint(target: TestTarget(url).with { $0.path = path })
        }
        #expect(error.stage == .endpoint)
        #expect(error.underlying as? InvalidRequest == .unsupportedURL(base))
    }

    @Test("A TRACE has no body (RFC 9110 §9.3.8), in any case", arguments: ["TRACE", "Trace", "trace"])
    func trace(method: String) throws {
        let method = HTTPMethod(rawValue: method)
        #expect(try request(method, .plain).httpMethod == method.rawValue)
        for task in [HTTPTask.data(Data("abc".utf8)), .json(["a": 1]), .multipart([.text("b", name: "a")])] {
            let error = try #require(throws: TargetKitError.self) { try request(method, task) }
            #expect(error.underlying as? InvalidRequest == .bodyNotAllowed(method: method.rawValue))
        }
    }

    @Test(
        "A URL with http and a host is taken, however it is written",
        arguments: [
            "http://h.example", "https://h", "HTTP://H.EXAMPLE/", "http://anna:tea@h.example/",
            "https://[::1]:8443/path",
            "http://h.example?mail=a@b", "http://-h.example/", "http://h#a@b",
        ]
    )
    func httpURL(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(try Endpoint(url: url).urlRequest().url == url)
    }

    @Test("A dictionary encoded by the caller's encoder gives the same bytes each time")
    func customEncoder() throws {
        // The order of a dictionary's keys depends on the order of their insertion.
        func values() -> [String: Int] {
            Dictionary(uniqueKeysWithValues: (0..<40).shuffled().map { ("key\($0)", $0) })
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let endpoint = Endpoint(url: .example, method: .post, task: .json(values(), encoder: encoder))
        let first = try endpoint.urlRequest().httpBody
        for _ in 0..<40 {
            #expect(try endpoint.urlRequest().httpBody == first)
            let copy = Endpoint(url: .example, method: .post, task: .json(values(), encoder: JSONEncoder()))
            #expect(try copy.urlRequest().httpBody == first)
            let forms = [encoder, encoder].map { MultipartForm(parts: [.json(values(), name: "a", encoder: $0)]) }
            #expect(forms[0] == forms[1])
        }
        #expect(encoder.outputFormatting == [.withoutEscapingSlashes])
    }

    @Test("The settings of the caller's encoder apply, and a subclass is used as it is")
    func encoderSettings() throws {
        struct Value: Encodable, Sendable {
            var firstName = "a/b"
            var when = Date(timeIntervalSince1970: 7)
            var bytes = Data([1])
            var ratio = Double.infinity
            var info = Info()
        }
        struct Info: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                let value = CodingUserInfoKey(rawValue: "key").flatMap { encoder.userInfo[$0] as? String }
                try container.encode(value ?? "")
            }
        }
        final class Fixed: JSONEncoder, @unchecked Sendable {
            override func encode<T: Encodable>(_ value: T) throws -> Data { Data("fixed".utf8) }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.dataEncodingStrategy = .custom { data, encoder in try data.count.encode(to: encoder) }
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "",
            nan: ""
        )
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.userInfo = Dictionary(
            uniqueKeysWithValues: [CodingUserInfoKey(rawValue: "key")].compactMap { $0 }.map { ($0, "told") }
        )
        let body = try #require(text(request(.post, .json(Value(), encoder: encoder))))
        #expect(body.contains("\n"))
        let lines = body.split(whereSeparator: { $0.isWhitespace || $0 == "," })
        #expect(lines.joined() == #"{"bytes":1"first_name":"a/b""info":"told""ratio":"inf""when":7}"#)
        #expect(try text(request(.post, .json(Value(), encoder: Fixed()))) == "fixed")
    }

    @Test(
        "A task is described by the kinds of its parts, without their values",
        arguments: [
            (.plain, "plain"), (.query(["a": "s3cret"]), "a query"), (.parameters(["a": "s3cret"]), "parameters"),
            (.json(Note()), "a JSON body"), (.form(Note()), "a form"), (.form(ordered: ["a": 1]), "a form"),
            (.data(Data("s3cret".utf8)), "a data body"),
            (.encoded(Note(), by: PropertyListEncoder()), "a body of type application/x-plist"),
            (.encoded(Note(), by: JSONEncoder()), "a JSON body"),
            (.multipart([.text("s3cret", name: "a")]), "a multipart form"),
            (.json(Note()).query(["a": 1]), "a query, a JSON body"),
            (
                .download(to: URL(filePath: "/tmp/x")).parameters(["a": 1], encoding: .query),
                "parameters, into the file /tmp/x"
            ),
        ] as [(HTTPTask, String)]
    )
    func descriptions(task: HTTPTask, text: String) {
        #expect(task.description == text)
    }

    @Test("A header field and the task can be set, which leaves the rest")
    func changes() {
        var endpoint = Endpoint(url: .example, method: .put, headers: ["A": "1", "B": "2"])
        endpoint.headers["b"] = "3"
        endpoint.task = .data(Data("x".utf8))
        #expect(endpoint.headers == ["A": "1", "B": "3"])
        #expect(endpoint.method == .put)
        #expect((try? endpoint.urlRequest().httpBody) == Data("x".utf8))
    }
}
