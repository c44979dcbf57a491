// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitDiagnostics
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Event log", .throttled, .timeLimit(.minutes(2)))
struct EventLogPluginTests {
    private let events = Recorder<CallEvent>()

    private func log(_ clock: any Clock<Duration> = ContinuousClock()) -> EventLogPlugin {
        EventLogPlugin(clock: clock) { [events] in events.append($0) }
    }

    private var steps: [CallEvent.Step] { events.elements.map(\.step) }

    private func first(_ step: CallEvent.Step) throws -> CallEvent {
        try #require(events.elements.first { $0.step == step })
    }

    @Test("A call has its steps in order, with what is known at each")
    func steps() async throws {
        let clock = ManualClock()
        let answer = SampleResponse.response(status: 201, headers: ["X-Id": "7"], data: Data("abc".utf8))
        let transport = StubTransport { _ in
            clock.advance(by: .milliseconds(12))
            return answer
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [log(clock)])
        _ = try await provider.request(PluginTarget(path: "/a?token=x", method: .put, headers: ["X-A": "b"]))
        #expect(steps == [.prepared, .sent, .head, .body, .finished])
        let sent = try first(.sent)
        #expect(sent.method == "PUT")
        #expect(sent.url == "https://shop.example/api/a?token=<redacted>")
        #expect(sent.headers["X-A"] == "b")
        #expect(sent.target == "PluginTarget")
        let head = try first(.head)
        #expect(head.statusCode == 201)
        #expect(head.headers["X-Id"] == "7")
        #expect(head.duration == .milliseconds(12))
        #expect(try first(.body).byteCount == 3)
        #expect(try first(.finished).statusCode == 201)
        #expect(try first(.finished).failure == nil)
        #expect(Set(events.elements.map(\.call)).count == 1)
    }

    @Test(
        "Every call finishes once, last, and each request that is sent has a head or a failure",
        arguments: CallEnding.allCases
    )
    func endings(_ ending: CallEnding) async {
        let result = await ending.run(through: log())
        #expect(steps.count { $0 == .finished } == 1)
        #expect(steps.last == .finished)
        #expect(events.elements.last?.failure == result.failure?.kind)
        let answered = zip(steps, steps.dropFirst()).count { $0 == .sent && ($1 == .head || $1 == .failed) }
        #expect(answered == steps.count { $0 == .sent })
        #expect(steps.contains(.sent) == ending.isSent)
    }

    @Test(
        "A retry has the reason and the pause since the last attempt",
        arguments: [
            (SampleResponse.status(503), StatusValidation.none, "status 503"),
            (.status(503), .successCodes, "server"), (.error(.networkConnectionLost), .none, "connectionLost"),
        ]
    )
    func retry(answer: SampleResponse, validation: StatusValidation, reason: String) async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(answer, .status(200))
        let again = RecordingPlugin(retry: { _, context in
            context.attempt == 0 ? .retry(after: .seconds(3)) : .doNotRetry
        })
        let provider = Provider<PluginTarget>(
            transport: transport.transport,
            plugins: [again, log(clock)],
            clock: clock
        )
        _ = await clock.stepping { await provider.result(PluginTarget(validation: validation)) }
        let retry = try first(.retry)
        #expect(retry.reason == reason)
        #expect(retry.duration == .seconds(3))
        #expect(retry.attempt == 1)
        #expect(steps.count { $0 == .retry } == 1)
        #expect(steps.firstIndex(of: .retry).map { steps[$0 + 1] } == .prepared)
    }

    @Test("The body of a stream is reported when it ends, with its bytes", arguments: [true, false])
    func stream(fails: Bool) async throws {
        var transport = StreamingTransport()
        if fails { transport.failure = URLError(.networkConnectionLost) }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [log()])
        let stream = try await provider.stream(PluginTarget())
        #expect(steps == [.prepared, .sent, .head])
        transport.gate.open()
        _ = try? await stream.reduce(into: Data()) { $0 += $1 }
        #expect(steps == [.prepared, .sent, .head, .body, .finished])
        #expect(try first(.body).byteCount == 10)
        #expect(try first(.finished).failure == (fails ? .connectionLost : nil))
    }

    @Test("An exchange that calls share has events of its own")
    func sharing() async {
        let held = HeldTransport()
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [log()],
            options: .setting(\.sharesInFlight, true)
        )
        async let first = provider.result(PluginTarget())
        async let second = provider.result(PluginTarget())
        await provider.waitForJoinedCalls(2)
        await held.requests.waitForCount(1)
        held.gate.open()
        _ = await [first, second]
        #expect(steps.count { $0 == .sent } == 1)
        #expect(steps.count { $0 == .finished } == 2)
        #expect(Set(events.elements.map(\.call)).count == 3)
    }

    @Test("An event is encoded as one object, without header fields")
    func encoded() async throws {
        let provider = Provider<PluginTarget>.stubbed(log())
        let target = PluginTarget(headers: ["X-Plain": "plain"], validation: .codes([299]))
        _ = await provider.result(target.with { $0.path = "/a?password=s3cret" })
        let lines = try events.elements.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        #expect(lines.count == steps.count)
        #expect(!lines.joined().contains("plain"))
        #expect(!lines.joined().contains("s3cret"))
        let last = try JSONValue(parsing: Data(lines.last?.utf8 ?? "".utf8))
        #expect(last["step"].string == "finished")
        #expect(last["status"].int == 200)
        #expect(last["failure"].string == "unexpectedStatus")
        #expect(last["time"].string?.hasSuffix("Z") == true)
        #expect(last["attempt"].int == 0)
    }

    @Test("A text of an event has no secret, whatever the event contains")
    func description() async {
        let target = PluginTarget(
            path: "/a?password=s3cret",
            headers: ["X-Api-Key": "s3cret"],
            sampleResponse: .response(status: 200, headers: ["Set-Cookie": "s3cret"], data: Data("s3cret".utf8))
        )
        _ = await Provider<PluginTarget>.stubbed(log()).result(target)
        #expect(steps.count == 5)
        for event in events.elements {
            #expect(TextualForms(of: event).forms(holding: "s3cret") == [])
            #expect(!event.headers.map(\.value).joined().contains("s3cret"))
        }
    }
}
