// SPDX-License-Identifier: MIT
import Foundation
import TargetKitContracts
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The check against an OpenAPI document", .throttled)
struct OpenAPIContractTests {
    private static let document = ##"""
        {
          "openapi": "3.1.0",
          "servers": [{"url": "https://shop.example/{version}", "variables": {"version": {"default": "v1"}}}],
          "paths": {
            "/products": {"get": {"operationId": "list", "responses": {"200": {"content": {"application/json": {
              "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Product"}}}}}}}},
            "/products/{id}": {
              "get": {"responses": {
                "200": {"$ref": "#/components/responses/Product"},
                "4XX": {"content": {"application/problem+json": {"schema": {"required": ["title"]}}}}}},
              "head": {"responses": {"200": {"$ref": "#/components/responses/Product"}}},
              "delete": {"responses": {"204": {}, "default": {"content": {"text/*": {}}}}}},
            "/products/new": {"get": {"responses": {"204": {}}}},
            "/files/{name}.json": {"get": {"responses": {"200": {}}}}
          },
          "components": {
            "responses": {"Product": {
              "headers": {"ETag": {"required": true}},
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Product"}}}}},
            "schemas": {"Product": {"type": "object", "required": ["id"], "properties": {
              "id": {"type": "integer"}, "name": {"type": "string"}}}}
          }
        }
        """##

    private let contract: OpenAPIContract

    init() throws {
        contract = try OpenAPIContract(document: Data(Self.document.utf8))
    }

    /// The lines of the error; empty if there is none.
    private func lines(_ check: () throws -> Void) -> [String] {
        do {
            try check()
            return []
        } catch {
            return "\(error)".split(separator: "\n").map(String.init)
        }
    }

    private func response(
        _ body: String,
        status: Int = 200,
        headers: HTTPHeaders = ["Content-Type": "application/json; charset=utf-8", "ETag": "1"],
        to url: String? = nil,
        method: String = "GET"
    ) throws -> Response {
        var request = try url.map { URLRequest(url: try #require(URL(string: $0))) }
        request?.httpMethod = method
        return Response(statusCode: status, data: Data(body.utf8), headers: headers, request: request)
    }

    @Test(
        "What is not an OpenAPI document of version 3.0 or 3.1 is refused with a remedy",
        arguments: [
            ("openapi: 3.1.0", "the OpenAPI document isn't JSON; convert a YAML document first: "),
            (#"{"swagger":"2.0"}"#, "the document is Swagger 2.0; convert it to OpenAPI 3 first"),
            ("[]", "the document isn't an OpenAPI document, because it has no member openapi"),
            (#"{"openapi":"3.2.0"}"#, "OpenAPI 3.2.0 isn't supported; use 3.0 or 3.1"),
            (##"{"openapi":"3.1.0","paths":{"/a":{"$ref":"#/b"}}}"##, "#/paths/~1a: the document has no #/b"),
            (##"{"openapi":"3.1.0","paths":{"/a":{"$ref":"#/paths/~1a"}}}"##, "#/paths/~1a: the reference is circular"),
        ]
    )
    func refused(document: String, message: String) {
        let found = lines { _ = try OpenAPIContract(document: Data(document.utf8)) }
        #expect(found.first?.hasPrefix(message) == true, "\(found)")
    }

    @Test("The operation is that of the request, below a server's path or at another address")
    func operations() throws {
        for url in ["https://shop.example/v1/products/7", "http://127.0.0.1:8080/products/7?a=b"] {
            #expect(lines { try contract.check(try response(#"{"id":7}"#, to: url)) } == [])
            let found = lines { try contract.check(try response("{}", to: url)) }
            #expect(found.first == "GET /products/{id}, status 200: 1 difference from the document:")
        }
        // A concrete path precedes a template.
        let concrete = lines { try contract.check(try response("{}", to: "https://shop.example/v1/products/new")) }
        #expect(concrete.first?.hasPrefix("GET /products/new, status 200") == true)
        #expect(lines { try contract.check(try response("{}", to: "https://shop.example/files/a.b.json")) } == [])
    }

    @Test("An operation that the document lacks is said, with the closest one")
    func missingOperations() throws {
        let missing = "the document has no operation GET /product; the closest is GET /products"
        #expect(lines { try contract.check(try response("{}", to: "https://shop.example/product")) } == [missing])
        #expect(lines { try contract.check(try response("{}"), for: "GET /product") } == [missing])
        #expect(
            lines { try contract.check(try response("{}")) } == [
                "the response has no request; specify its operation, such as GET /products/{id}"
            ]
        )
        #expect(lines { try contract.check(try response("[]"), for: "list") } == [])
        #expect(lines { try contract.check(try response("[]"), for: "get /products") } == [])
    }

    @Test("The status must be one of the operation's, its range, or the default")
    func statuses() throws {
        let path = "#/paths/~1products~1{id}/get/responses"
        #expect(
            lines { try contract.check(try response("{}", status: 500), for: "GET /products/{id}") } == [
                "GET /products/{id}, status 500: 1 difference from the document:",
                "  the operation has no response 500; it has 200, 4XX",
            ]
        )
        let problem = try response("{}", status: 404, headers: ["Content-Type": "application/problem+json"])
        #expect(
            lines { try contract.check(problem, for: "GET /products/{id}") }.last
                == "  /title: missing, but required (\(path)/4XX/content/application~1problem+json/schema/required)"
        )
        let text = try response("gone", status: 410, headers: ["Content-Type": "text/plain"])
        #expect(lines { try contract.check(text, for: "DELETE /products/{id}") } == [])
        #expect(lines { try contract.check(try response("", status: 204), for: "DELETE /products/{id}") } == [])
    }

    @Test("The media type, the body and the required header fields must be there")
    func messages() throws {
        func found(_ response: Response, _ operation: String = "GET /products/{id}") -> [String] {
            lines { try contract.check(response, for: operation) }.dropFirst().map { String($0.dropFirst(2)) }
        }
        let content = "#/components/responses/Product/content"
        #expect(
            found(try response("<p>", headers: ["Content-Type": "text/html"])) == [
                "the header field ETag is missing, but required (#/components/responses/Product/headers/ETag)",
                "the content type is text/html, expected application/json (\(content))",
            ]
        )
        #expect(found(try response("")) == ["there is no body, expected application/json (\(content))"])
        #expect(found(try response("{")).first?.hasPrefix("the body isn't valid JSON: ") == true)
        #expect(found(try response(#"{"id":1}"#, headers: ["etag": "1"])) == [])
        #expect(found(try response(""), "HEAD /products/{id}") == [])
    }

    @Test("A body in a file is checked")
    func file() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", Data(#"{"id":"7"}"#.utf8))
        let response = Response(
            statusCode: 200,
            headers: ["Content-Type": "application/json", "ETag": "1"],
            file: file
        )
        #expect(lines { try contract.check(response, for: "GET /products/{id}") }.count == 2)
    }

    // MARK: - Targets

    private struct Target: TargetType {
        var path: RequestPath = "/v1/products/7"
        var sample = SampleResponse.response(
            status: 200,
            headers: ["Content-Type": "application/json", "ETag": "1"],
            data: Data(#"{"id":7}"#.utf8)
        )

        var baseURL: URL { URL(string: "https://shop.example") ?? URL(fileURLWithPath: "/") }
        var sampleResponse: SampleResponse { sample }
    }

    private func problems(_ targets: [Target], cassette: URL? = nil) async -> [String] {
        do {
            try await Provider<Target>().checkContracts(of: targets, against: contract, cassette: cassette)
            return []
        } catch {
            return "\(error)".split(separator: "\n").map(String.init)
        }
    }

    @Test("The samples of targets are checked; an empty sample and a failure are not")
    func samples() async {
        let fine = [Target(), Target(sample: .status(200)), Target(sample: .failure(URLError(.timedOut)))]
        #expect(await problems(fine) == [])
        let wrong = [Target(path: "/v1/things"), Target(sample: .delayed(.seconds(60), .json("{}", status: 404)))]
        #expect(
            await problems(wrong) == [
                "2 problems:",
                "  Target: the document has no operation GET /v1/things; the closest is GET /products",
                "  Target: the sample: the content type is application/json, expected application/problem+json "
                    + "(#/paths/~1products~1{id}/get/responses/4XX/content)",
            ]
        )
    }

    @Test("All recorded responses of a target are checked")
    func recorded() async throws {
        let folder = try TemporaryFolder()
        let stub = StubTransport(routes: [
            .any: .sequence(
                .json(#"{"id":7,"name":1}"#, headers: ["ETag": "1"]),
                .status(503),
                .json(#"{"id":7}"#, headers: ["ETag": "1"])
            )
        ])
        let recording = CassetteTransport(.record, folder: folder.url, recording: stub)
        for _ in 0..<3 { _ = try? await Provider<Target>(transport: recording).request(Target()) }
        #expect(
            await problems([Target()], cassette: folder.url) == [
                "2 problems:",
                "  Target: the response 001-GET-v1-products-7: /name: expected a string, found the number 1 "
                    + "(#/components/schemas/Product/properties/name/type)",
                "  Target: the response 002-GET-v1-products-7: the operation has no response 503; it has 200, 4XX",
            ]
        )
        let missing = await problems([Target(path: "/v1/products/8")], cassette: folder.url)
        #expect(missing.contains { $0.contains("has no entry for GET https://shop.example/v1/products/8") })
    }
}
