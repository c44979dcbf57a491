// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

/// The snippets of the page about uploads, compiled and run.
@Suite("Page: Uploads", .throttled, .timeLimit(.minutes(2)))
struct UploadsPageTests {
    @Test("An upload is created, and its URL is in the response")
    func uploads() async throws {
        let fixture = try UploadFixture(size: 1000)
        let (file, tus) = (fixture.file, try TusServer())
        let provider = Provider<Studio>(transport: RewritingTransport(server: tus.baseURL))
        let response = try await provider.request(.film(file, name: "tea.mp4"))
        print(response.headers["Location"] ?? "no URL")
        #expect(response.headers["Location"] == "https://studio.example/files/1")
        #expect(tus.content?.whole == fixture.content.whole)
    }

    @Test("A server without resumable uploads receives the request itself")
    func backup() async throws {
        let fixture = try UploadFixture(size: 1000)
        let server = try TestServer(response: .status(201))
        let provider = Provider<Studio>(transport: RewritingTransport(server: server.baseURL))
        #expect(try await provider.request(.backup(fixture.file)).statusCode == 201)
        #expect(server.requests.last?.body.whole == fixture.content.whole)
    }

    @Test("Every line of Swift on the page is a line of this file")
    func everySnippetIsHere() throws {
        let known = try DocumentationPage.lines(at: "Tests/TransfersTests/Pages/UploadsPageTests.swift")
        let lines = try DocumentationPage("Sources/Transfers/TargetKitTransfers.docc/Uploads.md").lines()
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(known.contains(line), "\(line)")
        }
    }
}

/// Sends what is for the page's server to another one.
private struct RewritingTransport: Transport {
    let server: URL

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var request = request
        request.urlRequest.url = request.urlRequest.url.map { server.appendingPathComponent($0.path) }
        return try await SystemTransport.patient.send(request)
    }
}

private let server = URL(string: "https://studio.example") ?? URL(filePath: "/")

enum Studio: RoutedTarget {
    case film(URL, name: String)
    case backup(URL)

    var baseURL: URL { server }

    var route: Route {
        switch self {
        case .film(let file, let name):
            .post("/files", .upload(file: file).resumable(.tus.metadata(["filename": name])))
        case .backup(let file): .put("/backup", .upload(file: file).resumable(.http))
        }
    }
}
