// SPDX-License-Identifier: MIT
import Edges
import Foundation
import TargetKit
import Testing

@Suite("Generated code at its edges")
struct EdgeTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test(
        "A union is decoded as what it was encoded from, with the tag in the JSON",
        arguments: [
            (Shape.circle(Circle(radius: 2)), #"{"kind":"round","radius":2}"#),
            (.square(Square(side: 3)), #"{"kind":"Square","side":3}"#),
            (.path(Path(kind: "path", points: [])), #"{"kind":"path","points":[]}"#),
        ]
    )
    func tags(shape: Shape, text: String) throws {
        #expect(try json(shape) == text)
        let decoded = try JSONDecoder().decode(Shape.self, from: Data(text.utf8))
        #expect(try json(decoded) == text)
    }

    @Test(
        "A union without a mapping is decoded by the values of its alternatives, and encoded as it was",
        arguments: [
            #"{"id":"a","type":"item_reference"}"#, #"{"type":"web_search_2025"}"#, #"{"text":"t","type":"message"}"#,
            #"{"later":[1],"type":"later"}"#,
        ]
    )
    func implicitTags(text: String) throws {
        let tool = try JSONDecoder().decode(Tool.self, from: Data(text.utf8))
        #expect(try json(tool) == text)
        switch tool {
        case .refParam: #expect(text.contains("item_reference"))
        case .item(.search): #expect(text.contains("web_search_2025"))
        case .item(.message): #expect(text.contains("message"))
        case .item(.other), .other: #expect(text.contains("later"))
        }
    }

    @Test("Dates keep their fractions, cookies are escaped, and objects in a list are JSON")
    func parameters() throws {
        let date = Date(timeIntervalSince1970: 1.5)
        let target = EdgesAPI.用户列表(since: date, until: date, items: [Point(x: 1, y: 2)], sid: "a;b=%")
        let request = try Endpoint(target: target).urlRequest()
        let url = try #require(request.url)
        #expect(url.path(percentEncoded: false) == "/用户/1970-01-01T00:00:01.500Z")
        let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems
        #expect(items?.first { $0.name == "until" }?.value == "1970-01-01T00:00:01.500Z")
        #expect(items?.first { $0.name == "items" }?.value == #"{"x":1,"y":2}"#)
        #expect(request.value(forHTTPHeaderField: "Cookie") == "sid=a%3Bb=%25")
    }

    @Test("A date that RFC 3339 can't express fails the call")
    func dateOutOfRange() throws {
        let target = EdgesAPI.用户列表(since: Date(), until: Date(timeIntervalSince1970: 1e300))
        #expect(throws: TargetKitError.self) { try Endpoint(target: target).urlRequest() }
    }

    @Test("An optional property is left out, or sent as null")
    func nulls() throws {
        #expect(try json(用户(id: 1)) == #"{"id":1}"#)
        #expect(try json(用户(id: 1, nulls: [.昵称])) == #"{"id":1,"昵称":null}"#)
    }

    @Test("Base64 is sent as Base64")
    func base64() throws {
        let request = try Endpoint(target: EdgesAPI.putBytes(Data([1, 2, 3]))).urlRequest()
        #expect(request.httpBody == Data("AQID".utf8))
    }

    @Test("The plugin of the keys adds those that a call needs")
    func keys() async throws {
        let provider = Provider<EdgesAPI>(
            transport: StubTransport { request in
                let fields = [request.urlRequest.value(forHTTPHeaderField: "X-Key"), request.urlRequest.url?.query]
                return .response(status: 200, data: Data(fields.map { $0 ?? "none" }.joined(separator: " ").utf8))
            },
            plugins: [EdgesKeyPlugin { _ in "a&b" }]
        )
        let date = Date(timeIntervalSince1970: 0)
        #expect(try await provider.request(.用户列表(since: date)).string() == "a&b none")
        #expect(try await provider.request(.putBytes(Data())).string() == "none none")
    }

    @Test("A server that the document doesn't list can be called")
    func ownServer() throws {
        let endpoint: (EdgesAPI) throws -> Endpoint = EdgesServers.endpoint { URL(string: "https://own.example/api/") }
        let made = try endpoint(EdgesAPI.putBytes(Data()))
        #expect(made.url.absoluteString == "https://own.example/api/bytes")
    }

    private func request(x: Double = 1, options: Double = 1.5, header: Double? = 2) throws -> URLRequest {
        let target = EdgesAPI.getPoint(
            point: Point(x: x, y: 2),
            options: options,
            near: Point(x: 0.5, y: 0),
            xPoint: header.map { Point(x: $0, y: 2) },
            xJSON: Point(x: 1, y: 2)
        )
        return try Endpoint(target: target).urlRequest()
    }

    @Test("Objects are written into the path, the query and header fields")
    func texts() throws {
        let request = try request()
        #expect(request.url?.absoluteString == "https://edges.example/points/x,1,y,2/1.5?near=x,0.5,y,0")
        #expect(request.value(forHTTPHeaderField: "X-Point") == "x,2,y,2")
        #expect(request.value(forHTTPHeaderField: "X-JSON") == #"{"x":1,"y":2}"#)
    }

    @Test("A value that can't be encoded fails the call, and names the parameter")
    func failures() throws {
        for (name, make) in [
            ("point", { try request(x: .nan) }), ("options", { try request(options: .infinity) }),
            ("X-Point", { try request(header: .nan) }),
        ] {
            let error = #expect(throws: TargetKitError.self) { try make() }
            let cause = try #require(error?.underlying.map { "\($0)" })
            #expect(cause.contains(name), "\(cause)")
        }
    }

    @Test("The media type of an optional body is sent only with the body")
    func mediaType() throws {
        let patch = try Endpoint(target: EdgesAPI.changeShape(Circle(radius: 1))).urlRequest()
        #expect(patch.value(forHTTPHeaderField: "Content-Type") == "application/merge-patch+json")
        let empty = try Endpoint(target: EdgesAPI.changeShape()).urlRequest()
        #expect(empty.value(forHTTPHeaderField: "Content-Type") == nil)
    }
}
