// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("All plugins together", .throttled, .timeLimit(.minutes(2)))
struct SignatureTests {
    @Test("One provider uses all of them")
    func together() async throws {
        let heard = Recorder<String>()
        let signedOut = Recorder<RequestContext.ID>()
        let plugins: [any Plugin] = [
            LoadingPlugin { isLoading in heard.append("loading \(isLoading)") },
            AccessTokenPlugin { target in "token" },
            CredentialsPlugin { target in URLCredential(user: "anna", password: "pw", persistence: .none) },
            UnauthorizedPlugin(bodyCodes: [BodyCode(keyPath: "status", equals: 401)]) { context in
                signedOut.append(context.id)
            },
            NetworkLoggerPlugin(level: .basic) { line in heard.append("line") },
            NetworkActivityPlugin { change, target in heard.append("\(change)") },
        ]
        let provider = Provider<PluginTarget>(stubClosure: { _ in .immediate }, plugins: plugins)
        let answer = SampleResponse.response(status: 200, data: Data(#"{"status":"401"}"#.utf8))
        let response = try await provider.request(PluginTarget(sampleResponse: answer))
        #expect(response.request?.value(forHTTPHeaderField: "Authorization") == "Bearer token")
        #expect(signedOut.count == 1)
        await MainQueue.settle()
        // The lines are not on the main actor.
        #expect(heard.elements.filter { $0 != "line" } == ["loading true", "began", "loading false", "ended"])
        #expect(heard.elements.filter { $0 == "line" }.count == 2)
    }

    @Test("The default logger prints")
    func defaults() {
        _ = NetworkLoggerPlugin()
        _ = NetworkLoggerPlugin(level: [.basic, .errors], redaction: .none, bodyLimit: 10)
        _ = UnauthorizedPlugin { _ in }
    }
}
