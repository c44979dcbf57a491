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

@Suite("Pages: Logs, Events and traces", .throttled, .timeLimit(.minutes(2)))
struct LogsPageTests {
    enum Tea: TargetType {
        case latest

        var baseURL: URL { .shop }
        var path: RequestPath { "/teas/latest" }
    }

    /// What the page writes to.
    struct Counter: Sendable {
        let texts = Recorder<String>()
        func count(_ text: String) { texts.append(text) }
        func write(_ text: String) { texts.append(text) }
    }

    struct CountedSpan: TraceSpan {
        let context: TraceContext
        let counter: Counter

        func end(_ result: Result<Response, TargetKitError>) {
            counter.count("span \(context.spanID) of trace \(context.traceID)")
        }
    }

    private let counter = Counter()

    @Test("Calls are logged, with secrets redacted as chosen")
    func log() async throws {
        let console = counter
        let logger = NetworkLoggerPlugin(level: .body) { line in console.write(line) }
        _ = try await Provider<Tea>.stubbed(logger).request(.latest)
        #expect(counter.texts.count > 1)
        var redaction = Redaction()
        redaction.secretFields = ["iban", "user.address"]
        redaction.visibleFields = ["sort_token"]
        let careful = NetworkLoggerPlugin(level: .body, redaction: redaction)
        #expect(careful.place == .observation)
    }

    @Test("Failures are written to a file")
    func events() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = StubTransport(.response(status: 500, data: Data()))
        let file = EventFile(folder.appending(path: "failures.jsonl"), sizeLimit: 256 << 10)
        let events = EventLogPlugin { event in
            if event.failure != nil { file.append(event) }
            if event.step == .retry { counter.count("retry: \(event.reason ?? "")") }
        }
        let provider = Provider<Tea>(transport: transport, plugins: [events])
        _ = try? await provider.request(.latest)
        await file.flush()
        counter.count("\(file.files.count) files")
        #expect(counter.texts.elements == ["1 files"])
    }

    @Test("Each attempt is a span")
    func traces() async throws {
        let transport = StubTransport(.response(status: 200, data: Data()))
        let traces = TraceContextPlugin(isTraced: { $0.host() == "shop.example" }) { parent, request, context in
            CountedSpan(context: parent.child(), counter: counter)
        }
        let traced = Provider<Tea>(transport: transport, plugins: [traces])
        _ = try await TraceContext.$current.withValue(TraceContext()) {
            try await traced.request(.latest)
        }
        #expect(counter.texts.elements.first?.hasPrefix("span ") == true)
    }

    @Test("A call that opts out is not shown")
    func toasts() async throws {
        let transport = StubTransport(.response(status: 500, data: Data()))
        let toast = { @Sendable (text: String) in counter.count(text) }
        let toasts = ErrorPresentationPlugin { message, error in toast(message) }
        let shown = Provider<Tea>(transport: transport, plugins: [toasts])
        _ = try? await shown.request(.latest, options: .setting(\.showsErrors, false))
        #expect(counter.texts.count == 0)
    }
}
