// SPDX-License-Identifier: MIT
import Foundation
import Instrumentation
import TargetKit
import TargetKitDiagnostics
import Tracing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A span of swift-distributed-tracing for each attempt of a call.
///
/// ```swift
/// let tracer = InstrumentationSystem.tracer
/// let traces = TraceContextPlugin { parent, request, context in
///     DistributedSpan(parent: parent, request: request, call: context, tracer: tracer)
/// }
/// ```
public struct DistributedSpan: TraceSpan {
    /// The tracer's span in the form that is sent. A tracer that writes no `traceparent` continues the call's trace.
    public let context: TraceContext
    private let span: any Span

    /// Starts a span within the current `ServiceContext`.
    public init(parent: TraceContext, request: URLRequest, call: RequestContext, tracer: any Tracer) {
        let method = request.httpMethod ?? "GET"
        // Neither the URL nor the description of the target, which can contain secrets.
        let span = tracer.startAnySpan(method, ofKind: .client)
        span.attributes["http.request.method"] = method
        span.attributes["http.request.resend_count"] = call.attempt
        span.attributes["server.address"] = request.url?.host()
        var fields: [String: String] = [:]
        tracer.inject(span.context, into: &fields, using: FieldInjector())
        let sent = fields["traceparent"].flatMap { TraceContext(traceparent: $0, tracestate: fields["tracestate"]) }
        context = sent ?? parent.child()
        self.span = span
    }

    /// Ends the span, with the status code or the error.
    public func end(_ result: Result<Response, TargetKitError>) {
        switch result {
        case .success(let response):
            span.attributes["http.response.status_code"] = response.statusCode
        case .failure(let error):
            if let status = error.response?.statusCode { span.attributes["http.response.status_code"] = status }
            span.attributes["error.type"] = "\(error.kind)"
            span.setStatus(SpanStatus(code: .error, message: error.description))
        }
        span.end()
    }
}

/// Writes the fields of a trace into a dictionary.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout [String: String]) {
        fields[key.lowercased()] = value
    }
}
