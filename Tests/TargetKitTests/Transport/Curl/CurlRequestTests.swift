// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// What reaches the server.
@Suite("CurlTransport: the request", .throttled, .timeLimit(.minutes(3)))
struct CurlRequestTests {
    let transport = CurlTransport.another()

    @Test(
        "The method is sent unchanged",
        arguments: [
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "PROPFIND",
        ]
    )
    func method(name: String) async throws {
        let server = try TestServer(response: .text("body"))
        let response = try await TestCall(method: name).send(to: server, with: transport)
        #expect(server.requests.map(\.method.rawValue) == [name])
        #expect(response.text == (name == "HEAD" ? "" : "body"))
    }

    @Test(
        "The path and query are sent byte for byte",
        arguments: ["/", "/a/../b", "/./a", "/a%2Fb", "/a//b", "/a?x=%20&y=+&z", "/%E2%82%AC?", "/a;b=c,d"]
    )
    func target(path: String) async throws {
        let server = try TestServer(response: .text(""))
        try await TestCall(path: path).send(to: server, with: transport)
        #expect(server.requests.map(\.target) == [path])
    }

    @Test("User name, password and fragment of the URL are not sent")
    func userInfo() async throws {
        let server = try TestServer(response: .text(""))
        let base = try #require(URL(string: "http://user:secret@127.0.0.1:\(server.port)"))
        _ = try await transport.send(TestCall(path: "/a@b#part").request(to: base))
        let request = try await server.request(at: 0)
        #expect(request.target == "/a@b")
        #expect(request.headers["Authorization"] == nil)
        #expect(request.headers["Host"] == "127.0.0.1:\(server.port)")
    }

    @Test("Header fields are sent unchanged, including an empty value, and libcurl adds only its usual ones")
    func headers() async throws {
        let server = try TestServer(response: .text(""))
        let headers = ["X-One": "a, b", "X-Empty": "", "User-Agent": "me/1"]
        try await TestCall(method: "POST", headers: headers, body: .data(Data("x".utf8))).send(
            to: server,
            with: transport
        )
        let sent = try await server.request(at: 0).headers
        for (name, value) in headers { #expect(sent.values(for: HTTPHeaderName(rawValue: name)) == [value]) }
        let usual = ["Host", "Accept", "Accept-Encoding", "Content-Length"]
        #expect(Set(sent.fields.map(\.name.rawValue)) == Set(usual).union(headers.keys))
        #expect(sent["Accept"] == "*/*")
    }

    @Test("libcurl adds no fields for a body, even after a call with the same fields and no body")
    func headersOfBody() async throws {
        let server = try TestServer(response: .text(""))
        for body in [TransportRequest.Body.none, .data(Data("x".utf8)), .none] {
            try await TestCall(method: "PUT", headers: ["X-A": "1"], body: body).send(to: server, with: transport)
        }
        for request in server.requests {
            #expect(request.headers["X-A"] == "1")
            #expect(request.headers["Content-Type"] == nil && request.headers["Expect"] == nil)
        }
        #expect(server.requests.map { $0.headers["Content-Length"] } == ["0", "1", "0"])
    }

    @Test("The headers of one call are not sent with the next")
    func headersEnd() async throws {
        let server = try TestServer(response: .text(""))
        for headers in [["X-A": "1"], [:], ["X-B": "2"]] {
            try await TestCall(headers: headers).send(to: server, with: transport)
        }
        #expect(server.requests.map { $0.headers["X-A"] } == ["1", nil, nil])
        #expect(server.requests.map { $0.headers["X-B"] } == [nil, nil, "2"])
        for request in server.requests {
            #expect(
                request.headers.values(for: "User-Agent").count == 1
                    && request.headers.values(for: "Accept-Encoding").count == 1
            )
            #expect(request.headers["User-Agent"]?.hasPrefix("TargetKit/") == true)
        }
    }

    @Test("Equal values with other bytes are sent with their own bytes")
    func composed() async throws {
        let server = try TestServer(response: .text(""))
        let values = ["\u{E9}", "e\u{301}", "\u{E9}"]
        for value in values { try await TestCall(headers: ["X-A": value]).send(to: server, with: transport) }
        #expect(server.requests.map { $0.headers["X-A"].map { Array($0.utf8) } } == values.map { Array($0.utf8) })
    }

    @Test("A header name that would inject another field is refused")
    func injection() async throws {
        let server = try TestServer(response: .text(""))
        let code = await TestCall(headers: ["X-A: 1\r\nX-B": "2"]).failure(at: server.baseURL, with: transport)
        #expect(code == .badURL)
        #expect(server.headCount == 0)
    }

    @Test("Fields that libcurl cannot send are refused, and large ones are sent")
    func largeFields() async throws {
        let server = try TestServer(response: .text("fine"))
        let large = TestCall(headers: ["X-A": String(repeating: "a", count: 500_000)])
        #expect(try await large.send(to: server, with: transport).text == "fine")
        let larger = TestCall(headers: ["X-A": String(repeating: "a", count: 1_100_000)])
        #expect(await larger.failure(at: server.baseURL, with: transport) == .badURL)
        #expect(server.headCount == 1)
    }

