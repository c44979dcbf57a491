// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let server = URL(string: "https://shop.example") ?? URL(filePath: "/")

private func digest(of text: String) -> String { "digest of \(text.prefix(5))" }

private struct Product: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

enum ShopGraph: TargetType {
    case product(id: Int)
    case rename(id: Int, to: String)

    var baseURL: URL { server }
    var path: RequestPath { "/graphql" }
    var method: HTTPMethod { .post }
    var task: HTTPTask { .json(["query": .string(query), "variables": variables]) }
    var options: CallOptions { .setting(\.envelope, GraphQLEnvelope()) }

    var query: String {
        switch self {
        case .product: "query Product($id: Int!) { product(id: $id) { id name } }"
        case .rename: "mutation Rename($id: Int!, $name: String!) { rename(id: $id, name: $name) { id name } }"
        }
    }

    var variables: JSONValue {
        switch self {
        case .product(let id): ["id": JSONValue(id)]
        case .rename(let id, let name): ["id": JSONValue(id), "name": .string(name)]
        }
    }
}

struct GraphQLEnvelope: ResponseEnvelope {
    var valueKeyPath: String? { "data" }

    func payload(of response: Response) throws -> Data? {
        let json = try response.json()
        if let error = json.errors.array?.first {
            let path = (error.path.array ?? []).compactMap { $0.string ?? $0.int.map(String.init) }
            let message = error.message.string ?? "the server names no reason"
            throw ServerDefinedError(
                code: error.extensions.code.string ?? "",
                message: path.isEmpty ? message : "\(path.joined(separator: ".")): \(message)"
            )
        }
        return json["data"] == .null ? nil : json["data"].jsonData()
    }
}

struct PersistedQueries: Plugin {
    private let isUnknown = PluginStorage<Bool>()

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard let body = request.httpBody, context[isUnknown] != true else { return request }
        var json = try JSONValue(parsing: body)
        guard let query = json.query.string else { return request }
        json.query = .null
        json.extensions = ["persistedQuery": ["version": 1, "sha256Hash": .string(digest(of: query))]]
        var request = request
        request.httpBody = json.jsonData()
        return request
    }

    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard case .failure(let error) = result, context[isUnknown] != true,
            let refusal = error.underlying as? ServerDefinedError, refusal.code == "PERSISTED_QUERY_NOT_FOUND"
        else { return .doNotRetry }
        context[isUnknown] = true
        return .retry(after: .zero)
    }
}

func upload(_ photo: URL, of product: Int) -> HTTPTask {
    let operation: JSONValue = [
        "query": "mutation Add($id: Int!, $photo: Upload!) { addPhoto(id: $id, photo: $photo) { id } }",
        "variables": ["id": JSONValue(product), "photo": nil],
    ]
    return .multipart([
        .json(operation, name: "operations"),
        .json(["0": ["variables.photo"]], name: "map"),
        .file(photo, name: "0"),
    ])
}

/// The snippets of the page about GraphQL, compiled and run.
@Suite("Page: Call a GraphQL server", .throttled, .timeLimit(.minutes(1)))
struct GraphQLPageTests {
    private let bodies = Recorder<JSONValue>()

    private func provider(_ answers: String..., plugins: [any Plugin] = []) -> Provider<ShopGraph> {
        let rest = Recorder<String>()
        for answer in answers { rest.append(answer) }
        let transport = StubTransport { [bodies] request in
            bodies.append(try JSONValue(parsing: request.urlRequest.httpBody ?? Data()))
            let index = min(bodies.elements.count, rest.elements.count) - 1
            return .json(rest.elements[index])
        }
        return Provider<ShopGraph>(transport: transport, plugins: plugins)
    }

    @Test("An operation is sent with its variables, and its field is decoded")
    func product() async throws {
        let provider = provider(#"{"data": {"product": {"id": 7, "name": "tea"}}}"#)
        let product = try await provider.request(.product(id: 7), as: Product.self, atKeyPath: "product")
        #expect(product == Product(id: 7, name: "tea"))
        #expect(bodies.elements.first?.variables == ["id": 7])
    }

    @Test("The first error of a 200 is the error of the call, with its code and the path of the field")
    func errors() async throws {
        let provider = provider(
            #"{"errors": [{"message": "gone", "path": ["products", 1, "name"], "extensions": {"code": "NOT_FOUND"}}], "data": {}}"#
        )
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.rename(id: 1, to: "x")) }
        #expect(error?.stage == .envelope)
        #expect(error?.underlying as? ServerDefinedError == .init(code: "NOT_FOUND", message: "products.1.name: gone"))
    }

    @Test("A persisted query is sent by its digest, and once more as a whole if the server doesn't know it")
    func persisted() async throws {
        let provider = provider(
            #"{"errors": [{"message": "PersistedQueryNotFound", "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"}}]}"#,
            #"{"data": {"rename": {"id": 7, "name": "oolong"}}}"#,
            plugins: [PersistedQueries()]
        )
        let product = try await provider.request(.rename(id: 7, to: "oolong"), as: Product.self, atKeyPath: "rename")
        #expect(product.name == "oolong")
        #expect(bodies.elements.map { $0.query.string?.prefix(8) } == [nil, "mutation"])
        #expect(bodies.elements[0].extensions.persistedQuery == ["version": 1, "sha256Hash": "digest of mutat"])
        #expect(bodies.elements.map(\.variables.name.string) == ["oolong", "oolong"])
    }

    @Test("A file is uploaded beside its operation")
    func files() async throws {
        let folder = try TemporaryFolder()
        let photo = folder.url.appending(path: "tea.png")
        try Data("png".utf8).write(to: photo)
        let sent = Recorder<String>()
        let transport = StubTransport { request in
            var text = ""
            try request.body.source()?.readAll { text += String(decoding: $0, as: UTF8.self) }
            sent.append(text)
            return .response(status: 204)
        }
        let provider = Provider<URLTarget>(transport: transport)
        _ = try await provider.request(URLTarget(server, method: .post, task: upload(photo, of: 7)))
        let text = try #require(sent.elements.first)
        #expect(text.contains(#""variables":{"id":7,"photo":null}"#))
        #expect(text.contains(#"{"0":["variables.photo"]}"#))
        #expect(text.contains(#"filename="tea.png""#))
    }

    @Test("Every line of Swift on the page is a line of this file")
    func everySnippetIsHere() throws {
        let known = try DocumentationPage.lines(at: "Tests/JSONTests/Pages/GraphQLPageTests.swift")
        let lines = try DocumentationPage("Sources/JSON/TargetKitJSON.docc/GraphQL.md").lines()
        #expect(!lines.isEmpty)
        for line in lines where !known.contains(line) { Issue.record("\(line)") }
    }
}
