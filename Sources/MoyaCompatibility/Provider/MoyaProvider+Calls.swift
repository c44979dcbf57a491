// SPDX-License-Identifier: MIT
import TargetKit

extension MoyaProvider {
    /// Starts a call: target → endpoint → request → plugins → network or sample → plugins → completion handler.
    public func requestNormal(
        _ target: Target,
        callbackQueue: DispatchQueue?,
        progress: ProgressBlock?,
        completion: @escaping Completion
    ) -> any Cancellable {
        let endpoint = endpoint(target)
        let stubBehavior = stubClosure(target)
        let processing: Completion = { [plugins] result in
            completion(plugins.reduce(result) { $1.process($0, target: target) })
        }
        let start: (PendingCall, @escaping Completion) -> Void = { call, ending in
            self.start(
                call,
                target: target,
                endpoint: endpoint,
                stubBehavior: stubBehavior,
                callbackQueue: callbackQueue,
                progress: progress,
                completion: ending
            )
        }
        guard trackInflights else {
            let call = PendingCall()
            start(call, processing)
            return call
        }
        return inflightCalls.join(endpoint, on: callbackQueue, processing, start)
    }

    private func start(
        _ call: PendingCall,
        target: Target,
        endpoint: Endpoint,
        stubBehavior: StubBehavior,
        callbackQueue: DispatchQueue?,
        progress: ProgressBlock?,
        completion: @escaping Completion
    ) {
        let cancellation = Unchecked { self.cancelCompletion(completion, target: target) }
        call.onCancel { (callbackQueue ?? .main).async { cancellation.value() } }
        requestClosure(endpoint) { result in
            guard call.begin() else { return }
            switch (result, stubBehavior) {
            case (.failure(let error), _):
                completion(.failure(error))
            case (.success(let request), .never):
                let sent = MoyaCall(
                    Request(session: self.session),
                    urlRequest: request,
                    endpoint: endpoint,
                    stub: .never
                )
                call.attach(
                    self.send(sent, target: target, on: callbackQueue, progress: progress, completion: completion)
                )
            case (.success(let request), .immediate), (.success(let request), .delayed):
                call.attach(
                    self.stubRequest(
                        target,
                        request: request,
                        callbackQueue: callbackQueue,
                        completion: completion,
                        endpoint: endpoint,
                        stubBehavior: stubBehavior
                    )
                )
            }
        }
    }

    /// Makes a call with TargetKit's pipeline. Moya plugins receive the result on the callback queue.
    func send(
        _ call: MoyaCall,
        target: Target,
        on queue: DispatchQueue?,
        progress: ProgressBlock?,
        completion: @escaping Completion
    ) -> CancellableToken {
        let steps = progress.map { CallProgress($0, ofUpload: call.endpoint?.value.task.isUpload ?? false) }
        let ending = Unchecked<(Result<TargetKit.Response, TargetKitError>) -> Void> { [plugins] result in
            let result = result.moyaResult
            for plugin in plugins { plugin.didReceive(result, target: target) }
            steps?.finish(result)
            completion(result)
        }
        let legacyTarget =
            if let request = call.urlRequest, let endpoint = call.endpoint?.value {
                LegacyTarget(target, call: call, request: request, endpoint: endpoint)
            } else {
                LegacyTarget(target)
            }
        let handle = targetKit.request(
            legacyTarget,
            options: session.moyaOptions,
            on: queue ?? .main,
            progress: steps.map { steps in { @Sendable in steps.receive($0) } },
            completion: { ending.value($0) }
        )
        call.request.attach(handle)
        return CancellableToken(request: call.request)
    }
}

/// Passes the progress of a call to its caller.
private final class CallProgress: Sendable {
    private let block: Unchecked<ProgressBlock>
    private let object = Unchecked(Progress(totalUnitCount: 0))
    private let direction: TransferProgress.Direction
    private let last = Locked<Int64>(0)

    init(_ block: @escaping ProgressBlock, ofUpload isUpload: Bool) {
        self.block = Unchecked(block)
        direction = isUpload ? .upload : .download
    }

    func receive(_ progress: TransferProgress) {
        guard progress.direction == direction else { return }
        // At the end, a transport can report the same count with a total that was unknown. Moya reports each count
        // once.
        let isNew = last.withLock { last in
            defer { last = progress.completed }
            return last != progress.completed
        }
        guard isNew else { return }
        object.value.totalUnitCount = progress.total ?? -1
        object.value.completedUnitCount = progress.completed
        block.value(ProgressResponse(progress: object.value))
    }

    func finish(_ result: Result<Response, MoyaError>) {
        block.value(ProgressResponse(progress: object.value, response: try? result.get()))
    }
}
