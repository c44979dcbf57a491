// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Puts the header fields of an environment into the requests to its servers.
///
/// Which environment that is, the request's URL decides by scheme, host, port and path, so a call that began before
/// another one was selected keeps its own's, at each attempt. A request to any other server is left alone, and a redirect to
/// another origin leaves the fields behind: they may be secrets. A field that the request has already is left alone too.
///
/// A call that fails because the store has a ``EnvironmentStore/problem`` ends with that ``EnvironmentError`` as the underlying
/// error.
///
/// Order: before plugins that sign or log the request; after one that sets the same fields and is to win.
public struct EnvironmentPlugin: Plugin {
    private let store: EnvironmentStore

    /// The names of all header fields of all environments.
    public let secretHeaders: Set<HTTPHeaderName>

    /// A plugin for the environments of that store.
    public init(_ store: EnvironmentStore) {
        self.store = store
        secretHeaders = Set(store.environments.flatMap { $0.headers.map(\.name) })
    }

    /// Sets the fields that are missing.
    ///
    /// - Throws: `InvalidRequest` for a value with a line break.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard let headers = store.environment(of: request.url)?.headers, !headers.isEmpty else { return request }
        var request = request
        for (name, value) in headers.dictionary where request.value(forHTTPHeaderField: name) == nil {
            // Foundation drops such a value without a word.
            guard !value.endsHeaderField else { throw InvalidRequest.invalidHeaderValue(name: name) }
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    /// Says why a call could not be made for want of an environment.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard case .failure(var error) = result, case .unsupportedURL = error.underlying as? InvalidRequest,
            let problem = store.problem, let target = context.target as? any EnvironmentTarget,
            type(of: target).environments === store
        else { return result }
        error.underlying = problem
        return .failure(error)
    }
}

/// A target that has its base URL from an ``EnvironmentStore``.
///
/// ```swift
/// enum Photos: EnvironmentTarget {
///     case photo(id: Int)
///
///     static var environments: EnvironmentStore { Servers.store }
///     var module: ServerEnvironment.Module { "media" }
///     var path: RequestPath { … }
/// }
/// ```
public protocol EnvironmentTarget: TargetType {
    /// The store whose current environment the calls go to.
    static var environments: EnvironmentStore { get }
    /// The part of the API that the call belongs to; default ``ServerEnvironment/Module/main``.
    var module: ServerEnvironment.Module { get }
}

extension EnvironmentTarget {
    /// The module without a server of its own.
    public var module: ServerEnvironment.Module { .main }

    /// Where the module lives in the current environment.
    public var baseURL: URL { Self.environments.current.url(of: module) }
}
