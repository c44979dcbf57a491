// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitTesting
import TargetKitTransfers
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server refuses a download or a stream in the body of a response with an accepted status.
@Suite("Refusals in the place of a file or a stream", .throttled, .timeLimit(.minutes(2)))
struct RefusedContentTests {
    /// How the content is received.
    enum Delivery: String, CaseIterable, Sendable {
        case whole, resumable, segments, chosen, stream, events

        var isFile: Bool { self != .stream && self != .events }
    }

    /// What reports that the body is a failure.
    enum Sign: String, CaseIterable, Sendable {
        case envelope, ownEnvelope, authentication, signOut

        var body: String { self == .ownEnvelope ? #"{"fault":"gone"}"# : #"{"code":401,"msg":"sign in"}"# }
    }

    private struct Texts: ResponseEnvelope {
        func payload(of response: Response) throws -> Data? {
            if let fault = try response.json().fault.string { throw ServerDefinedError(code: fault, message: "") }
            return nil
        }
    }

    private let folder: TemporaryFolder
    private let file: URL
    private let signOuts = Recorder<Bool>()
    private static let content = Data("data: the content\n\n".utf8)

    init() throws {
        folder = try TemporaryFolder()
        file = try folder.file("report.pdf", Data("old".utf8))
    }

    private func target(_ delivery: Delivery, _ url: URL) -> PluginTarget {
        let file = file
        let destination: DownloadDestination? =
            switch delivery {
            case .whole: .file(file)
            case .resumable: .file(file).resumable
            case .segments: .file(file).segments(3)
            case .chosen: .choose { _, _ in file }
            case .stream, .events: nil
            }
        return PluginTarget(
            baseURL: url,
            task: destination.map { .download(to: $0) } ?? .plain,
            headers: ["Authorization": "Bearer own"],
            validation: .successCodes
        )
    }

    private func plugins(_ sign: Sign) -> [any Plugin] {
        switch sign {
        case .envelope, .ownEnvelope: []
        case .authentication: [CodeAuthenticator.plugin]
        case .signOut: [UnauthorizedPlugin(bodyCodes: [.signIn]) { [signOuts] _ in signOuts.append(true) }]
        }
    }

    private func options(_ sign: Sign) -> CallOptions {
        switch sign {
        case .envelope: .setting(\.envelope, CodeMessageData(unauthorized: [401]))
        case .ownEnvelope: .setting(\.envelope, Texts())
        case .authentication, .signOut: CallOptions()
        }
    }

    /// Receives the content. Returns the bytes of the file or the stream.
    private func receive(
        _ delivery: Delivery,
        _ target: PluginTarget,
        _ provider: Provider<PluginTarget>,
        options: CallOptions = CallOptions()
    ) async -> Result<Data, TargetKitError> {
        do {
            switch delivery {
            case .stream:
                var data = Data()
                let stream = try await provider.stream(target, options: options)
                #expect(stream.response.data.isEmpty)
                for try await piece in stream { data.append(piece) }
                return .success(data)
            case .events:
                for try await event in provider.serverSentEvents(for: target, options: options) {
                    return .success(Data("data: \(event.data)\n\n".utf8))
                }
                return .success(Data())
            default:
                _ = try await provider.request(target, options: options)
                return .success(try Data(contentsOf: file))
            }
        } catch {
            guard let error = error as? TargetKitError else {
                Issue.record(error)
                return .success(Data())
            }
            return .failure(error)
        }
    }

    private static func response(_ body: String, _ type: String = "application/json") -> TestServer.Response {
        TestServer.Response(headers: ["Content-Type": type, "ETag": "\"1\""], body: Data(body.utf8))
    }

    private static var good: TestServer.Response {
        TestServer.Response(headers: ["Content-Type": "text/event-stream", "ETag": "\"1\""], body: content)
    }

