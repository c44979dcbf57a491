// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One call on its way through a provider.
struct ProviderCall: Sendable {
    /// How the body of the response reaches the caller.
    enum Delivery: Sendable {
        /// Whole, in memory or in a file, as the task says.
        case response
        /// As it comes; at most about that many bytes wait for the reader.
        case stream(buffer: Int)

        var isStream: Bool {
            if case .stream = self { true } else { false }
        }
    }

    /// What does not change on the way; in one place, since a call is copied from step to step.
    final class Plan: Sendable {
        /// What call, target and provider say, the first that does.
        let timeout: CallTimeout
        /// What was said for this call alone.
        let exchangeOfCall: Duration?
        let delivery: Delivery
        /// Fields that are set over the endpoint's own.
        let headers: HTTPHeaders
        /// The plugins to ask at each hook.
        let hooks: PluginChain.Hooks
        /// Whether the scope has taken it in.
        let isAccepted: Bool
        /// Whether it shares the network call of others.
        let isShared: Bool
        /// Whether its target may name errors of its own.
        let canMapErrors: Bool
        /// Whether it runs in the task of its caller, which is not ours to cancel.
        let runsInCallersTask: Bool

        init(
            timeout: CallTimeout,
            exchangeOfCall: Duration?,
            delivery: Delivery,
            headers: HTTPHeaders,
            hooks: PluginChain.Hooks,
            isAccepted: Bool,
            isShared: Bool,
            canMapErrors: Bool,
            runsInCallersTask: Bool
        ) {
            self.timeout = timeout
            self.exchangeOfCall = exchangeOfCall
            self.delivery = delivery
            self.headers = headers
            self.hooks = hooks
            self.isAccepted = isAccepted
            self.isShared = isShared
            self.canMapErrors = canMapErrors
            self.runsInCallersTask = runsInCallersTask
        }
    }

    let plan: Plan
    var context: RequestContext
    var handle: RequestHandle
    var progress: (@Sendable (TransferProgress) -> Void)?

    /// Why the call is to end, if it is. The handle hears of everything, and first; but for a step that cancels the task that it
    /// runs in, where that is the call's own.
    var interruption: RequestHandle.Interruption? {
        handle.interruption ?? (!plan.runsInCallersTask && Task.isCancelled ? .cancelled : nil)
    }

    func checkCancellation() throws {
        if interruption != nil { throw CancellationError() }
    }

    /// Takes a step that may wait for anything, closures and plugins, so that interrupting the call reaches it. Where the task
    /// is the caller's, the step gets one of its own; that changes the thread only when it waits indeed.
    func interruptibly<Value: Sendable, Failure: Error>(
        _ step: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard plan.runsInCallersTask else { return try await step() }
        return try await handle.run(step)
    }

    /// The result, or the interruption of a call that was interrupted before it had one.
    func end<Value>(with result: Result<Value, TargetKitError>) -> Result<Value, TargetKitError> {
        guard let interruption else { return result }
        guard case .failure(let error) = result else {
            let error = TargetKitError(stage: .cancelled, target: context.target, underlying: CancellationError())
            return .failure(error.ended(by: interruption))
        }
        return .failure(error.ended(by: interruption))
    }

    /// The error of a step that threw, as the interruption when the call was interrupted. Out of line: a call that goes well
    /// needs no room for it.
    @inline(never)
    func failure(
        _ error: any Error,
        at stage: TargetKitError.Stage,
        request: URLRequest? = nil
    ) -> TargetKitError {
        let failure = TargetKitError(error, at: stage, target: context.target, request: request)
        return interruption.map { failure.ended(by: $0) } ?? failure
    }
}

extension TargetKitError {
    /// This error as the end of a call that was interrupted.
    fileprivate func ended(by interruption: RequestHandle.Interruption) -> TargetKitError {
        var error = self
        switch interruption {
        case .cancelled:
            error.stage = .cancelled
            error.appError = nil
        case .timedOut:
            error.stage = .transport
            if (underlying as? URLError)?.code != .timedOut {
                error.underlying = URLError(.timedOut, userInfo: [FailureMark.wholeCall: true])
                error.appError = nil
            }
        }
        return error
    }
}
