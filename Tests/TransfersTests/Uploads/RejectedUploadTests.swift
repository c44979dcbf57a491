// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit
import TargetKitTransfers

/// Uploads that a server has received completely and then answers with an error.
@Suite("Uploads: HTTP, rejected", .throttled, .timeLimit(.minutes(2)))
struct RejectedUploadTests {
    private let fixture: UploadFixture

    init() throws {
        fixture = try UploadFixture(size: 300_000)
    }

    private static let retry = RetryingPlugin { _, context in context.isRepeatable && context.attempt < 6 }

    /// The description of an upload that is complete.
    private static let whole = TestServer.Response.status(
        204,
        headers: ["Upload-Offset": "300000", "Upload-Complete": "?1"]
    )

    /// A server that has the whole content and then responds with an error; to later requests with the content, with a
    /// success.
    private func server(status: Int, errors: Int = .max) throws -> HTTPUploadServer {
        let count = Locked(0)
        let server = try HTTPUploadServer { request in
            guard request.method == .post, request.headers["Upload-Complete"] == "?1" else { return nil }
            let isError = count.withLock { count in
                count += 1
                return count <= errors
            }
            guard isError else { return .text("stored") }
            return [
                .head(status: 104, headers: ["Location": "/u/1", "Upload-Draft-Interop-Version": "8"]),
                .head(status: status, headers: ["Content-Length": "3"]), .body(Data("why".utf8)),
            ]
        }
        server.state.withLock { $0.isComplete = true }
        return server
    }

    @Test(
        "A retry that finds an upload complete returns the error that the server responded with, and sends nothing again",
        arguments: [500, 502, 503, 403, 429]
    )
    func retried(status: Int) async throws {
        let server = try server(status: status)
        let target = fixture.target(server.baseURL, .http)
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider([Self.retry]).request(target)
        }
        #expect(error?.response?.statusCode == status)
        #expect(error?.response?.data == Data("why".utf8))
        #expect(server.methods == ["POST", "HEAD"])
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("A later call sends a rejected upload again, although the server has it", arguments: [500, 503, 403])
    func laterCall(status: Int) async throws {
        let server = try server(status: status, errors: 1)
        let target = fixture.target(server.baseURL, .http)
        _ = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        let response = try await fixture.provider().request(target)
        #expect(response.data == Data("stored".utf8))
        #expect(server.methods == ["POST", "HEAD", "POST"])
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("A request that is safe to repeat is sent again by the same call, also in parts", arguments: [false, true])
    func idempotent(isInParts: Bool) async throws {
        let count = Locked(0)
        let server = try HTTPUploadServer { request in
            if request.method.rawValue == "HEAD" { return Self.whole }
            guard request.headers["Upload-Complete"] == "?1" else { return nil }
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number > 1 { return .text("stored", headers: ["Upload-Complete": "?1"]) }
            if request.method == .patch { return .status(500) }
            return [
                .head(status: 104, headers: ["Location": "/u/1"]), .head(status: 500, headers: ["Content-Length": "0"]),
            ]
        }
        let upload = isInParts ? ResumableUpload.http.chunkSize(200_000) : .http
        let target = fixture.target(server.baseURL, upload, method: .put)
        let response = try await fixture.provider([Self.retry]).request(target)
        #expect(response.data == Data("stored".utf8))
        #expect(count.withLock(\.self) == 2)
        let parts = ["OPTIONS", "PUT", "PATCH", "PATCH"]
        #expect(server.methods == (isInParts ? parts + ["HEAD"] + parts : ["PUT", "HEAD", "PUT"]))
    }

    @Test("A POST in parts whose last part is rejected isn't begun again by the same call", arguments: [false, true])
    func parts(saysComplete: Bool) async throws {
        let server = try HTTPUploadServer { request in
            if request.method.rawValue == "HEAD" { return Self.whole }
            guard request.headers["Upload-Complete"] == "?1" else { return nil }
            return .status(500, headers: saysComplete ? ["Upload-Complete": "?1"] : [:])
        }
        let target = fixture.target(server.baseURL, .http.chunkSize(200_000))
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider([Self.retry]).request(target)
        }
        #expect(error?.response?.statusCode == 500)
        #expect(server.methods == ["OPTIONS", "POST", "PATCH", "PATCH"] + (saysComplete ? [] : ["HEAD"]))
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("An upload that an error has interrupted is continued")
    func interrupted() async throws {
        let server = try HTTPUploadServer { request in
            guard request.method == .post else { return nil }
            return [
                .head(status: 104, headers: ["Location": "/u/1"]), .head(status: 503, headers: ["Content-Length": "0"]),
            ]
        }
        server.state.withLock { $0.data = fixture.content.prefix(100_000) }
        let response = try await fixture.provider([Self.retry]).request(fixture.target(server.baseURL, .http))
        #expect(response.data == Data("done".utf8))
        #expect(server.methods == ["POST", "HEAD", "PATCH"])
    }

    @Test("An upload that the server removes after it has rejected it ends with the server's error")
    func removed() async throws {
        let server = try HTTPUploadServer { request in
            if request.method.rawValue == "HEAD" { return .status(404) }
            return [
                .head(status: 104, headers: ["Location": "/u/1"]), .head(status: 500, headers: ["Content-Length": "0"]),
            ]
        }
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider([Self.retry]).request(fixture.target(server.baseURL, .http))
        }
        #expect(error?.response?.statusCode == 500)
        #expect(server.methods == ["POST", "HEAD"])
    }
}