    @Test(
        "A body that is the envelope's failure or has a code fails the call, and replaces no file",
        arguments: Delivery.allCases,
        Sign.allCases
    )
    func refused(_ delivery: Delivery, _ sign: Sign) async throws {
        let server = try TestServer { _ in Self.response(sign.body, "application/json; charset=utf-8") }
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient, plugins: plugins(sign))
        let target = target(delivery, server.baseURL)
        let result = await receive(delivery, target, provider, options: options(sign))
        let error = try #require(result.failure)
        #expect(error.stage == .envelope)
        #expect(error.kind == (sign == .ownEnvelope ? .rejected : .unauthorized))
        #expect(error.response?.statusCode == 200)
        #expect(error.response?.data == Data(sign.body.utf8))
        if sign == .envelope {
            #expect((error.underlying as? ServerDefinedError)?.code == "401")
            #expect(error.text(in: .english) == "sign in")
        }
        #expect(signOuts.count == (sign == .signOut ? 1 : 0))
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(folder.names == ["report.pdf"])
    }

    @Test("A token that the body rejects is refreshed, and the content requested again", arguments: Delivery.allCases)
    func refreshed(_ delivery: Delivery) async throws {
        let server = try TestServer { request in
            request.headers["Authorization"] == Token(1).field ? Self.response(#"{"code":401}"#) : Self.good
        }
        let plugin = AuthenticationPlugin(authenticator: CodeAuthenticator()) { _ in }
        try await plugin.signIn(Token(1))
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient, plugins: [plugin])
        let result = await receive(delivery, target(delivery, server.baseURL), provider)
        #expect(try result.get() == Self.content)
        #expect(server.requests.map { $0.headers["Authorization"] } == [Token(1).field, Token(2).field])
    }

    @Test("The envelope's code refreshes the token of a download, without codes of the authenticator")
    func refreshedByEnvelope() async throws {
        let server = try TestServer { request in
            request.headers["Authorization"] == Token(1).field ? Self.response(#"{"code":401}"#) : Self.good
        }
        let plugin = AuthenticationPlugin(authenticator: TokenAuthenticator()) { _ in }
        try await plugin.signIn(Token(1))
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient, plugins: [plugin])
        let result = await receive(.whole, target(.whole, server.baseURL), provider, options: options(.envelope))
        #expect(try result.get() == Self.content)
    }

    /// A body that is content like any other.
    enum Content: String, CaseIterable, Sendable {
        case otherJSON, success, large, otherType, noType, list, invalid

        var body: String {
            switch self {
            case .otherJSON: #"{"name":"tea","status":"ok"}"#
            case .success: #"{"code":0,"data":{"name":"tea"}}"#
            case .large: #"{"code":401,"text":""# + String(repeating: "a", count: 1 << 20) + #""}"#
            case .list: #"[{"code":401}]"#
            case .invalid: #"{"code":"#
            case .otherType, .noType: #"{"code":401}"#
            }
        }

        var type: String? {
            switch self {
            case .otherType: "application/pdf"
            case .noType: nil
            default: "application/json"
            }
        }
    }

