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

/// Retries of calls that consist of several requests.
@Suite("Retries of a driver's call", .throttled, .timeLimit(.minutes(1)))
struct RetryDriverTests {
    /// Sends the target's request, and then asks for its outcome.
    private struct Polling: TransferDriver {
        func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
            _ = try await exchanges.send(request)
            return try await exchanges.send(URLRequest(url: .shop), body: .none)
        }
    }

    /// What follows the call's first request.
    enum Failure: CaseIterable, Sendable {
        case unavailable, lost, refused

        var answer: SampleResponse {
            switch self {
            case .unavailable: .status(503)
            case .lost: .error(.networkConnectionLost)
            case .refused: .error(.cannotConnectToHost)
            }
        }
    }

    @Test(
        "A call whose first request was processed is only retried if that is safe",
        arguments: Failure.allCases,
        [nil, "a"]
    )
    func processed(_ failure: Failure, key: String?) async throws {
        let script = ScriptedTransport { request, _ in request.httpMethod == "POST" ? .status(202) : failure.answer }
        let repeatable = Recorder<Bool>()
        let clock = ManualClock()
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [
                RetryPlugin(clock: clock),
                RecordingPlugin(retry: { _, context in
                    repeatable.append(context.isRepeatable)
                    return .doNotRetry
                }),
            ],
            clock: clock
        )
        let headers: HTTPHeaders = key.map { ["Idempotency-Key": $0] } ?? [:]
        let target = SturdyTarget(method: .post, task: .plain.driver(Polling()), headers: headers)
        _ = await clock.stepping { await provider.result(target) }
        let methods = script.requests.elements.map { $0.httpMethod ?? "" }
        #expect(methods.count { $0 == "POST" } == (key == nil ? 1 : 3))
        #expect(Set(repeatable.elements) == [key != nil])
    }
}
