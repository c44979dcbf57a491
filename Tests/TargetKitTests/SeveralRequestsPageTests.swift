// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// The snippets of the page about calls of several requests, compiled and run.
@Suite("Page: Calls of several requests", .throttled, .timeLimit(.minutes(1)))
struct SeveralRequestsPageTests {
    private struct Sent: Sendable, Equatable {
        var line: String
        var authorization: String?

        init(_ request: TransportRequest) {
            line = "\(request.urlRequest.httpMethod ?? "GET") \(request.urlRequest.url?.absoluteString ?? "")"
            authorization = request.urlRequest.value(forHTTPHeaderField: "Authorization")
        }
    }

    private struct Token: Plugin {
        var hooks: PluginHooks { .prepare }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
            return request
        }
    }

    private struct RetryOnce: Plugin {
        var hooks: PluginHooks { .retry }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            guard case .failure = result, context.attempt == 0, context.isRepeatable else { return .doNotRetry }
            return .retry(after: .zero)
        }
    }

    private let sent = Recorder<Sent>()

    private func provider(location: String, uploads: [Int]) -> Provider<Studio> {
        let uploads = Locked(uploads)
        return Provider(
            transport: StubTransport { [sent] request in
                sent.append(Sent(request))
                switch request.urlRequest.httpMethod {
                case "POST": return .response(status: 201, headers: ["Location": location])
                case "PUT": return .response(status: uploads.withLock { $0.removeFirst() })
                default: return .response(status: 204)
                }
            },
            plugins: [Token(), RetryOnce()]
        )
    }

    @Test("The file is sent to the server's URL, again in the next attempt")
    func retried() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("film", Data("film".utf8))
        let response = try await provider(location: "/uploads/7", uploads: [503, 200]).request(.film(file, name: "a"))
        #expect(response.statusCode == 200)
        let url = "https://studio.example/uploads"
        #expect(sent.elements.map(\.line) == ["POST \(url)", "PUT \(url)/7", "PUT \(url)/7"])
        #expect(sent.elements.allSatisfy { $0.authorization == "Bearer token" })
    }

    @Test("A failed upload is deleted, and another server receives no token")
    func failed() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("film", Data("film".utf8))
        let provider = provider(location: "https://storage.example/7", uploads: [503, 503])
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.film(file, name: "a")) }
        #expect(error?.rejectedStatusCode == 503)
        await provider.scope.shutdown(grace: .seconds(60))
        #expect(sent.elements.map(\.authorization) == ["Bearer token", nil, nil, nil])
        #expect(sent.elements.last?.line == "DELETE https://storage.example/7")
    }

    @Test("A sample is the response to the whole call")
    func stubbed() async throws {
        let provider = Provider<Studio>(stubClosure: { _ in .immediate })
        #expect(try await provider.request(.film(URL(filePath: "/film"), name: "a")).statusCode == 200)
    }

    @Test("Every line of Swift on the page is a line of this file")
    func everySnippetIsHere() throws {
        let known = try DocumentationPage.lines(at: "Tests/TargetKitTests/SeveralRequestsPageTests.swift")
        let lines = try DocumentationPage("Sources/TargetKit/TargetKit.docc/SeveralRequests.md").lines()
        #expect(!lines.isEmpty)
        for line in lines where !known.contains(line) { Issue.record("\(line)") }
    }
}

struct TwoStepUpload: TransferDriver {
    let file: URL

    func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        // A sample is the response to the whole call.
        if exchanges.isStubbed { return try await exchanges.send(request) }
        var upload = request
        upload.url = try await location(of: request, over: exchanges)
        upload.httpMethod = "PUT"
        upload.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        // Sending the file again has no further effect.
        exchanges.context.transfer = TransferState(isRepeatable: true)
        return try await exchanges.send(upload, body: .file(file))
    }

    func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async {
        guard case .failure = result, let url = exchanges.context[UploadLocation.self] else { return }
        var deletion = URLRequest(url: url)
        deletion.httpMethod = "DELETE"
        exchanges.sendInBackground(deletion)
    }

    private func location(of request: URLRequest, over exchanges: CallExchanges) async throws -> URL {
        // The driver is called for each attempt.
        if let known = exchanges.context[UploadLocation.self] { return known }
        var creation = try await exchanges.prepare(request)
        // The progress of the call is that of the file.
        creation.progress = nil
        let response = try await exchanges.send(creation, validation: .codes([201]))
        guard let text = response.headers[.location], let url = URL(string: text, relativeTo: response.url) else {
            throw UploadError.noLocation
        }
        exchanges.context[UploadLocation.self] = url.absoluteURL
        return url.absoluteURL
    }
}

enum UploadLocation: RequestContextKey { typealias Value = URL }

enum UploadError: Error { case noLocation }

enum Studio: RoutedTarget {
    case film(URL, name: String)

    // swift-format-ignore: NeverForceUnwrap
    var baseURL: URL { URL(string: "https://studio.example")! }
    var route: Route {
        switch self {
        case .film(let file, let name): .post("/uploads", .json(["name": name]).driver(TwoStepUpload(file: file)))
        }
    }
}