    @Test(
        "A JSON document that isn't a failure is content like any other",
        arguments: Delivery.allCases.filter { $0 != .events },
        Content.allCases
    )
    func content(_ delivery: Delivery, _ content: Content) async throws {
        let server = try TestServer { _ in
            var headers: HTTPHeaders = ["ETag": "\"1\""]
            headers[.contentType] = content.type
            return TestServer.Response(headers: headers, body: Data(content.body.utf8))
        }
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient, plugins: plugins(.signOut))
        let target = target(delivery, server.baseURL)
        let result = await receive(delivery, target, provider, options: options(.envelope))
        #expect(try result.get() == Data(content.body.utf8))
        #expect(signOuts.count == 0)
    }

    @Test("A part of a JSON document that the target requested is never a failure")
    func range() async throws {
        let body = Data(#"{"code":401}"#.utf8)
        let server = try TestServer { _ in
            TestServer.Response(
                status: 206,
                headers: ["Content-Type": "application/json", "Content-Range": "bytes 0-11/12"],
                body: body
            )
        }
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient)
        let target = target(.whole, server.baseURL).with { $0.headers["Range"] = "bytes=0-11" }
        let result = await receive(.whole, target, provider, options: options(.envelope))
        #expect(try result.get() == body)
    }

    @Test("A refusal of the rest of a download leaves the stored bytes, which continue after the refresh")
    func rest() async throws {
        let whole = Data(repeating: 7, count: 2000)
        let server = try TestServer { request in
            switch request.index {
            case 0:
                return [
                    .head(status: 200, headers: ["ETag": "\"1\"", "Content-Length": "2000"]),
                    .body(whole.prefix(1000)), .close,
                ]
            case 1: return Self.response(#"{"code":401}"#)
            default:
                let head: HTTPHeaders = [
                    "ETag": "\"1\"", "Content-Range": "bytes 1000-1999/2000", "Content-Length": "1000",
                ]
                return [.head(status: 206, headers: head), .body(whole.suffix(1000)), .close]
            }
        }
        let plugin = AuthenticationPlugin(authenticator: CodeAuthenticator()) { _ in }
        try await plugin.signIn(Token(1))
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient, plugins: [plugin])
        let target = target(.resumable, server.baseURL)
        #expect(await receive(.resumable, target, provider).failure != nil)
        let result = await receive(.resumable, target, provider)
        #expect(try result.get() == whole)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=1000-", "bytes=1000-"])
    }

    @Test("The refusal of an event stream can arrive without a length", arguments: [#"{"code":401}"#, #"{"a":1}"#])
    func chunkedEvents(body: String) async throws {
        let server = try TestServer { _ in Self.chunks(body) }
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient)
        let target = target(.events, server.baseURL)
        let error = await receive(.events, target, provider, options: options(.envelope)).failure
        #expect(error?.stage == (body.contains("code") ? .envelope : .decoding))
    }

    @Test(
        "A stream without a length is checked for a refusal only if its request accepts events",
        arguments: [("text/event-stream", true), ("Text/Event-Stream; q=1", true), ("application/json", false)]
    )
    func chunkedStream(accept: String, isChecked: Bool) async throws {
        let server = try TestServer { _ in Self.chunks(#"{"code":401}"#) }
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient)
        let target = target(.stream, server.baseURL).with { $0.headers["Accept"] = accept }
        let result = await receive(.stream, target, provider, options: options(.envelope))
        #expect(result.failure?.stage == (isChecked ? .envelope : nil))
    }

    private static func chunks(_ body: String) -> TestServer.Response {
        [
            .head(status: 200, headers: ["Content-Type": "application/json", "Transfer-Encoding": "chunked"]),
            .body(Data("\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n".utf8)),
        ]
    }

    @Test("The envelope explains a status that a stream or a download doesn't accept", arguments: Delivery.allCases)
    func status(_ delivery: Delivery) async throws {
        let server = try TestServer { _ in
            TestServer.Response(
                status: 403,
                headers: ["Content-Type": "application/json"],
                body: Data(#"{"code":9,"msg":"not yours"}"#.utf8)
            )
        }
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient)
        let target = target(delivery, server.baseURL)
        let error = try #require(await receive(delivery, target, provider, options: options(.envelope)).failure)
        #expect(error.kind == .forbidden)
        #expect(error.text(in: .english) == "not yours")
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test("A call is cancelled while a body arrives that may be a failure", arguments: Delivery.allCases)
    func cancelled(_ delivery: Delivery) async throws {
        let server = try TestServer { _ in
            [
                .head(status: 200, headers: ["Content-Type": "application/json", "Content-Length": "100"]),
                .body(Data(#"{"code":"#.utf8)), .hang,
            ]
        }
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient)
        let target = target(delivery, server.baseURL)
        let call = Task { await receive(delivery, target, provider, options: options(.envelope)) }
        _ = try await server.request(at: 0)
        call.cancel()
        #expect(await call.value.failure?.stage == .cancelled)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test("A small JSON stream whose connection is lost fails like any other")
    func lost() async throws {
        let server = try TestServer { _ in
            [
                .head(status: 200, headers: ["Content-Type": "application/json", "Content-Length": "100"]),
                .body(Data(#"{"code":"#.utf8)), .close,
            ]
        }
        let provider = Provider<PluginTarget>(transport: SystemTransport.patient)
        let target = target(.stream, server.baseURL)
        let error = await receive(.stream, target, provider, options: options(.envelope)).failure
        #expect(error?.stage == .transport)
        #expect(error?.kind == .connectionLost)
    }
}
