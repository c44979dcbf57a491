// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Responses of tus servers that are not as they should be.
@Suite("Uploads: responses of tus", .throttled, .timeLimit(.minutes(2)))
struct TusResponseTests {
    /// How a call with such a response ends.
    enum End: Sendable, Equatable {
        /// The upload succeeds.
        case success
        /// It succeeds after the server was asked for the offset.
        case query
        /// The call fails with a sentence about the response.
        case failure
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let method: String
        let status: Int
        let headers: HTTPHeaders
        let end: End

        init(_ method: String, _ status: Int, _ headers: HTTPHeaders, _ end: End) {
            (self.method, self.status, self.headers, self.end) = (method, status, headers, end)
        }

        var testDescription: String { "\(method) \(status) \(headers.dictionary)" }
    }

    private static let created: HTTPHeaders = ["Location": "/files/1", "Tus-Resumable": "1.0.0"]
    private static let numbers = [
        "", "-1", "+5", "5x", "0x10", "1e3", "1.0", "99999999999999999999", "٣", "5 6", "5, 6", "?1", "\"5\"", " ",
        "NaN",
    ]

    static let rows: [Row] =
        numbers.map { Row("PATCH", 204, ["Upload-Offset": $0], .query) }
        + numbers.map { Row("HEAD", 200, ["Upload-Offset": $0], .failure) }
        + numbers.dropFirst().map { Row("HEAD", 200, ["Upload-Offset": "100000", "Upload-Length": $0], .failure) }
        + numbers.map { Row("OPTIONS", 204, ["Tus-Version": "1.0.0", "Tus-Max-Size": $0], .success) }
        + [
            "", "soon", "Mon, 32 Jan 2026 00:00:00 GMT", "1700000000", "Sun, 06 Nov 1994 08:49:37 GMT",
            "Fri, 31 Dec 9999 23:59:59 GMT",
        ]
        .map { Row("POST", 201, created.merging(["Upload-Expires": $0]), .success) }
        + [
            Row("PATCH", 204, [:], .query),
            Row("PATCH", 204, ["Upload-Offset": "99999"], .failure),
            Row("PATCH", 204, ["Upload-Offset": "200001"], .failure),
            Row("PATCH", 204, ["Upload-Offset": "300001"], .failure),
            Row("PATCH", 200, ["Upload-Offset": "999999999"], .failure),
            Row("HEAD", 200, [:], .failure),
            Row("HEAD", 204, ["Upload-Offset": "300001"], .failure),
            Row("HEAD", 204, ["Upload-Offset": "99999"], .failure),
            Row("HEAD", 204, ["Upload-Offset": "0"], .failure),
            Row("HEAD", 200, ["Upload-Offset": "100000", "Upload-Length": "300001"], .failure),
            Row("HEAD", 200, ["Upload-Offset": "100000", "Upload-Length": "0"], .failure),
            Row("HEAD", 500, ["Upload-Offset": "100000"], .failure),
            Row("HEAD", 302, ["Upload-Offset": "100000"], .failure),
            Row("POST", 201, [:], .failure),
            Row("POST", 201, ["Location": ""], .failure),
            Row("POST", 201, ["Location": "mailto:a@b"], .failure),
            Row("POST", 201, ["Location": "http://"], .failure),
            Row("POST", 201, ["Location": "http:///files/1"], .failure),
            Row("POST", 201, ["Location": "file:///etc/passwd"], .failure),
            Row("POST", 201, ["Location": "javascript:alert(1)"], .failure),
            Row("POST", 201, ["Location": "http://[::1/files"], .failure),
            Row("POST", 200, created, .success),
            Row("POST", 201, created.merging(["Upload-Offset": "7"]), .failure),
            Row("POST", 201, ["Location": "files/1"], .success),
            Row("POST", 201, ["Location": "./x/../../files/1"], .success),
            Row("POST", 201, ["Location": "?upload=1"], .success),
            Row("POST", 400, [:], .failure),
            Row("POST", 404, [:], .failure),
            Row("POST", 412, ["Tus-Version": "0.2.0"], .failure),
            Row("POST", 413, [:], .failure),
            Row("POST", 413, ["Tus-Max-Size": "x"], .failure),
            Row("POST", 500, [:], .failure),
            Row("POST", 303, ["Location": "/files/1"], .failure),
            Row("OPTIONS", 503, [:], .failure),
            Row("OPTIONS", 401, [:], .failure),
            Row("OPTIONS", 429, [:], .failure),
            Row("OPTIONS", 412, ["Tus-Version": "0.2.0"], .failure),
            Row("OPTIONS", 200, ["Tus-Version": ""], .success),
            Row("OPTIONS", 200, ["Tus-Resumable": "1.0.0"], .success),
            Row("OPTIONS", 200, ["Tus-Version": "0.9, 1.0.0"], .success),
            Row("OPTIONS", 200, ["Tus-Version": "1.0.0", "Tus-Extension": ""], .failure),
            Row("OPTIONS", 200, ["Tus-Version": "1.0.0", "Tus-Extension": "Creation"], .success),
            Row(
                "OPTIONS",
                200,
                ["Tus-Version": "1.0.0", "Tus-Extension": "creation,checksum", "Tus-Checksum-Algorithm": "crc32,"],
                .success
            ),
            Row("OPTIONS", 200, ["Tus-Version": "1.0.0", "Tus-Max-Size": "300000"], .success),
            Row("OPTIONS", 200, ["Tus-Version": "1.0.0", "Tus-Max-Size": "0"], .success),
        ]

