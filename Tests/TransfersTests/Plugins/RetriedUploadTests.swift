// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

/// Retries of resumable uploads.
@Suite("Retries: uploads", .throttled, .timeLimit(.minutes(2)))
struct RetriedUploadTests {
    private struct Upload: TargetType {
        var baseURL: URL
        var path: RequestPath { "/" }
        var method: HTTPMethod
        var task: HTTPTask
        var validation: StatusValidation { .successCodes }
    }

    @Test(
        "An upload that the server has processed and rejected is sent again only if its request is safe to repeat",
        arguments: [(HTTPMethod.post, 1), (.put, 3)]
    )
    func rejected(method: HTTPMethod, count: Int) async throws {
        let server = try TestServer { request in
            switch request.method.rawValue {
            case "OPTIONS": .status(204, headers: ["Upload-Limit": "min-size=0"])
            case "HEAD": .status(204, headers: ["Upload-Offset": "9", "Upload-Complete": "?1"])
            case "PATCH" where request.headers["Upload-Complete"] == "?1": .status(503)
            case "PATCH": .status(204, headers: ["Upload-Offset": "5", "Upload-Complete": "?0"])
            default: .status(201, headers: ["Location": "/u/1"])
            }
        }
        let folder = try TemporaryFolder()
        let upload = ResumableUpload.http.chunkSize(5).stateFolder(folder.url)
        let target = Upload(
            baseURL: server.baseURL,
            method: method,
            task: .data(Data("123456789".utf8)).resumable(upload)
        )
        // Each attempt fails, and then asks what the server has.
        let retry = RetryPlugin(policy: RetryPolicy(attempts: 6, baseDelay: .milliseconds(1)))
        let provider = Provider<Upload>(transport: SystemTransport.patient, plugins: [retry])
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(error?.response?.statusCode == 503)
        #expect(server.requests.count { $0.method == method } <= count)
        #expect(server.requests.contains { $0.method.rawValue == "HEAD" })
        if method == .put { #expect(server.requests.count { $0.method == method } > 1) }
    }
}
