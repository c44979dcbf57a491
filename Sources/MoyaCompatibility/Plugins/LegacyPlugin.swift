// SPDX-License-Identifier: MIT
import TargetKit

/// An adapter for a Moya plugin in a TargetKit provider.
///
/// ```swift
/// let provider = Provider<Catalog>(plugins: [LegacyPlugin(oldPlugin), RetryPlugin()])
/// ```
///
/// The plugin's hooks receive a ``MigratedTarget`` if the target isn't a Moya target. As for all TargetKit plugins,
/// `didReceive` and `process` aren't called on the main queue.
public struct LegacyPlugin: Plugin {
    private let plugin: Unchecked<any PluginType>

    /// The hooks of Moya's plugins.
    public var hooks: PluginHooks { [.prepare, .willSend, .didReceive, .process] }

    /// Creates a plugin.
    public init(_ plugin: any PluginType) {
        self.plugin = Unchecked(plugin)
    }

    /// Changes the request.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        let prepared = plugin.value.prepare(request, target: context.moyaTarget)
        // `URLSession` ignores these fields, but the transports reject them.
        guard prepared.value(forHTTPHeaderField: "Content-Length") != nil else { return prepared }
        var allowed = prepared
        allowed.setValue(nil, forHTTPHeaderField: "Content-Length")
        return allowed
    }

    /// Passes the request to the plugin.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        let call = context.moyaCall
        call.request.record(request, attempt: context.attempt, secretHeaders: context.secretHeaders)
        plugin.value.willSend(call.request, target: context.moyaTarget)
    }

    /// Passes the result to the plugin.
    public func didReceive(_ result: Result<TargetKit.Response, TargetKitError>, context: RequestContext) {
        guard !context.moyaCall.endsOnCallbackQueue else { return }
        plugin.value.didReceive(result.moyaResult, target: context.moyaTarget)
    }

    /// Passes the result to the plugin, and returns the plugin's result.
    ///
    /// A new response replaces the status and data. A new error becomes the `appError` of the call's error.
    public func process(
        _ result: Result<TargetKit.Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<TargetKit.Response, TargetKitError> {
        guard !context.moyaCall.endsOnCallbackQueue else { return result }
        let original = result.moyaResult
        switch (plugin.value.process(original, target: context.moyaTarget), original) {
        case (.success(let new), .success(let old)) where new === old: return result
        case (.failure(let new), .failure(let old)) where "\(new)" == "\(old)": return result
        case (.success(let new), _): return .success(new.targetKitResponse(result))
        case (.failure(let new), _):
            var error = result.failure ?? TargetKitError(stage: .transport, target: context.target)
            error.appError = new
            return .failure(error)
        }
    }
}

extension Result<TargetKit.Response, TargetKitError> {
    fileprivate var failure: TargetKitError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension Response {
    /// Returns the call's response with the contents of this response of a plugin.
    fileprivate func targetKitResponse(_ original: Result<TargetKit.Response, TargetKitError>) -> TargetKit.Response {
        if case .success(var response) = original, response.statusCode == statusCode || self.response == nil {
            response.statusCode = statusCode
            response.data = data
            return response
        }
        let headers = response?.headers.dictionary ?? [:]
        return TargetKit.Response(
            statusCode: statusCode,
            data: data,
            headers: TargetKit.HTTPHeaders(headers),
            request: request
        )
    }
}

/// A TargetKit target, as Moya plugins receive it.
public struct MigratedTarget: TargetType {
    /// The target.
    public let target: any TargetKit.TargetType

    /// Wraps a target, for example to test a plugin.
    public init(target: any TargetKit.TargetType) {
        self.target = target
    }

    /// The target's base URL.
    public var baseURL: URL { target.baseURL }
    /// The target's path.
    public var path: String { target.path.escaped }
    /// The target's method.
    public var method: HTTPMethod { HTTPMethod(rawValue: target.method.rawValue) }
    /// ``Task/requestPlain``, because the request contains the parts of the target's task.
    public var task: Task { .requestPlain }
    /// The target's header fields.
    public var headers: [String: String]? { target.headers.dictionary }
    /// The target's sample.
    public var sampleData: Data { target.sampleData }
}

extension RequestContext {
    /// The target of the call, as Moya plugins receive it.
    var moyaTarget: any TargetType {
        (target as? any LegacyTargetValue)?.moyaTarget ?? MigratedTarget(target: target)
    }

    /// The state of the call for Moya plugins.
    var moyaCall: MoyaCall {
        if let call = self[MoyaCallKey.self] { return call }
        let call = (target as? any LegacyTargetValue)?.call ?? MoyaCall(Request(session: .default))
        self[MoyaCallKey.self] = call
        return call
    }
}

/// The key of a call's ``MoyaCall``.
enum MoyaCallKey: RequestContextKey {
    typealias Value = MoyaCall
}
