// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit
@testable import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server of HTTP's resumable uploads. The request that creates the upload with all of its content is interrupted
/// after the first bytes.
final class HTTPUploadServer: Sendable {
    struct State: Sendable {
        var data = Data()
        var isComplete = false
        var limits: String?
        /// What the server says in its response to OPTIONS.
        var options: HTTPHeaders = ["Upload-Limit": "min-size=0"]
        /// The number of bytes that are stored of the first request.
        var firstPart = 100_000
        var interim: HTTPHeaders = ["Location": "/u/1", "Upload-Draft-Interop-Version": "8"]
    }

    let state = Locked(State())
    let server: TestServer

    var methods: [String] { server.requests.map(\.method.rawValue) }
    var baseURL: URL { server.baseURL }

    init(replace: @escaping @Sendable (TestServer.Request) -> TestServer.Response? = { _ in nil }) throws {
        let state = state
        server = try TestServer { request in replace(request) ?? Self.response(to: request, state) }
    }

    static func response(to request: TestServer.Request, _ state: Locked<State>) -> TestServer.Response {
        state.withLock { state in
            let limits: HTTPHeaders = state.limits.map { ["Upload-Limit": $0] } ?? [:]
            let isLast = request.headers["Upload-Complete"] == "?1"
            switch request.method.rawValue {
            case "OPTIONS":
                return .status(204, headers: state.limits == nil ? state.options : limits)
            case "HEAD":
                let fields: HTTPHeaders = [
                    "Upload-Offset": "\(state.data.count)", "Upload-Complete": state.isComplete ? "?1" : "?0",
                    "Upload-Length": "300000",
                ]
                return .status(204, headers: limits.merging(fields))
            case "PATCH":
                guard request.headers["Upload-Offset"] == "\(state.data.count)" else { return .status(409) }
                state.data.append(request.body)
                state.isComplete = isLast
                if isLast { return .text("done", headers: ["Upload-Complete": "?1"]) }
                return .status(204, headers: ["Upload-Complete": "?0"])
            case "POST", "PUT":
                guard isLast else {
                    // A new upload, also after a rejected one.
                    (state.data, state.isComplete) = (Data(), false)
                    return .status(201, headers: limits.merging(["Location": "/u/1"]))
                }
                state.data = request.body.prefix(state.firstPart)
                return [.head(status: 104, headers: state.interim.merging(limits)), .reset]
            default: return .status(405)
            }
        }
    }
}

@Suite("Uploads: HTTP", .throttled, .timeLimit(.minutes(2)))
struct HTTPUploadTests {
    private static let size = 300_000
    private let fixture: UploadFixture

    init() throws {
        fixture = try UploadFixture(size: Self.size)
    }

    private static let retry = RetryingPlugin { error, context in
        context.isRepeatable && context.attempt < 6 && error.kind == .connectionLost
    }

