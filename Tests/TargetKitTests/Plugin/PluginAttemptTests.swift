// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("The attempt that hooks see", .throttled, .timeLimit(.minutes(1)))
struct PluginAttemptTests {
    private struct Reader: Plugin {
        let attempts: Recorder<Int>
        var hooks: PluginHooks { [.rejectsCredential, .retry] }

        func rejectsCredential(_ response: Response, context: RequestContext) -> Bool {
            attempts.append(context.attempt)
            return false
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            if case .failure = result, context.attempt == 0 { .retry(after: .zero) } else { .doNotRetry }
        }
    }

    @Test("rejectsCredential has the attempt whose body it reads")
    func rejectsCredential() async throws {
        let attempts = Recorder<Int>()
        let requests = Recorder<URL?>()
        let transport = StubTransport { request in
            requests.append(request.urlRequest.url)
            guard requests.elements.count > 1 else { return .status(503) }
            let fields: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": "2"]
            return .response(status: 200, headers: fields, data: Data("{}".utf8))
        }
        var target = TestTarget(.example)
        target.validation = .successCodes
        let provider = Provider<TestTarget>(transport: transport, plugins: [Reader(attempts: attempts)])
        for try await _ in try await provider.stream(target) {}
        #expect(requests.elements.count == 2)
        #expect(attempts.elements == [1])
    }
}
