// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Authentication: downloads", .throttled, .timeLimit(.minutes(2)))
struct AuthenticatedDownloadTests {
    private struct Numbered: Authenticator {
        func apply(_ credential: String, to request: inout URLRequest) throws {
            request.setValue("Bearer \(credential)", forHTTPHeaderField: "Authorization")
        }
        func refresh(_ credential: String) async throws -> String { credential + "+" }
    }

    @Test("A partial download is continued after a refresh, and begins anew for the next user")
    func refreshed() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        let (alice, bob) = (Data(repeating: 1, count: 2000), Data(repeating: 2, count: 2000))
        let server = try TestServer { request in
            let body = request.headers["Authorization"]?.contains("bob") == true ? bob : alice
            if request.index == 1 { return TestServer.Response(status: 401) }
            guard request.headers["Range"] == nil else {
                let head = ["ETag": "\"1\"", "Content-Range": "bytes 1000-1999/2000", "Content-Length": "1000"]
                return [.head(status: 206, headers: HTTPHeaders(head)), .close]
            }
            let head: HTTPHeaders = ["ETag": "\"1\"", "Content-Length": "2000"]
            return [.head(status: 200, headers: head), .body(body.prefix(request.index == 0 ? 1000 : 2000)), .close]
        }
        let plugin = AuthenticationPlugin(authenticator: Numbered()) { _ in }
        try await plugin.signIn("alice")
        let provider = Provider<MultiTarget>(transport: SystemTransport.patient, plugins: [plugin])
        let target = FileTarget(baseURL: server.baseURL, file: file)
        for _ in 0..<2 { _ = try? await provider.request(MultiTarget(target)) }
        try await plugin.signIn("bob")
        _ = try await provider.request(MultiTarget(target))
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=1000-", "bytes=1000-", nil])
        #expect(server.requests.map { $0.headers["Authorization"] }.last == "Bearer bob")
        #expect(try Data(contentsOf: file) == bob)
    }

    private struct FileTarget: TargetType {
        var baseURL: URL
        var file: URL
        var path: RequestPath { "/file" }
        var task: HTTPTask { .download(to: .file(file).resumable) }
        var validation: StatusValidation { .successCodes }
    }
}
