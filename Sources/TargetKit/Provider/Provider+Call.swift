// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Provider {
    /// One call on its way through the provider.
    struct Call: Sendable {
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
            let target: Target
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

            init(
                target: Target,
                timeout: CallTimeout,
                exchangeOfCall: Duration?,
                delivery: Delivery,
                headers: HTTPHeaders,
                hooks: PluginChain.Hooks,
                isAccepted: Bool
            ) {
                self.target = target
                self.timeout = timeout
                self.exchangeOfCall = exchangeOfCall
                self.delivery = delivery
                self.headers = headers
                self.hooks = hooks
                self.isAccepted = isAccepted
            }
        }

        let plan: Plan
        var context: RequestContext
        var handle: RequestHandle
        var progress: (@Sendable (TransferProgress) -> Void)?

        /// The handle knows of an interruption first: the call may be running in the very step that starts its task.
        var interruption: RequestHandle.Interruption? { handle.interruption ?? (Task.isCancelled ? .cancelled : nil) }

        func checkCancellation() throws {
            if interruption != nil { throw CancellationError() }
        }
    }
}

extension TransportRequest {
    /// What the transport is asked to do, after a last look at what closures and plugins have made of the request.
    init<Target>(_ request: URLRequest, _ endpoint: Endpoint, _ call: Provider<Target>.Call) throws {
        let body = try endpoint.body(of: request)
        let method = HTTPMethod(rawValue: request.httpMethod ?? HTTPMethod.get.rawValue)
        let hasBody = if case .none = body { false } else { true }
        try RequestCheck(method: method, hasBody: hasBody).check(request)
        var destination = endpoint.task.destination
        if case .stream(let buffer) = call.plan.delivery {
            if case .file = destination { throw InvalidRequest.streamedDownload }
            destination = .stream(buffer: buffer)
        }
        self.init(
            urlRequest: request,
            body: body,
            destination: destination,
            timeout: try call.plan.exchangeOfCall ?? endpoint.transportTimeout(of: request)
                ?? call.plan.timeout.exchange,
            progress: call.progress
        )
    }
}

extension Endpoint {
    /// `URLRequest` has no word for "the transport's own limits": its 60 seconds mean that, unless the endpoint names a time.
    fileprivate func transportTimeout(of request: URLRequest) throws -> Duration? {
        let seconds = request.timeoutInterval
        if timeout == nil, seconds == 60 { return nil }
        guard seconds.isFinite, seconds < 1e9 else { return nil }
        guard seconds > 0 else { throw InvalidRequest.invalidTimeout(.seconds(seconds)) }
        return .milliseconds(max(1, Int64(seconds * 1000)))
    }
}
