// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What a decoding error shows", .timeLimit(.minutes(2)))
struct DecodingExcerptTests {
    struct Order: Decodable {
        struct Item: Decodable {
            var id: Int
            var name: String
        }

        var items: [Item]
        var token: Int?
        var when: Date?
    }

    private func error(_ body: String, keyPath: String? = nil, request: URLRequest? = nil) throws -> TargetKitError {
        let response = Response(statusCode: 200, data: Data(body.utf8), request: request)
        return try #require(throws: TargetKitError.self) { try response.decode(Order.self, atKeyPath: keyPath) }
    }

    @Test(
        "The description names the key path and shows the JSON there",
        arguments: [
            (
                #"{"items":[{"id":1,"name":"a"},{"id":"seven","name":"b"}]}"#, "no Int at items.[1].id",
                #", in "id":"seven""#
            ),
            (#"{"items":[{"id":1}]}"#, "no value at items.[0].name", #", in {"id":1}"#),
            (#"{"items":[{"id":null,"name":"a"}]}"#, "null instead of Int at items.[0].id", #", in "id":null"#),
            (#"{"items":{"a":[true,1.5]}}"#, "at items", #", in "items":{"a":[true,1.5]}"#),
            (#"{"items":["a\nb"]}"#, "at items.[0]", #", in "a\nb""#),
        ]
    )
    func excerpts(body: String, place: String, excerpt: String) throws {
        let description = try error(body).description
        #expect(description.contains(place))
        #expect(description.hasSuffix(excerpt))
        #expect(!description.contains("\n"))
    }

    @Test("A value below a key path is found, and its place is told from the top of the body")
    func keyPath() throws {
        let description = try error(#"{"data":[{"items":[{"id":[],"name":"b"}]}]}"#, keyPath: "data.0").description
        #expect(description.contains("no Int at data.0.items.[0].id"))
        #expect(description.hasSuffix(#", in "id":[]"#))
    }

    @Test("The piece has at most 80 characters, however large or deep the value is")
    func bounded() throws {
        let wide = "{\"items\":\"\(String(repeating: "x", count: 10_000))\"}"
        let deep = "{\"items\":{\"a\":" + String(repeating: "[", count: 400) + String(repeating: "]", count: 400) + "}}"
        for body in [wide, deep] {
            let description = try error(body).description
            let piece = try #require(description.range(of: ", in ").map { description[$0.upperBound...] })
            #expect(piece.count == 80)
            #expect(piece.hasSuffix("…"))
        }
    }

    @Test("A piece of 80 characters is shown whole", arguments: [(80, true), (81, false)])
    func longest(length: Int, isWhole: Bool) throws {
        let member = #""items":""#
        let piece = member + String(repeating: "x", count: length - member.count - 1) + "\""
        #expect(try error("{\(piece)}").description.hasSuffix(", in " + piece) == isWhole)
    }

    @Test(
        "Values of secret fields are not shown",
        arguments: [
            #"{"items":{"Access-Token":"s3cret","password":["s3cret"]}}"#, #"{"items":[],"token":"s3cret"}"#,
            #"{"items":{"set_cookie":"s3cret","X-Api-Key":"s3cret"}}"#,
        ]
    )
    func secretFields(body: String) throws {
        let description = try error(body).description
        #expect(!description.contains("s3cret"))
        #expect(description.contains("<redacted>"))
    }

    @Test(
        "What repeats the request is not shown",
        arguments: ["Bearer h3ader", "qu3ry", "the form value", "b0dy", "again: b0dy!"]
    )
    func echoes(echo: String) throws {
        var request = URLRequest(url: try #require(URL(string: "https://h.example/?a=qu3ry")))
        request.setValue("Bearer h3ader", forHTTPHeaderField: "X-Mine")
        request.httpBody = Data("note=b0dy&b=the+form+value".utf8)
        let description = try error("{\"items\":{\"echo\":\"\(echo)\",\"n\":12}}", request: request).description
        #expect(!description.contains(echo))
        #expect(description.hasSuffix(#", in "items":{"echo":"<redacted>","n":12}"#))
    }

    @Test("A server that echoes what was sent is not quoted, over any transport", arguments: Backend.allCases)
    func echoOfCall(backend: Backend) async throws {
        let running = try RunningBackend(backend) { request in
            let echo = "{\"items\":{\"body\":\(request.text),\"auth\":\"\(request.headers["X-Mine"] ?? "")\"}}"
            return .response(status: 200, data: Data(echo.utf8))
        }
        let provider = Provider<TestTarget>(transport: running.transport)
        let target = TestTarget(running.baseURL).with {
            $0.method = .post
            $0.headers = ["X-Mine": "h3ader"]
            $0.task = .json(["note": "s3cret"]).query(["q": "qu3ry"])
        }
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(target, as: Order.self)
        }
        #expect(error.description.contains("at items, in "))
        for secret in ["s3cret", "h3ader", "qu3ry"] { #expect(!error.description.contains(secret)) }
    }

    @Test("A body that is no JSON is not shown", arguments: ["s3cret", "<html>s3cret</html>", #"{"items":"s3cret"#])
    func broken(body: String) throws {
        #expect(try !error(body).description.contains("s3cret"))
    }
}