    @Test("A malformed response ends in an error, or in the documented fallback", arguments: rows)
    func malformed(row: Row) async throws {
        let fixture = try UploadFixture(size: 300_000)
        let used = Locked(false)
        let state = Locked(TusServer.State())
        let server = try TestServer { request in
            let path = request.path
            // The second part, or the question after it.
            let isMeant =
                switch row.method {
                case "PATCH": request.method == .patch && request.headers["Upload-Offset"] == "100000"
                default: request.method.rawValue == row.method
                }
            let isFirst =
                isMeant
                && used.withLock { used in
                    defer { used = true }
                    return !used
                }
            if isFirst, row.method == "POST" || row.method == "PATCH" {
                // What the response is about has happened.
                var request = request
                if row.method == "PATCH" { request.target = "/files/1" }
                _ = TusServer.response(to: request, state)
            }
            if isFirst { return .status(row.status, headers: row.headers) }
            if row.method == "HEAD", request.method == .patch, request.headers["Upload-Offset"] == "100000",
                !used.withLock(\.self)
            {
                return .status(409)
            }
            var request = request
            if request.method != .post, request.method.rawValue != "OPTIONS", path != "/files/1" {
                request.target = "/files/1"
            }
            return TusServer.response(to: request, state)
        }
        let provider = fixture.provider()
        let target = fixture.target(server.baseURL, .tus.chunkSize(100_000))
        do {
            _ = try await provider.request(target)
            #expect(row.end != .failure)
            let content = state.withLock { $0.uploads["/files/1"]?.data }
            #expect(content?.whole == fixture.content.whole)
            #expect(server.requests.contains { $0.method.rawValue == "HEAD" } == (row.end == .query))
        } catch {
            #expect(row.end == .failure, "\(error)")
            #expect(error.kind != .unknown)
            #expect(!"\(error)".isEmpty)
        }
        #expect(server.requestCount < 20)
    }

    @Test(
        "A server that answers no request in a useful way does not keep the call forever",
        arguments: [
            TestServer.Response.status(204), .status(200, headers: ["Tus-Resumable": "1.0.0"]),
            .status(201, headers: ["Tus-Resumable": "1.0.0", "Location": "/files/1", "Upload-Offset": "0"]),
            .status(409, headers: ["Tus-Resumable": "1.0.0", "Location": "/files/1", "Upload-Offset": "0"]),
            .status(404, headers: ["Tus-Resumable": "1.0.0", "Location": "/files/1"]),
        ]
    )
    func useless(response: TestServer.Response) async throws {
        let fixture = try UploadFixture(size: 1000)
        let server = try TestServer(response: response)
        _ = try? await fixture.provider().request(fixture.target(server.baseURL, .tus))
        #expect(server.requestCount < 20)
    }
}