    @Test(
        "The length of an empty body is sent for methods that define a meaning for a body",
        arguments: ["POST", "PUT", "PATCH"]
    )
    func emptyBody(method: String) async throws {
        let server = try TestServer(response: .text(""))
        try await TestCall(method: method).send(to: server, with: transport)
        try await TestCall(method: "DELETE").send(to: server, with: transport)
        #expect(server.requests.map { $0.headers["Content-Length"] } == ["0", nil])
        #expect(server.requests.allSatisfy { $0.headers["Content-Type"] == nil })
    }

    @Test(
        "A body arrives whole and with its length, from memory and from a file",
        arguments: [0, 1, 5000, 3 << 20]
    )
    func body(size: Int) async throws {
        let server = try TestServer(response: .text(""))
        let folder = try TemporaryFolder()
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let file = folder.url.appendingPathComponent("body")
        try data.write(to: file)
        for body in [TransportRequest.Body.data(data), .file(file)] {
            for method in ["POST", "PUT", "GET", "SEARCH"] {
                try await TestCall(method: method, body: body).send(to: server, with: transport)
            }
        }
        #expect(server.requests.map(\.method) == ["POST", "PUT", "GET", "SEARCH", "POST", "PUT", "GET", "SEARCH"])
        #expect(server.requests.allSatisfy { $0.body == data && $0.headers["Content-Length"] == "\(size)" })
        #expect(server.requests.allSatisfy { $0.headers["Expect"] == nil && $0.headers["Content-Type"] == nil })
    }

    @Test("A slice of Data is sent from the slice's start")
    func slice() async throws {
        let server = try TestServer(response: .text(""))
        let data = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        for slice in [data[10..<20], data[10..<90_000]] {
            try await TestCall(method: "POST", body: .data(slice)).send(to: server, with: transport)
        }
        #expect(server.requests.map(\.body) == [Data(data[10..<20]), Data(data[10..<90_000])])
    }

    @Test("A stream of unknown length is sent in chunks", arguments: [nil, 300_000])
    func stream(length: Int64?) async throws {
        let server = try TestServer(response: .text(""))
        let source = CountingSource(byteCount: 300_000, length: length)
        try await TestCall(method: "POST", body: .stream(source)).send(to: server, with: transport)
        let request = try await server.request(at: 0)
        #expect(request.body.whole == source.bytes.whole)
        #expect(request.isChunked == (length == nil))
        #expect(request.headers["Content-Length"] == length.map { "\($0)" })
    }

    @Test("A HEAD request with a body gets its response")
    func headWithBody() async throws {
        let server = try TestServer(response: .text("body"))
        let call = TestCall(method: "HEAD", body: .data(Data("x".utf8)))
        let response = try await call.send(to: server, with: transport)
        #expect(response.head.statusCode == 200)
        #expect(try await server.request(at: 0).text == "x")
    }

    @Test("An IPv6 literal is a host")
    func ipv6() async throws {
        var options = TestServer.Options()
        options.address = .ipv6
        let server = try TestServer(options: options, response: .text("six"))
        #expect(try await TestCall().send(to: server, with: transport).text == "six")
    }

    @Test("A body is sent again when its kept-alive connection closes", arguments: [10, 200_000])
    func resend(size: Int) async throws {
        // The first connection ends after one answer, without saying so.
        let server = try TestServer { request in
            request.connection == 0 && request.number > 0 ? .reset : .text("ok")
        }
        try await TestCall().send(to: server, with: transport)
        let source = CountingSource(byteCount: size, length: Int64(size))
        let response = try await TestCall(method: "PUT", body: .stream(source)).send(to: server, with: transport)
        #expect(response.text == "ok")
        #expect(server.requests.last?.body.whole == source.bytes.whole)
    }

    @Test("Header fields are sent in the order of the endpoint, those of plugins after them, by name")
    func order() async throws {
        let server = try TestServer(response: .status(204))
        let names = ["X-Zeta", "Accept", "X-Beta", "X-Omega", "B3", "X-Alpha", "Mark", "X-Kappa"]
        let fields = names.map { HTTPHeaders.Field(name: HTTPHeaderName(rawValue: $0), value: "1") }
        for _ in 0..<5 {
            let provider = Provider<TestTarget>(transport: CurlTransport.another(), plugins: [FieldsPlugin()])
            _ = try await provider.request(TestTarget(server.baseURL).with { $0.headers = HTTPHeaders(fields) })
        }
        for request in server.requests {
            let sent = request.headers.fields.map(\.name.rawValue).filter { $0 != "Host" }
            #expect(sent == names + ["X-Plugin-A", "X-Plugin-B", "X-Plugin-C", "User-Agent", "Accept-Encoding"])
        }
    }
}

/// Sets fields in an order that changes.
private struct FieldsPlugin: Plugin {
    func prepare(_ request: URLRequest, context: RequestContext) -> URLRequest {
        var request = request
        for name in ["A", "B", "C"].shuffled() { request.setValue("1", forHTTPHeaderField: "X-Plugin-\(name)") }
        return request
    }
}

/// A source of bytes that can be opened again.
struct CountingSource: BodySource {
    let bytes: Data
    let length: Int64?

    init(byteCount: Int, length: Int64?) {
        bytes = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 13) })
        self.length = length
    }

    func open() -> any BodyReader { Reader(rest: bytes) }

    private final class Reader: BodyReader {
        var rest: Data

        init(rest: Data) { self.rest = rest }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            let count = rest.copyBytes(to: buffer, count: min(buffer.count, rest.count, 10_000))
            rest = rest.dropFirst(count)
            return count
        }
    }
}
#endif
