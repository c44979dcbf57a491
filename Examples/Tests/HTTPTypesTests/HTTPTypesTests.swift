// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
import HTTPTypesConversion
import TargetKit
import Testing

/// A call through the types of swift-http-types and back.
@Suite("The types of swift-http-types", .timeLimit(.minutes(1)))
struct HTTPTypesTests {
    private struct Note: TargetType {
        var task = HTTPTask.plain

        var baseURL: URL { URL(string: "https://notes.example/v1") ?? URL(filePath: "/") }
        var path: RequestPath { "/notes" }
        var method: TargetKit.HTTPMethod { .post }
        var headers: HTTPHeaders { ["X-Trace": "7"] }
    }

    @Test("Fields keep their order, their spelling and repeated names")
    func fields() {
        let headers: HTTPHeaders = ["Set-Cookie": "a=1", "X-B": "é", "Set-Cookie": "b=2"]
        let fields = HTTPFields(headers)
        #expect(fields[values: .setCookie] == ["a=1", "b=2"])
        #expect(
            HTTPHeaders(fields).map { "\($0.name.rawValue): \($0.value)" }
                == headers.map { "\($0.name.rawValue): \($0.value)" }
        )
        #expect(HTTPFields(["no token": "x"]).isEmpty)
    }

    @Test("The head of a response stays the same")
    func responseHead() {
        let head = ResponseHead(statusCode: 429, headers: ["Retry-After": "3"], httpVersion: "HTTP/2")
        let copy = ResponseHead(HTTPResponse(head), httpVersion: "HTTP/2")
        #expect(copy.statusCode == 429 && copy.httpVersion == "HTTP/2" && copy.headers == head.headers)
    }

    @Test("A client of these types gets the request of a target, and its response is decoded")
    func call() async throws {
        let provider = Provider<Note>(
            transport: HTTPTypesTransport { request, body in
                #expect(request.method == .post && request.authority == "notes.example" && request.path == "/v1/notes")
                #expect(request.headerFields[HTTPField.Name("X-Trace") ?? .accept] == "7")
                return (HTTPResponse(status: .created, headerFields: [.contentType: "application/json"]), body)
            }
        )
        let tea = try await provider.request(
            Note(task: .data(Data(#"{"name":"tea"}"#.utf8), contentType: "application/json")),
            as: [String: String].self
        )
        #expect(tea == ["name": "tea"])
    }
}
