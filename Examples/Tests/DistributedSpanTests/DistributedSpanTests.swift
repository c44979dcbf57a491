// SPDX-License-Identifier: MIT
import DistributedSpan
import Foundation
import InMemoryTracing
import TargetKit
import TargetKitPlugins
import TargetKitDiagnostics
import Testing
import Tracing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Spans of swift-distributed-tracing")
struct DistributedSpanTests {
    /// Retries once.
    private struct Again: Plugin {
        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
        }
    }

    @Test("Each attempt is a span, with its status and its error", arguments: [200, 503])
    func attempts(status: Int) async throws {
        let tracer = InMemoryTracer()
        let provider = Provider<URLTarget>(
            transport: StubTransport(.response(status: status, data: Data())),
            plugins: [
                Again(),
                TraceContextPlugin { parent, request, context in
                    DistributedSpan(parent: parent, request: request, call: context, tracer: tracer)
                },
            ]
        )
        let url = try #require(URL(string: "https://shop.example/teas?token=s3cret"))
        _ = try? await provider.request(URLTarget(url)) as Response
        #expect(tracer.activeSpans.isEmpty)
        #expect(tracer.finishedSpans.count == 2)
        for span in tracer.finishedSpans {
            #expect(span.attributes.get("http.response.status_code") == .int64(Int64(status)))
            #expect((span.status?.code == .error) == (status == 503))
            #expect(!"\(span)".contains("s3cret"))
        }
    }
}
