// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

import class TargetKitMoya.MoyaProvider
import enum TargetKitMoya.Moya
import enum TargetKitMoya.MoyaError
import struct TargetKitMoya.LegacyPlugin
import struct TargetKitMoya.LegacyTarget
import struct TargetKitMoya.MigratedTarget

/// A target of TargetKit beside Moya's.
private struct NewCall: TargetKit.TargetType {
    var baseURL: URL
    var path: RequestPath { "/echo/new" }
    var headers: TargetKit.HTTPHeaders { ["X-New": "1"] }
}

/// A plugin of TargetKit that records its hooks.
private struct NewPlugin: Plugin {
    let log: Log

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        log.append("new prepare")
        var request = request
        request.setValue("new", forHTTPHeaderField: "X-Plugin")
        return request
    }

    func process(
        _ result: Result<TargetKit.Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<TargetKit.Response, TargetKitError> {
        log.append("new process")
        return result
    }
}

@Suite("The way to TargetKit", .throttled, .timeLimit(.minutes(1)))
struct MigrationTests {
    private let server: EchoServer

    init() throws {
        server = try EchoServer()
    }

    @Test("The provider below makes awaited calls with the closures and plugins of the one above")
    func targetKit() async throws {
        let log = Log()
        let provider = MoyaProvider<Call>(
            requestClosure: { endpoint, done in
                guard var request = try? endpoint.urlRequest() else { return done(.failure(.requestMapping(""))) }
                request.setValue("closure", forHTTPHeaderField: "X-Set-By")
                done(.success(request))
            },
            plugins: [RecordingPlugin("1", log: log), RecordingPlugin("2", log: log)]
        )
        let call = Call(baseURL: server.baseURL, method: .post, task: .requestJSONEncodable(["a": 1]))
        let received = try await provider.targetKit.request(LegacyTarget(call), as: EchoServer.Received.self)
        #expect(received.method == "POST")
        #expect(received.body == #"{"a":1}"#)
        #expect(received.headers["x-set-by"] == "closure")
        #expect(received.headers["x-prepared2"] == "yes")
        #expect(
            log.lines == [
                "prepare1", "prepare2", "willSend1", "willSend2", "didReceive1", "didReceive2", "process1", "process2",
            ]
        )
    }

    @Test("The provider below is the same each time")
    func identity() {
        let provider = MoyaProvider<Call>()
        #expect(provider.targetKit === provider.targetKit)
    }

    @Test("The provider below applies stubs, validation and errors")
    func stubs() async throws {
        let stubbed = MoyaProvider<Call>(stubClosure: MoyaProvider.immediatelyStub)
        #expect(try await stubbed.targetKit.request(LegacyTarget(Call())).data == Data("sample".utf8))
        let provider = MoyaProvider<Call>()
        let call = Call(baseURL: server.baseURL, path: "/status/404", validationType: .successCodes)
        do {
            _ = try await provider.targetKit.request(LegacyTarget(call))
            Issue.record("404 was accepted")
        } catch {
            #expect(error.stage == .status)
            #expect(error.response?.statusCode == 404)
        }
    }

    @Test("The provider below streams")
    func stream() async throws {
        let provider = MoyaProvider<Call>()
        var count = 0
        let call = LegacyTarget(Call(baseURL: server.baseURL, path: "/bytes/70000"))
        for try await part in try await provider.targetKit.stream(call) { count += part.count }
        #expect(count == 70000)
    }

    @Test("A form and a file of an old target are sent by awaited calls")
    func bodies() async throws {
        let folder = try TestFolder()
        let file = try folder.file("a.txt", "contents")
        let provider = MoyaProvider<Call>()
        let upload = Call(baseURL: server.baseURL, method: .put, task: .uploadFile(file))
        #expect(
            try await provider.targetKit.request(LegacyTarget(upload), as: EchoServer.Received.self).body == "contents"
        )
        let form = Call(
            baseURL: server.baseURL,
            method: .post,
            task: .uploadMultipart([.init(provider: .data(Data("x".utf8)), name: "n")])
        )
        let received = try await provider.targetKit.request(LegacyTarget(form), as: EchoServer.Received.self)
        #expect(received.headers["content-type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(received.body.contains("name=\"n\"\r\n\r\nx\r\n"))
    }

    @Test("New plugins run in old providers, also for stubbed calls", arguments: [true, false])
    func newPlugins(isStubbed: Bool) async throws {
        let log = Log()
        let provider = MoyaProvider<Call>(
            stubClosure: { _ in isStubbed ? .immediate : .never },
            plugins: [RecordingPlugin(log: log)],
            targetKitPlugins: [NewPlugin(log: log)]
        )
        let result = await provider.result(of: Call(baseURL: server.baseURL))
        #expect(result.response?.request?.value(forHTTPHeaderField: "X-Plugin") == "new")
        #expect(log.lines == ["prepare", "new prepare", "willSend", "new process", "didReceive", "process"])
    }

    @Test("Old plugins run in new providers, with the new target in their hands")
    func oldPlugins() async throws {
        let log = Log()
        let provider = Provider<NewCall>(plugins: [LegacyPlugin(RecordingPlugin(log: log))])
        let received = try await provider.request(NewCall(baseURL: server.baseURL), as: EchoServer.Received.self)
        #expect(received.path == "/echo/new")
        #expect(received.headers["x-prepared"] == "yes")
        #expect(log.lines == ["prepare", "willSend", "didReceive", "process"])
        let target = MigratedTarget(target: NewCall(baseURL: server.baseURL))
        #expect(target.path == "/echo/new")
        #expect(target.method == .get)
        #expect(target.headers == ["X-New": "1"])
        #expect(target.baseURL == server.baseURL)
    }

    /// Replaces each result.
    private struct Replacing: Moya.PluginType {
        let isFailure: Bool

        func process(
            _ result: Result<Moya.Response, MoyaError>,
            target: any Moya.TargetType
        ) -> Result<Moya.Response, MoyaError> {
            isFailure
                ? .failure(.requestMapping("replaced"))
                : .success(Moya.Response(statusCode: 299, data: Data("new".utf8)))
        }
    }

    @Test("An old plugin can replace the result of a new provider", arguments: [true, false])
    func replacing(isFailure: Bool) async throws {
        let provider = Provider<NewCall>(plugins: [LegacyPlugin(Replacing(isFailure: isFailure))])
        do {
            let response = try await provider.request(NewCall(baseURL: server.baseURL))
            #expect(!isFailure)
            #expect(response.statusCode == 299)
            #expect(response.data == Data("new".utf8))
        } catch {
            #expect(isFailure)
            guard case .requestMapping("replaced")? = error.appError as? MoyaError else {
                Issue.record("not the plugin's error")
                return
            }
        }
    }
}
