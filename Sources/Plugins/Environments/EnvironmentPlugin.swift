// SPDX-License-Identifier: MIT
import TargetKit

/// Adds the header fields of an environment to the requests to its servers.
///
/// The scheme, host, port and path of the request's URL determine the environment, so all attempts of a call use the
/// same environment, even if another one is selected in between. Requests to other servers aren't changed, nor are
/// fields that the request already has. Redirects to another origin don't include the fields, which may be secrets.
///
/// If a call fails because the store has a ``EnvironmentStore/problem``, that problem is the underlying error.
public struct EnvironmentPlugin: Plugin {
    private let store: EnvironmentStore

    /// The names of all header fields of all environments.
    public let secretHeaders: Set<HTTPHeaderName>

    /// `PluginPlace.environment`.
    public var place: PluginPlace { .environment }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .process] }

    /// Creates a plugin for the environments of a store.
    public init(_ store: EnvironmentStore) {
        self.store = store
        secretHeaders = Set(store.environments.flatMap { $0.headers.map(\.name) })
    }

    /// Adds the missing fields.
    ///
    /// - Throws: `InvalidRequest` for a value with a line break.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard let headers = store.environment(of: request.url)?.headers, headers != [:] else { return request }
        var request = request
        for (name, value) in headers.dictionary where request.value(forHTTPHeaderField: name) == nil {
            try request.setField(HTTPHeaderName(rawValue: name), to: value)
        }
        return request
    }

    /// Replaces the error of a call without an environment with the store's problem.
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

/// A target whose base URL is in an ``EnvironmentStore``.
///
/// ```swift
/// enum Photos: EnvironmentTarget {
///     case photo(id: Int)
///
///     static var environments: EnvironmentStore { Servers.store }
///     var module: String? { "media" }
///     var path: RequestPath { … }
/// }
/// ```
public protocol EnvironmentTarget: TargetType {
    /// The store with the environments.
    static var environments: EnvironmentStore { get }
    /// The module of the API to which the call belongs; default `nil`: the module at the environment's base URL.
    var module: String? { get }
}

extension EnvironmentTarget {
    /// `nil`.
    public var module: String? { nil }

    /// The module's URL in the current environment.
    public var baseURL: URL { Self.environments.current.url(of: module) }
}
