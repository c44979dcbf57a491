// SPDX-License-Identifier: MIT
import TargetKit

// A stubbed call ends on the caller's thread, before `request` returns, because apps' tests depend on it. The pipeline
// is asynchronous, so stubs have these separate stages, which an override of `stubRequest` can use.
extension MoyaProvider {
    /// Prepares the request of a stubbed call with the plugins, and notifies them that it is about to be sent.
    public final func notifyPluginsOfImpendingStub(for request: URLRequest, target: Target) -> URLRequest {
        guard !plugins.isEmpty else { return request }
        let prepared = plugins.reduce(request) { $1.prepare($0, target: target) }
        let sent = Request(session: session, request: prepared)
        for plugin in plugins { plugin.willSend(sent, target: target) }
        return prepared
    }

    /// Returns a function that ends a stubbed call with its sample, or as cancelled if the token is cancelled.
    public final func createStubFunction(
        _ token: CancellableToken,
        forTarget target: Target,
        withCompletion completion: @escaping Completion,
        endpoint: Endpoint,
        plugins: [any PluginType],
        request: URLRequest
    ) -> (() -> Void) {
        {
            guard !token.isCancelled else { return self.cancelCompletion(completion, target: target) }
            let result = endpoint.sampleResponseClosure().result(of: request, validation: target.validationType)
            for plugin in plugins { plugin.didReceive(result, target: target) }
            completion(result)
        }
    }

    /// Ends a call that was cancelled before its request was sent.
    public final func cancelCompletion(_ completion: Completion, target: Target) {
        let error = NSError(domain: NSURLErrorDomain, code: NSURLErrorCancelled, userInfo: nil)
        let result = Result<Response, MoyaError>.failure(.underlying(error, nil))
        for plugin in plugins { plugin.didReceive(result, target: target) }
        completion(result)
    }
}

extension EndpointSampleResponse {
    /// The result of a stubbed call. A status code that isn't accepted is ``MoyaError/statusCode(_:)``, within
    /// ``MoyaError/underlying(_:_:)``.
    fileprivate func result(of request: URLRequest, validation: ValidationType) -> Result<Response, MoyaError> {
        let response: Response
        switch self {
        case .networkResponse(let statusCode, let data):
            response = Response(statusCode: statusCode, data: data, request: request)
        case .response(let head, let data):
            response = Response(statusCode: head.statusCode, data: data, request: request, response: head)
        case .networkError(let error):
            return .failure(.underlying(error, nil))
        }
        guard StatusValidation(validation).accepts(response.statusCode) else {
            return .failure(.underlying(MoyaError.statusCode(response), response))
        }
        return .success(response)
    }
}