    /// A transport that does not report interim responses.
    private struct SilentTransport: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try await SystemTransport.patient.send(request)
        }
    }

    @Test(
        "A server that does not know resumable uploads receives the target's request once",
        arguments: [HTTPMethod.post, .put]
    )
    func plain(method: HTTPMethod) async throws {
        let server = try TestServer(response: .text("stored", status: 201))
        let response = try await fixture.provider().request(fixture.target(server.baseURL, .http, method: method))
        #expect(response.statusCode == 201)
        #expect(response.data == Data("stored".utf8))
        #expect(server.requestCount == 1)
        let request = server.requests[0]
        #expect(request.method == method)
        #expect(request.body.whole == fixture.content.whole)
        #expect(request.headers["Upload-Complete"] == "?1")
        #expect(request.headers["Upload-Length"] == "\(Self.size)")
        #expect(request.headers["Upload-Draft-Interop-Version"] == "8")
        #expect(request.headers["Content-Type"] == "video/mp4")
        #expect(!request.isChunked)
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("After an interim response, an interrupted upload is continued with the offset of the server")
    func interrupted() async throws {
        let server = try HTTPUploadServer()
        let target = fixture.target(server.baseURL, .http)
        let response = try await fixture.provider([Self.retry]).request(target)
        #expect(response.data == Data("done".utf8))
        #expect(server.state.withLock(\.data).whole == fixture.content.whole)
        #expect(server.methods == ["POST", "HEAD", "PATCH"])
        let append = server.server.requests[2]
        #expect(append.path == "/u/1")
        #expect(append.headers["Content-Type"] == "application/partial-upload")
        #expect(append.headers["Upload-Offset"] == "100000")
        #expect(append.headers["Upload-Complete"] == "?1")
        #expect(append.bodyByteCount == 200_000)
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("A call that is cancelled while the server receives is continued by another one")
    func cancelled() async throws {
        let state = Locked(HTTPUploadServer.State())
        var options = TestServer.Options()
        let isFirst = Locked(true)
        options.onHead = { request in
            guard request.method == .post,
                isFirst.withLock({ first in
                    defer { first = false }; return first
                })
            else {
                return .readBody
            }
            state.withLock { $0.data = Data() }
            return .response([.head(status: 104, headers: ["Location": "/u/1"]), .hang])
        }
        let server = try TestServer(options: options) { request in HTTPUploadServer.response(to: request, state) }
        let target = fixture.target(server.baseURL, .http)
        let call = Task { try await fixture.provider().request(target) }
        while !fixture.stateNames.contains(where: { $0.hasSuffix(".json") }) { await Task.yield() }
        call.cancel()
        _ = await call.result
        let response = try await fixture.provider().request(target)
        #expect(response.data == Data("done".utf8))
        #expect(state.withLock(\.data).whole == fixture.content.whole)
        #expect(server.requests.map(\.method.rawValue).suffix(2) == ["HEAD", "PATCH"])
    }

    @Test("Parts are sent after a request without content, if the server supports that")
    func careful() async throws {
        let server = try HTTPUploadServer()
        let response = try await fixture.provider()
            .request(fixture.target(server.baseURL, .http.chunkSize(128_000), method: .put))
        #expect(response.data == Data("done".utf8))
        #expect(server.state.withLock(\.data).whole == fixture.content.whole)
        #expect(server.methods == ["OPTIONS", "PUT", "PATCH", "PATCH", "PATCH"])
        let creation = server.server.requests[1]
        #expect(creation.bodyByteCount == 0)
        #expect(creation.headers["Upload-Complete"] == "?0")
        #expect(creation.headers["Content-Type"] == "video/mp4")
        #expect(server.server.requests.dropFirst(2).map { $0.headers["Upload-Complete"] } == ["?0", "?0", "?1"])
    }

    @Test(
        "The response to OPTIONS says whether content can be sent in parts",
        arguments: [
            (["Upload-Limit": "min-size=0"], true), (["Upload-Limit": "max-size=300000, new=1"], true),
            (["Accept-Patch": "text/x, Application/Partial-Upload;q=1"], true),
            (["Upload-Limit": "min-size=300001"], false), (["Upload-Limit": ""], false),
            (["Upload-Limit": "min-size"], false), (["Upload-Limit": "max-size=1.5"], false), ([:], false),
            (["Accept-Patch": "*/*"], false),
        ] as [(HTTPHeaders, Bool)]
    )
    func discovery(options: HTTPHeaders, isSupported: Bool) async throws {
        let server = try HTTPUploadServer { request in
            request.method == .post && request.headers["Upload-Complete"] == nil ? .status(201) : nil
        }
        server.state.withLock { $0.options = options }
        _ = try await fixture.provider().request(fixture.target(server.baseURL, .http.chunkSize(200_000)))
        #expect(server.methods == (isSupported ? ["OPTIONS", "POST", "PATCH", "PATCH"] : ["OPTIONS", "POST"]))
    }

    @Test("A transport without interim responses asks first, and sends a plain upload if the server does not know it")
    func silentTransport() async throws {
        let server = try HTTPUploadServer()
        let provider = fixture.provider(transport: SilentTransport())
        _ = try await provider.request(fixture.target(server.baseURL, .http))
        #expect(server.methods == ["OPTIONS", "POST", "PATCH"])
        #expect(server.state.withLock(\.data).whole == fixture.content.whole)
        let plain = try TestServer { $0.method.rawValue == "OPTIONS" ? .status(405) : .status(200) }
        _ = try await provider.request(fixture.target(plain.baseURL, .http))
        #expect(plain.requests.map(\.method.rawValue) == ["OPTIONS", "POST"])
        #expect(plain.requests[1].body.whole == fixture.content.whole)
        #expect(plain.requests[1].headers["Upload-Complete"] == nil)
    }

    /// A transport that passes requests on, and adds a field to them.
    private struct WrappingTransport: Transport {
        let transport: any Transport
        var reportsInterimResponses: Bool { transport.reportsInterimResponses }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            var request = request
            request.urlRequest.setValue("yes", forHTTPHeaderField: "X-Wrapped")
            return try await transport.send(request)
        }
    }

    @Test("A transport that wraps another one reports its interim responses", arguments: [false, true])
    func wrapped(isTwice: Bool) async throws {
        var transport: any Transport = WrappingTransport(transport: SystemTransport.patient)
        if isTwice { transport = WrappingTransport(transport: transport) }
        let server = try HTTPUploadServer()
        let provider = fixture.provider([Self.retry], transport: transport)
        let response = try await provider.request(fixture.target(server.baseURL, .http))
        #expect(response.data == Data("done".utf8))
        #expect(server.methods == ["POST", "HEAD", "PATCH"])
        #expect(server.server.requests.allSatisfy { $0.headers["X-Wrapped"] == "yes" })
        #expect(server.state.withLock(\.data).whole == fixture.content.whole)
    }

    @Test("The limits of the server determine the size of the parts")
    func limits() async throws {
        let server = try HTTPUploadServer()
        server.state.withLock { $0.limits = "max-append-size=120000, min-append-size=5, x=\"y\", z;a=b" }
        _ = try await fixture.provider([Self.retry]).request(fixture.target(server.baseURL, .http))
        #expect(server.server.requests.map(\.bodyByteCount) == [300_000, 0, 120_000, 80_000])
        #expect(server.state.withLock(\.data).whole == fixture.content.whole)
    }

    @Test("A content that is too large for one request is sent in parts")
    func tooLargeForOne() async throws {
        let isFirst = Locked(true)
        let server = try HTTPUploadServer { request in
            let first = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            return first ? .status(413, headers: ["Upload-Limit": "max-append-size=150000"]) : nil
        }
        let response = try await fixture.provider().request(fixture.target(server.baseURL, .http))
        #expect(response.data == Data("done".utf8))
        #expect(server.methods == ["POST", "POST", "PATCH", "PATCH"])
        #expect(server.state.withLock(\.data).whole == fixture.content.whole)
    }

    @Test("An upload that the server has processed and rejected is not found complete by the next call")
    func rejected() async throws {
        let server = try HTTPUploadServer { request in
            guard request.method == .post else { return nil }
            return [
                .head(status: 104, headers: ["Location": "/u/1"]), .head(status: 422, headers: ["Content-Length": "0"]),
            ]
        }
        let target = fixture.target(server.baseURL, .http)
        for _ in 0..<2 {
            let error = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
            #expect(error?.response?.statusCode == 422)
            #expect(fixture.stateNames.isEmpty)
        }
        #expect(server.methods == ["POST", "POST"])
    }

    @Test(
        "Without an interim response, only a request that may be repeated is",
        arguments: [(HTTPMethod.post, 1), (.put, 7)]
    )
    func unknown(method: HTTPMethod, count: Int) async throws {
        let server = try TestServer(response: .reset)
        let target = fixture.target(server.baseURL, .http, method: method)
        _ = await #expect(throws: TargetKitError.self) { try await fixture.provider([Self.retry]).request(target) }
        #expect(server.requestCount == count)
    }

    @Test("An upload that the server found complete is not sent again")
    func alreadyComplete() async throws {
        let server = try HTTPUploadServer()
        server.state.withLock { $0.firstPart = 300_000 }
        server.state.withLock { $0.isComplete = true }
        let response = try await fixture.provider([Self.retry]).request(fixture.target(server.baseURL, .http))
        #expect(response.statusCode == 204)
        #expect(server.methods == ["POST", "HEAD"])
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("The offset can be the length of an upload that is not complete")
    func allThere() async throws {
        let server = try HTTPUploadServer()
        server.state.withLock { $0.firstPart = 300_000 }
        let response = try await fixture.provider([Self.retry]).request(fixture.target(server.baseURL, .http))
        #expect(response.data == Data("done".utf8))
        #expect(server.methods == ["POST", "HEAD", "PATCH"])
        #expect(server.server.requests[2].bodyByteCount == 0)
        #expect(server.state.withLock(\.data).whole == fixture.content.whole)
    }

    @Test(
        "Interim responses that cannot be used leave a plain upload, or end the call",
        arguments: [
            (["Location": "mailto:a"], false), (["Location": ""], false), ([:], false),
            (["Location": "/u/1", "Upload-Draft-Interop-Version": "3"], false),
            (["Location": "/u/1", "Upload-Limit": "max-size=10"], true),
            (["Location": "/u/1", "Upload-Limit": "min-size=300001"], false),
            (["Location": "/u/1", "Upload-Limit": "max-size=\"10\""], false),
            (["Location": "/u/1", "Upload-Limit": "max-size=1.0"], false),
            (["Location": "/u/1", "Upload-Limit": "max-size=-1"], false),
            (["Location": "/u/1", "Upload-Limit": "max-size"], false),
            (["Location": "/u/1", "Upload-Limit": "=,"], false),
            (["Location": "/u/1", "Upload-Offset": "400000"], false),
            (["Location": "/u/1", "Upload-Offset": "x"], false),
        ] as [(HTTPHeaders, Bool)]
    )
    func interim(headers: HTTPHeaders, isFailure: Bool) async throws {
        let server = try TestServer { _ in
            [.head(status: 104, headers: headers), .head(status: 200, headers: ["Content-Length": "0"])]
        }
        let target = fixture.target(server.baseURL, .http)
        do {
            _ = try await fixture.provider().request(target)
            #expect(!isFailure)
        } catch {
            #expect(isFailure, "\(error)")
            #expect(error.underlying is UploadFailure)
        }
        #expect(server.requestCount == 1)
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("Interim responses with two URLs end the call")
    func twoURLs() async throws {
        let server = try TestServer(
            response: [
                .head(status: 104, headers: ["Location": "/u/1"]), .head(status: 104, headers: ["Location": "/u/2"]),
                .head(status: 200, headers: ["Content-Length": "0"]),
            ]
        )
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider().request(fixture.target(server.baseURL, .http))
        }
        #expect(error?.underlying is UploadFailure)
    }

    struct Row: Sendable {
        var method: String
        var status: Int
        var headers: HTTPHeaders
        var isSuccess: Bool
    }

    private static let rows: [Row] =
        ["", "-1", "5x", "1.0", "9999999999999999", "\"5\"", ":5:", "?1", "(1 2)", "5, 6"].map {
            Row(method: "HEAD", status: 204, headers: ["Upload-Offset": $0, "Upload-Complete": "?0"], isSuccess: false)
        }
        + ["", "1", "true", "?2", "\"?1\""].map {
            Row(
                method: "HEAD",
                status: 204,
                headers: ["Upload-Offset": "100000", "Upload-Complete": $0],
                isSuccess: true
            )
        }
        + ["", "x", "-1", "\"300000\""].map {
            Row(
                method: "HEAD",
                status: 204,
                headers: ["Upload-Offset": "100000", "Upload-Length": $0],
                isSuccess: true
            )
        }
        + ["x=", "max-append-size=a", "MAX=1", ",", "max-append-size=0", "min-append-size=999999999"].map {
            Row(method: "HEAD", status: 200, headers: ["Upload-Offset": "100000", "Upload-Limit": $0], isSuccess: true)
        }
        + [
            Row(method: "HEAD", status: 204, headers: [:], isSuccess: false),
            Row(method: "HEAD", status: 204, headers: ["Upload-Offset": "300001"], isSuccess: false),
            Row(method: "HEAD", status: 204, headers: ["Upload-Offset": "100000;a=1"], isSuccess: true),
            Row(
                method: "HEAD",
                status: 204,
                headers: ["Upload-Offset": "100000", "Upload-Length": "1"],
                isSuccess: false
            ),
            Row(method: "HEAD", status: 403, headers: ["Upload-Offset": "100000"], isSuccess: false),
            Row(method: "HEAD", status: 404, headers: [:], isSuccess: false),
            Row(method: "HEAD", status: 500, headers: [:], isSuccess: false),
            Row(method: "PATCH", status: 200, headers: ["Upload-Complete": "?0"], isSuccess: true),
            Row(method: "PATCH", status: 200, headers: ["Upload-Complete": "1"], isSuccess: true),
            Row(method: "PATCH", status: 200, headers: [:], isSuccess: true),
            Row(method: "PATCH", status: 409, headers: ["Upload-Offset": "100000"], isSuccess: true),
            Row(method: "PATCH", status: 400, headers: [:], isSuccess: false),
            Row(method: "PATCH", status: 422, headers: ["Upload-Complete": "?1"], isSuccess: false),
            Row(method: "PATCH", status: 413, headers: ["Upload-Limit": "max-append-size=100000"], isSuccess: true),
            Row(method: "PATCH", status: 413, headers: ["Upload-Limit": "max-append-size=300000"], isSuccess: false),
            Row(method: "PATCH", status: 413, headers: [:], isSuccess: false),
        ]

    @Test("A malformed response ends in an error, or in the documented fallback", arguments: rows)
    func malformed(row: Row) async throws {
        let isFirst = Locked(true)
        let server = try HTTPUploadServer { request in
            guard request.method.rawValue == row.method else { return nil }
            let first = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            return first ? .status(row.status, headers: row.headers) : nil
        }
        let once = RetryingPlugin { error, context in context.attempt == 0 && context.isRepeatable }
        let target = fixture.target(server.baseURL, .http)
        do {
            _ = try await fixture.provider([once]).request(target)
            #expect(row.isSuccess)
            #expect(server.state.withLock(\.data).whole == fixture.content.whole)
        } catch {
            #expect(!row.isSuccess, "\(error)")
            #expect(error.kind != .unknown)
        }
        #expect(server.methods.count < 12)
    }
}
