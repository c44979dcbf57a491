// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("TargetKitError", .throttled)
struct TargetKitErrorTests {
    enum Account: TargetType {
        case login(password: String)
        case me

        var baseURL: URL { URL(string: "https://user:s3cret@h.example/v1?key=s3cret") ?? .example }
        var path: RequestPath { "/login" }
        var headers: HTTPHeaders { ["Authorization": "Bearer s3cret"] }
        var task: HTTPTask { .query(["token": "s3cret"]) }
    }

    struct Leaky: Error { var token = "s3cret" }

    @Test(
        "The description is one line, names target and stage, and holds no secret",
        arguments: TargetKitError.Stage.allCases
    )
    func description(stage: TargetKitError.Stage) throws {
        let target = Account.login(password: "s3cret")
        let error = TargetKitError(
            stage: stage,
            target: target,
            request: try Endpoint(target: target).urlRequest(),
            response: Response(statusCode: 418, data: Data("s3cret".utf8)),
            underlying: Leaky()
        )
        #expect(!error.description.contains("s3cret"))
        #expect(!"\(error)".contains("s3cret"))
        #expect(!error.localizedDescription.contains("s3cret"))
        #expect(!error.description.contains("\n"))
        #expect(error.description.contains("Account.login"))
        #expect(error.description.contains("418"))
        #expect(error.description.contains("https://h.example/v1/login"))
        #expect(error.description.contains("Leaky"))
    }

    @Test("An unaccepted status says that a user and password in the URL aren't sent", arguments: [401, 403, 404])
    func userInURL(status: Int) async throws {
        let url = try #require(URL(string: "https://anna:s3cret@h.example/v1"))
        let transport = StubTransport(.response(status: status, data: Data()))
        let provider = Provider<TestTarget>(transport: transport)
        for (base, isExpected) in [(url, true), (URL.example, false)] {
            let target = TestTarget(base).with { $0.validation = .successCodes }
            let error = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
            let words = "the user and password in the URL aren't sent; use CredentialsPlugin"
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains(words) == isExpected)
            #expect(!text.contains("anna") && !text.contains("s3cret"))
        }
    }

    @Test(
        "The description of any request's error is one line without terminal control characters",
        arguments: ["GE\r\nT", "GE\u{1B}[2JT", "GE\u{2028}T", "GE\u{85}T", "GE\u{9B}2JT"]
    )
    func oneLine(method: String) {
        var request = URLRequest(url: .example)
        request.httpMethod = method
        for underlying in [InvalidRequest.bodyNotAllowed(method: method), .invalidHeaderValue(name: method)] {
            let text = TargetKitError(stage: .request, request: request, underlying: underlying).description
            #expect(text.allSatisfy { !$0.isNewline })
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
            #expect(text.contains("GE"))
        }
    }

    @Test(
        "A file that can't be opened isn't one that can't be written",
        arguments: [
            (URLError.Code.cannotOpenFile, "opened"), (.fileDoesNotExist, "read"), (.cannotWriteToFile, "written"),
        ]
    )
    func fileErrors(code: URLError.Code, verb: String) {
        let error = TargetKitError(stage: .transport, underlying: URLError(code))
        #expect(error.description.contains("the file can't be \(verb)"))
    }

    @Test(
        "The kind says what the failure means",
        arguments: [
            (URLError.Code.notConnectedToInternet, TargetKitError.Kind.offline), (.timedOut, .timedOut),
            (.cannotFindHost, .cannotConnect), (.cannotConnectToHost, .cannotConnect),
            (.networkConnectionLost, .connectionLost), (.badServerResponse, .connectionLost),
            (.secureConnectionFailed, .insecureConnection), (.serverCertificateUntrusted, .insecureConnection),
            (.dataLengthExceedsMaximum, .tooLarge), (.badURL, .invalidRequest), (.unknown, .unknown),
        ]
    )
    func transportKinds(code: URLError.Code, kind: TargetKitError.Kind) {
        #expect(TargetKitError(stage: .transport, underlying: URLError(code)).kind == kind)
    }

    @Test(
        "The kind of a status follows the code",
        arguments: [
            (401, TargetKitError.Kind.unauthorized), (403, .forbidden), (404, .notFound), (410, .notFound),
            (409, .conflict),
            (429, .rateLimited), (418, .client), (500, .server), (503, .server), (302, .unexpectedStatus),
        ]
    )
    func statusKinds(code: Int, kind: TargetKitError.Kind) {
        #expect(TargetKitError(stage: .status, response: Response(statusCode: code)).kind == kind)
    }
}
