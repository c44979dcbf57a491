// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport that answers as the test says, and records its requests.
package final class ScriptedTransport: Sendable {
    package let requests = Recorder<URLRequest>()
    private let answer: @Sendable (URLRequest, Int) async throws -> SampleResponse

    /// Each request gets the next answer of the list; after the last one, the last again.
    package convenience init(_ answers: SampleResponse...) {
        self.init { _, index in answers[min(index, answers.count - 1)] }
    }

    /// - Parameter answer: The answer to a request; the number is how many came before it.
    package init(_ answer: @escaping @Sendable (URLRequest, Int) async throws -> SampleResponse) {
        self.answer = answer
    }

    package var transport: StubTransport {
        StubTransport { [self] request in
            try await answer(request.urlRequest, requests.indexOfAppended(request.urlRequest))
        }
    }

    /// The hosts of the requests, in order.
    package var hosts: [String] { requests.elements.map { $0.url?.host() ?? "" } }
}

extension SampleResponse {
    package static func status(_ status: Int, _ headers: HTTPHeaders = [:]) -> SampleResponse {
        .response(status: status, headers: headers, data: Data())
    }

    package static func error(_ code: URLError.Code) -> SampleResponse { .failure(URLError(code)) }
}

/// A target with the options of the plugins for resilience.
package struct SturdyTarget: TargetType {
    package var baseURL: URL
    package var path: RequestPath
    package var method: HTTPMethod
    package var task: HTTPTask
    package var headers: HTTPHeaders
    package var validation: StatusValidation
    package var retryPolicy: RetryPolicy?
    package var key: @Sendable () -> String?

    package init(
        baseURL: URL = .shop,
        path: RequestPath = "/things",
        method: HTTPMethod = .get,
        task: HTTPTask = .plain,
        headers: HTTPHeaders = [:],
        validation: StatusValidation = .none,
        retryPolicy: RetryPolicy? = nil,
        key: @escaping @Sendable () -> String? = { nil }
    ) {
        self.baseURL = baseURL
        self.path = path
        self.method = method
        self.task = task
        self.headers = headers
        self.validation = validation
        self.retryPolicy = retryPolicy
        self.key = key
    }

    package var options: CallOptions {
        .setting(\.retryPolicy, retryPolicy).setting(\.idempotencyKey, key())
    }

    package func with(_ change: (inout SturdyTarget) -> Void) -> SturdyTarget {
        var target = self
        change(&target)
        return target
    }
}

extension ManualClock {
    /// Runs work that sleeps on this clock, and advances the clock whenever it sleeps.
    ///
    /// - Returns: The result of the work, and the duration of each sleep.
    package func stepping<Value: Sendable>(
        through work: @escaping @Sendable () async -> Value
    ) async -> (value: Value, sleeps: [Duration]) {
        let stepper = Task {
            var sleeps: [Duration] = []
            while true {
                try? await waitForSleepers(within: .seconds(600))
                if Task.isCancelled { return sleeps }
                sleeps.append(advanceToNextDeadline())
            }
        }
        let value = await work()
        stepper.cancel()
        return (value, await stepper.value)
    }
}

/// Random numbers that are all the highest: a delay with full jitter is then as long as possible.
package struct HighestNumbers: RandomNumberGenerator, Sendable {
    package init() {}

    package func next() -> UInt64 { .max }
}
