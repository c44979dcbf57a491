// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A status that isn't accepted decides the kind. With an accepted status, the envelope decides.
@Suite("Envelope: the kind of a failure", .throttled, .timeLimit(.minutes(2)))
struct EnvelopeKindTests {
    private static let envelope = CallOptions.setting(\.envelope, CodeMessageData(unauthorized: [401, 40101]))

    private static func failure(
        _ status: Int,
        _ body: String,
        _ validation: StatusValidation = .successCodes,
        options: CallOptions = envelope,
        asValue: Bool = true
    ) async -> TargetKitError? {
        let sample = SampleResponse.response(status: status, data: Data(body.utf8))
        let target = PluginTarget(validation: validation, sampleResponse: sample)
        let provider = Provider<PluginTarget>(stubClosure: { _ in .immediate })
        do throws(TargetKitError) {
            if asValue {
                _ = try await provider.request(target, as: JSONValue.self, options: options)
            } else {
                _ = try await provider.request(target, options: options)
            }
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "A status that isn't accepted decides the kind, and the envelope gives the text and the code",
        arguments: [
            (400, TargetKitError.Kind.client), (401, .unauthorized), (403, .forbidden), (404, .notFound),
            (409, .conflict), (410, .notFound), (412, .conflict), (422, .client), (429, .rateLimited), (500, .server),
            (503, .server), (302, .unexpectedStatus),
        ]
    )
    func rejectedStatus(status: Int, kind: TargetKitError.Kind) async throws {
        let bodies = [#"{"code":7,"msg":"no tea"}"#, #"{"code":401,"msg":"no tea"}"#, #"{"code":7}"#, "{}", ""]
        for (body, asValue) in bodies.flatMap({ [($0, true), ($0, false)] }) {
            let error = try #require(await Self.failure(status, body, asValue: asValue))
            #expect(error.kind == kind)
            #expect(error.rejectedStatusCode == status)
            #expect(error.response?.statusCode == status)
            let refusal = error.underlying as? ServerDefinedError
            #expect(error.stage == (body.contains("code") ? .envelope : .status))
            #expect((refusal != nil) == body.contains("code"))
            guard !body.contains("no tea") else {
                #expect(error.text(in: .english) == "no tea")
                continue
            }
            // The sentences are those of the status.
            let plain = try #require(await Self.failure(status, "", options: CallOptions()))
            for piece in ErrorTexts.Piece.allCases {
                #expect(error.text(piece, in: .english) == plain.text(piece, in: .english))
            }
        }
    }

    @Test(
        "With an accepted status, the codes that the envelope names are unauthorized, and others are rejected",
        arguments: [
            (#"{"code":401}"#, TargetKitError.Kind.unauthorized), (#"{"code":"401"}"#, .unauthorized),
            (#"{"code":401.0}"#, .unauthorized), (#"{"code":40101,"msg":"sign in"}"#, .unauthorized),
            (#"{"code":403}"#, .rejected), (#"{"code":4010}"#, .rejected),
        ]
    )
    func acceptedStatus(body: String, kind: TargetKitError.Kind) async throws {
        let plain = CallOptions.setting(\.envelope, CodeMessageData())
        for status in [200, 201, 401, 500] {
            for asValue in [true, false] {
                let error = try #require(await Self.failure(status, body, .none, asValue: asValue))
                #expect(error.stage == .envelope)
                #expect(error.kind == kind)
                #expect(error.rejectedStatusCode == nil)
            }
            #expect(await Self.failure(status, body, .none, options: plain)?.kind == .rejected)
        }
    }

    private struct Texts: ResponseEnvelope {
        func payload(of response: Response) throws -> Data? {
            let fault = try response.json().fault.string
            guard let fault else { return response.data }
            throw ServerDefinedError(code: fault, message: "", isUnauthorized: fault == "EXPIRED")
        }
    }

    @Test("An app's own envelope names the unauthorized codes, and codes can be texts")
    func ownEnvelope() async {
        let own = CallOptions.setting(\.envelope, Texts())
        #expect(await Self.failure(200, #"{"fault":"EXPIRED"}"#, options: own)?.kind == .unauthorized)
        #expect(await Self.failure(200, #"{"fault":"OTHER"}"#, options: own)?.kind == .rejected)
        let texts = CallOptions.setting(\.envelope, CodeMessageData(unauthorized: ["A0230"]))
        #expect(await Self.failure(200, #"{"code":"A0230"}"#, options: texts)?.kind == .unauthorized)
    }

    /// A server that reports a rejected token with a code in the body of a 200.
    private static func server(_ good: Token, _ requests: Recorder<String> = Recorder()) -> StubTransport {
        StubTransport { request in
            let token = request.urlRequest.value(forHTTPHeaderField: "Authorization")
            requests.append(token ?? "")
            let body = token == good.field ? #"{"code":0,"data":1}"# : #"{"code":40101,"message":"sign in"}"#
            return .response(status: 200, data: Data(body.utf8))
        }
    }

    @Test("The codes that the envelope names refresh the token", arguments: [true, false], [true, false])
    func refresh(asValue: Bool, isShared: Bool) async throws {
        let plugin = AuthenticationPlugin(authenticator: TokenAuthenticator()) { _ in }
        try await plugin.signIn(Token(1))
        let requests = Recorder<String>()
        let provider = Provider<PluginTarget>(transport: Self.server(Token(2), requests), plugins: [plugin])
        let options = Self.envelope.setting(\.sharesInFlight, isShared)
        let target = PluginTarget(validation: .successCodes)
        if asValue {
            #expect(try await provider.request(target, as: Int.self, options: options) == 1)
        } else {
            _ = try await provider.request(target, options: options)
        }
        #expect(requests.elements == [Token(1).field, Token(2).field])
    }

    @Test("The codes that the envelope names sign out, and others don't", arguments: [true, false])
    func signOut(isNamed: Bool) async throws {
        let signOuts = Recorder<Bool>()
        let plugin = UnauthorizedPlugin { _ in signOuts.append(true) }
        let provider = Provider<PluginTarget>(transport: Self.server(Token(2)), plugins: [plugin])
        let options = isNamed ? Self.envelope : .setting(\.envelope, CodeMessageData())
        let target = PluginTarget(headers: ["Authorization": Token(1).field], validation: .successCodes)
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(target, as: Int.self, options: options)
        }
        #expect(error?.kind == (isNamed ? .unauthorized : .rejected))
        #expect(signOuts.count == (isNamed ? 1 : 0))
        // A status that isn't accepted decides here as well.
        plugin.reset()
        let forbidden = PluginTarget(
            headers: ["Authorization": Token(1).field],
            validation: .successCodes,
            sampleResponse: .response(status: 403, data: Data(#"{"code":40101}"#.utf8))
        )
        let stubbed = Provider<PluginTarget>(stubClosure: { _ in .immediate }, plugins: [plugin], options: options)
        #expect(await stubbed.result(forbidden).failure?.kind == .forbidden)
        #expect(signOuts.count == (isNamed ? 1 : 0))
    }

    @Test(
        "A refresh that fails with a temporary status doesn't sign out, also if the body explains it",
        arguments: [408, 429, 500, 503, 400, 401, 403]
    )
    func failedRefresh(status: Int) async throws {
        let account = Provider<PluginTarget>(
            transport: StubTransport(.response(status: status, data: Data(#"{"code":9,"msg":"busy"}"#.utf8))),
            options: Self.envelope
        )
        let authenticator = TokenAuthenticator(renew: { _ in
            try await account.request(PluginTarget(validation: .successCodes), as: Token.self)
        })
        let signOuts = Recorder<Bool>()
        let plugin = AuthenticationPlugin(authenticator: authenticator) { _ in signOuts.append(true) }
        try await plugin.signIn(Token(1))
        let provider = Provider<PluginTarget>(transport: StubTransport(.status(401)), plugins: [plugin])
        _ = await provider.result(PluginTarget(validation: .successCodes))
        let isTemporary = [408, 429, 500, 503].contains(status)
        #expect(signOuts.count == (isTemporary ? 0 : 1))
        let credential = try await plugin.credential
        #expect((credential == nil) == !isTemporary)
    }
}
