// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitDiagnostics
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Trace context", .throttled, .timeLimit(.minutes(2)))
struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00-\(trace)-00f067aa0ba902b7-01"

    @Test("A valid traceparent is read, and written as version 00")
    func parse() throws {
        let context = try #require(TraceContext(traceparent: Self.parent, tracestate: "rojo=00f0,congo=t61"))
        #expect(context.traceID == Self.trace)
        #expect(context.spanID == "00f067aa0ba902b7")
        #expect(context.isSampled)
        #expect(context.tracestate == "rojo=00f0,congo=t61")
        #expect(context.traceparent == Self.parent)
        let later = try #require(TraceContext(traceparent: "cc-\(Self.trace)-00f067aa0ba902b7-08-more"))
        #expect(later.traceparent == "00-\(Self.trace)-00f067aa0ba902b7-00")
    }

    @Test(
        "An invalid traceparent is refused",
        arguments: [
            "", "00", "ff-\(trace)-00f067aa0ba902b7-01", "00-\(trace)-00f067aa0ba902b7-01-more",
            "00-\(trace)-00f067aa0ba902b7-01.", "01-\(trace)-00f067aa0ba902b7-01.more",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-\(trace)-0000000000000000-01",
            "00-\(trace.uppercased())-00f067aa0ba902b7-01", "00_\(trace)-00f067aa0ba902b7-01",
            "00-\(trace)-00f067aa0ba902b7-0", "00-\(trace)-00f067aa0ba902b7-0x", "0é-\(trace)-00f067aa0ba902b-01",
            " 00-\(trace)-00f067aa0ba902b7-01",
        ]
    )
    func invalid(_ text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test(
        "A tracestate is kept only if it is valid",
        arguments: [
            ("a=1", true), ("a=1, b=2", true), ("0a@b-c=x y", true), ("a=1,,b=2", true), ("a/b*c_d=!~", true),
            ("", false), ("a", false), ("a=", false), ("A=1", false), ("a=1,a=2", false), ("a=b=c", false),
            ("@a=1", false), ("a@=1", false), ("a@b@c=1", false), ("a=é", false), ("a=\u{1}", false),
            (String(repeating: "k", count: 257) + "=1", false), ("a=" + String(repeating: "v", count: 257), false),
            ((0..<32).map { "k\($0)=1" }.joined(separator: ","), true),
            ((0..<33).map { "k\($0)=1" }.joined(separator: ","), false),
        ]
    )
    func tracestate(_ text: String, isValid: Bool) throws {
        let context = try #require(TraceContext(traceparent: Self.parent, tracestate: text))
        #expect(context.tracestate == (isValid ? text : nil))
    }

    @Test("New traces and spans have random identifiers of the right form")
    func random() throws {
        let contexts = (0..<1000).map { _ in TraceContext(isSampled: false) }
        #expect(Set(contexts.map(\.traceID)).count == 1000)
        for context in contexts {
            let read = try #require(TraceContext(traceparent: context.traceparent))
            #expect(read == context)
            #expect(context.child().traceID == context.traceID)
            #expect(context.child().spanID != context.spanID)
        }
    }

    /// The fields that are sent in each attempt of a call.
    private func sent(
        _ target: PluginTarget = PluginTarget(),
        _ plugin: TraceContextPlugin = TraceContextPlugin(),
        attempts: Int = 3
    ) async -> [(parent: String?, state: String?)] {
        let transport = ScriptedTransport(.status(200))
        let again = RecordingPlugin(retry: { _, context in
            context.attempt < attempts - 1 ? .retry(after: .zero) : .doNotRetry
        })
        let provider = Provider<PluginTarget>(transport: transport.transport, plugins: [plugin, again])
        _ = await provider.result(target)
        return transport.requests.elements.map {
            ($0.value(forHTTPHeaderField: "traceparent"), $0.value(forHTTPHeaderField: "tracestate"))
        }
    }

    @Test("Each attempt is a span of one trace")
    func attempts() async throws {
        let contexts = await sent().compactMap { $0.parent.flatMap { TraceContext(traceparent: $0) } }
        #expect(contexts.count == 3)
        #expect(Set(contexts.map(\.traceID)).count == 1)
        #expect(Set(contexts.map(\.spanID)).count == 3)
    }

    @Test("The trace of the task is continued, and that of the request comes first")
    func parents() async throws {
        let current = try #require(TraceContext(traceparent: Self.parent, tracestate: "a=1"))
        let continued = await TraceContext.$current.withValue(current) { await sent(attempts: 1) }
        #expect(continued.first?.parent?.hasPrefix("00-\(Self.trace)-") == true)
        #expect(continued.first?.parent != Self.parent)
        #expect(continued.first?.state == "a=1")
        let own = TraceContext()
        let target = PluginTarget(headers: ["traceparent": own.traceparent])
        let both = await TraceContext.$current.withValue(current) { await sent(target, attempts: 1) }
        #expect(both.first?.parent?.contains(own.traceID) == true)
        #expect(both.first?.state == nil)
        let broken = await sent(PluginTarget(headers: ["traceparent": "00-x", "tracestate": "a=1"]), attempts: 1)
        #expect(broken.first?.parent.flatMap { TraceContext(traceparent: $0) } != nil)
        #expect(broken.first?.state == nil)
    }

    @Test("A server that is not traced gets no fields")
    func untraced() async {
        let fields = await sent(PluginTarget(), TraceContextPlugin(isTraced: { $0.host() != "shop.example" }))
        #expect(fields.count == 3)
        #expect(fields.allSatisfy { $0.parent == nil && $0.state == nil })
    }

    /// A span that records its end.
    private struct Span: TraceSpan {
        let context: TraceContext
        let ends: Recorder<TargetKitError.Stage?>

        func end(_ result: Result<Response, TargetKitError>) { ends.append(result.failure?.stage) }
    }

    @Test("Each span that starts ends once, however the call ends", arguments: CallEnding.allCases)
    func spans(_ ending: CallEnding) async {
        let ends = Recorder<TargetKitError.Stage?>()
        let starts = Tally()
        let plugin = TraceContextPlugin { parent, _, _ in
            starts.add()
            return Span(context: parent.child(), ends: ends)
        }
        _ = await ending.run(through: plugin)
        await ends.waitForCount(starts.value)
        #expect(ends.count == starts.value)
        #expect(starts.value == (ending == .retried ? 3 : ending.isSent ? starts.value : 0))
    }

    @Test("The span's context is the one that is sent")
    func spanContext() async {
        let context = TraceContext()
        let plugin = TraceContextPlugin { _, _, _ in Span(context: context, ends: Recorder()) }
        #expect(await sent(PluginTarget(), plugin).map(\.parent) == Array(repeating: context.traceparent, count: 3))
    }

    @Test("Calls of different traces still share an exchange, with the trace of the first; other spans end unsent")
    func sharing() async {
        let held = HeldTransport()
        let ends = Recorder<TargetKitError.Stage?>()
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [TraceContextPlugin { parent, _, _ in Span(context: parent.child(), ends: ends) }],
            options: .setting(\.sharesInFlight, true)
        )
        async let first = TraceContext.$current.withValue(TraceContext()) { await provider.result(PluginTarget()) }
        async let second = TraceContext.$current.withValue(TraceContext()) { await provider.result(PluginTarget()) }
        await provider.waitForJoinedCalls(2)
        held.gate.open()
        _ = await [first, second]
        #expect(held.requests.count == 1)
        #expect(await ends.waitForCount(2) == [nil, .cancelled])
    }
}
