// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import TargetKit
import TargetKitTesting

/// The ways in which a call can end, for plugins that have to balance over all of them.
package enum CallEnding: String, CaseIterable, Sendable {
    case success, status, transportFailure, endpointFailure, earlierPrepareFailure, laterPrepareFailure
    case cancelledInPrepare, cancelledInFlight, cancelledWaitingToRetry, retried, retriedThenPrepareFailure, retryFails

    /// Whether the request is sent.
    package var isSent: Bool {
        switch self {
        case .endpointFailure, .earlierPrepareFailure, .laterPrepareFailure, .cancelledInPrepare: false
        default: true
        }
    }

    /// Whether the `prepare` of a plugin at ``PluginPlace/start`` is reached.
    package var isPrepared: Bool { self != .endpointFailure }

    /// Makes a call that ends this way.
    ///
    /// - Returns: the result as the caller sees it.
    package func run(through plugin: any Plugin) async -> Result<Response, TargetKitError> {
        let reached = Gate()
        let clock = ManualClock()
        let before = RecordingPlugin(prepare: { request, _ in
            if self == .earlierPrepareFailure { throw Boom() }
            return request
        })
        let after = RecordingPlugin(
            prepare: { request, context in
                if self == .laterPrepareFailure { throw Boom() }
                if self == .retriedThenPrepareFailure, context.attempt == 1 { throw Boom() }
                if self == .cancelledInPrepare { try await reached.stop() }
                return request
            },
            retry: { _, context in
                guard context.attempt < 2 else { return .doNotRetry }
                switch self {
                case .retried, .retriedThenPrepareFailure: return .retry(after: .zero)
                case .cancelledWaitingToRetry: return .retry(after: .seconds(60))
                case .retryFails: return .fail(TargetKitError(stage: .transport, underlying: Boom()))
                default: return .doNotRetry
                }
            }
        )
        let provider = Provider<PluginTarget>(
            endpointClosure: { target in
                if self == .endpointFailure { throw Boom() }
                return try Endpoint(target: target)
            },
            transport: StubTransport { _ in
                if self == .cancelledInFlight { try await reached.stop() }
                if self == .transportFailure { throw URLError(.timedOut) }
                return .response(status: self == .status ? 500 : 200, data: Data("{}".utf8))
            },
            plugins: [before, plugin, after],
            clock: clock
        )
        let call = Task { await provider.result(PluginTarget(validation: .successCodes)) }
        switch self {
        case .cancelledInPrepare, .cancelledInFlight: await reached.waitForArrivals()
        case .cancelledWaitingToRetry: try? await clock.waitForSleepers(within: .seconds(600))
        default: return await call.value
        }
        call.cancel()
        return await call.value
    }
}

extension Gate {
    /// Waits for a cancel that is sure to come.
    fileprivate func stop() async throws {
        try await waitUnlessCancelled()
    }
}
