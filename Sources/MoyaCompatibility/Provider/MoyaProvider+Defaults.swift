// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension MoyaProvider {
    /// Returns the endpoint that a target describes. Its sample has status 200.
    public final class func defaultEndpointMapping(for target: Target) -> Endpoint {
        Endpoint(
            url: URL(target: target).absoluteString,
            sampleResponseClosure: { .networkResponse(200, target.sampleData) },
            method: target.method,
            task: target.task,
            httpHeaderFields: target.headers
        )
    }

    /// Passes the request of an endpoint, or the error, to a closure.
    public final class func defaultRequestMapping(for endpoint: Endpoint, closure: RequestResultClosure) {
        do {
            closure(.success(try endpoint.urlRequest()))
        } catch MoyaError.requestMapping(let url) {
            closure(.failure(.requestMapping(url)))
        } catch MoyaError.parameterEncoding(let error) {
            closure(.failure(.parameterEncoding(error)))
        } catch {
            closure(.failure(.underlying(error, nil)))
        }
    }

    /// Returns a session with ``HTTPHeaders/default``.
    public final class func defaultAlamofireSession() -> Session {
        Session(configuration: .af.default, startRequestsImmediately: false)
    }

    /// Returns ``StubBehavior/never``, so that no call is stubbed.
    public final class func neverStub(_: Target) -> StubBehavior { .never }

    /// Returns ``StubBehavior/immediate``, so that each call returns its sample immediately.
    public final class func immediatelyStub(_: Target) -> StubBehavior { .immediate }

    /// Returns a closure with which each call returns its sample after a delay in seconds.
    public final class func delayedStub(_ seconds: TimeInterval) -> (Target) -> StubBehavior {
        { _ in .delayed(seconds: seconds) }
    }
}
