// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Network logger", .throttled, .timeLimit(.minutes(2)))
struct NetworkLoggerPluginTests {
    private static let target = PluginTarget(
        path: "/orders",
        method: .post,
        task: .json(["item": "tea"]),
        headers: ["X-Trace": "7"],
        sampleResponse: .response(status: 201, headers: ["Server": "shop"], data: Data(#"{"id":1}"#.utf8))
    )

    private static let request = "[.0] → POST https://shop.example/api/orders (PluginTarget)"
    private static let requestHeaders = ["[.0]   Content-Type: application/json", "[.0]   X-Trace: 7"]
    private static let requestBody = #"[.0]   {"item":"tea"}"#
    private static let response = "[.0] ← 201 PluginTarget, 8 bytes, 12.0 ms"
    private static let responseHeaders = "[.0]   Server: shop"
    private static let responseBody = #"[.0]   {"id":1}"#

    /// A level and the lines that it shows.
    struct Shown: Sendable {
        let level: NetworkLoggerPlugin.Level
        let lines: [String]

        init(_ level: NetworkLoggerPlugin.Level, _ lines: [String] = []) {
            self.level = level
            self.lines = lines
        }
    }

    private static let choices: [Shown] = [
        Shown([]), Shown(.errors), Shown(.failure), Shown(.errorBody),
        Shown(.request, [request]), Shown(.requestHeaders, requestHeaders), Shown(.requestBody, [requestBody]),
        Shown(.response, [response]), Shown(.responseHeaders, [responseHeaders]), Shown(.responseBody, [responseBody]),
        Shown(.basic, [request, response]),
        Shown(.headers, [request, requestHeaders[0], requestHeaders[1], response, responseHeaders]),
        Shown(
            .body,
            [request, requestHeaders[0], requestHeaders[1], requestBody, response, responseHeaders, responseBody]
        ),
    ]

    @Test("A level shows its parts and no others", arguments: choices)
    func levels(_ shown: Shown) async {
        #expect(await LoggedLines()(shown.level, Self.target) == shown.lines)
    }

    @Test(
        "A status of 400 or more is shown with its body, accepted or not",
        arguments: [StatusValidation.none, .successCodes]
    )
    func errorBody(_ validation: StatusValidation) async {
        let target = Self.target.with { $0.validation = validation }
        let answer = SampleResponse.response(status: 404, data: Data(#"{"error":"gone"}"#.utf8))
        let failure =
            "[.0] ✗ PluginTarget: the status code isn't accepted (HTTP 404) "
            + "[POST https://shop.example/api/orders], 12.0 ms"
        let expected = ["[.0] ← 404 PluginTarget, 16 bytes, 12.0 ms", #"[.0]   {"error":"gone"}"#]
        #expect(
            await LoggedLines()(.errors, target, answer: answer) == expected + (validation == .none ? [] : [failure])
        )
        #expect(await LoggedLines()([.errorBody], target, answer: answer) == [expected[1]])
    }

    @Test("A failure of the exchange is one line")
    func failure() async {
        let lines = await LoggedLines()(.errors, Self.target, answer: .failure(URLError(.timedOut)))
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("[.0] ✗ PluginTarget: the exchange failed") == true)
        #expect(lines.first?.hasSuffix("(URLError -1001), 12.0 ms") == true)
    }

    @Test("Each attempt has its lines, with one number for the call")
    func attempts() async throws {
        let lines = Recorder<String>()
        let provider = Provider<PluginTarget>.stubbed(
            NetworkLoggerPlugin(level: .basic) { line in lines.append(line) },
            RecordingPlugin(retry: { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry })
        )
        _ = await provider.result(PluginTarget())
        let starts = lines.elements.compactMap { $0.split(separator: " ").first }
        let number = try #require(starts.first?.dropFirst().prefix { $0 != "." })
        #expect(starts == ["[\(number).0]", "[\(number).0]", "[\(number).1]", "[\(number).1]"])
    }

    @Test("A call that fails after retries has one line for each failed attempt")
    func retries() async {
        let lines = Recorder<String>()
        let again = RecordingPlugin(retry: { _, context in context.attempt < 2 ? .retry(after: .zero) : .doNotRetry })
        let provider = Provider<PluginTarget>.stubbed(NetworkLoggerPlugin(level: .failure) { lines.append($0) }, again)
        _ = await provider.result(PluginTarget(sampleResponse: .failure(URLError(.timedOut))))
        #expect(lines.elements.count { $0.contains("✗") } == 3)
    }

    @Test("A failure is logged once, however the call ends", arguments: CallEnding.allCases)
    func endings(_ ending: CallEnding) async {
        let lines = Recorder<String>()
        let result = await ending.run(through: NetworkLoggerPlugin(level: [.failure]) { lines.append($0) })
        let failures = lines.elements.filter { $0.contains("✗") }
        #expect(failures.count == (result.failure == nil ? 0 : 1))
        if let error = result.failure { #expect(failures.first?.contains(error.description) == true) }
    }

    @Test("Each request line has one response or failure line", arguments: CallEnding.allCases)
    func balanced(_ ending: CallEnding) async {
        let lines = Recorder<String>()
        _ = await ending.run(through: NetworkLoggerPlugin(level: [.request, .response, .failure]) { lines.append($0) })
        let went = lines.elements.count { $0.contains("] → ") }
        let came = lines.elements.count { $0.contains("] ← ") || $0.hasSuffix(" ms") && $0.contains("✗") }
        let withStatusAndFailure = ending == .status ? 1 : 0
        #expect(came == went + withStatusAndFailure)
        #expect((went > 0) == ending.isSent)
    }

    @Test("A response that cannot be decoded is logged as a failure at the end of the call")
    func decoding() async {
        let lines = Recorder<String>()
        let provider = Provider<PluginTarget>.stubbed(NetworkLoggerPlugin(level: .basic) { lines.append($0) })
        await #expect(throws: TargetKitError.self) { try await provider.request(PluginTarget(), as: [Int].self) }
        #expect(lines.count == 3)
        #expect(lines.elements.last?.contains("✗ PluginTarget: the body couldn't be decoded") == true)
    }

    @Test(
        "A stream is logged when its head arrives, and with its bytes or failure when it ends",
        arguments: [true, false]
    )
    func stream(fails: Bool) async throws {
        let lines = Recorder<String>()
        var transport = StreamingTransport()
        if fails { transport.failure = URLError(.networkConnectionLost) }
        let logger = NetworkLoggerPlugin(level: .basic, clock: ManualClock(), output: { lines.append($0) })
        let provider = Provider<PluginTarget>(transport: transport, plugins: [logger])
        let stream = try await provider.stream(PluginTarget())
        #expect(lines.count == 2)
        #expect(lines.elements.last?.hasSuffix("← 200 PluginTarget, a stream, 0.0 ms") == true)
        transport.gate.open()
        _ = try? await stream.reduce(into: Data()) { $0 += $1 }
        #expect(lines.count == (fails ? 4 : 3))
        #expect(lines.elements[2].hasSuffix("← 200 PluginTarget, 10 bytes streamed, 0.0 ms"))
        if fails { #expect(lines.elements.last?.contains("URLError -1005") == true) }
    }

    @Test("What the target makes of a failure is not logged as another failure")
    func mapped() async {
        struct Mapping: ErrorMappingTarget {
            var baseURL: URL { .shop }
            var path: RequestPath { "/things" }
            func appError(for code: URLError.Code) -> (any Error)? { Boom() }
        }
        let lines = await LoggedLines()(.errors, Mapping(), answer: .failure(URLError(.timedOut)))
        #expect(lines.count == 1)
    }

    @Test("An exchange that calls share has lines of its own, and each call its failure")
    func sharing() async {
        let lines = Recorder<String>()
        let held = HeldTransport(.response(status: 500, data: Data()))
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [NetworkLoggerPlugin(level: .basic) { lines.append($0) }],
            options: .setting(\.sharesInFlight, true)
        )
        async let first = provider.result(PluginTarget(validation: .successCodes))
        async let second = provider.result(PluginTarget(validation: .successCodes))
        await provider.waitForJoinedCalls(2)
        await held.requests.waitForCount(1)
        held.gate.open()
        let failures = await [first.failure, second.failure]
        #expect(failures.allSatisfy { $0?.stage == .status })
        let numbers = lines.elements.compactMap { $0.dropFirst().split(separator: ".").first }
        #expect(lines.elements.count { $0.contains("→") } == 1)
        #expect(lines.elements.count { $0.contains("←") } == 1)
        #expect(lines.elements.count { $0.contains("✗") } == 3)
        #expect(Set(numbers).count == 3)
    }

    @Test("The name of the target is shown without its associated values")
    func name() async {
        let lines = await LoggedLines()(.body, PlainTarget.thing(secret: "hunter2"))
        #expect(lines.first == "[.0] → GET https://shop.example/api/things (PlainTarget.thing)")
        #expect(!lines.joined().contains("hunter2"))
    }

    @Test(
        "A time is shown to the tenth of a millisecond",
        arguments: [
            (.zero, "0.0 ms"), (.microseconds(49), "0.0 ms"), (.microseconds(50), "0.1 ms"),
            (.microseconds(12_345), "12.3 ms"), (.microseconds(999_960), "1000.0 ms"), (.seconds(61), "61000.0 ms"),
        ] as [(Duration, String)]
    )
    func time(_ duration: Duration, _ text: String) async {
        let lines = await LoggedLines(duration: duration)([.response], PluginTarget())
        #expect(lines == ["[.0] ← 200 PluginTarget, 2 bytes, \(text)"])
    }

    private struct Signing: Plugin {
        let secretHeaders: Set<HTTPHeaderName> = ["X-Signature"]

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue("hunter2", forHTTPHeaderField: "X-Signature")
            return request
        }
    }

    @Test("The fields in which plugins put secrets are redacted, unless no field is", arguments: [true, false])
    func pluginSecrets(isRedacted: Bool) async {
        let lines = LoggedLines(plugins: [Signing()], redaction: isRedacted ? Redaction() : .none)
        let value = isRedacted ? "<redacted>" : "hunter2"
        #expect(await lines(.requestHeaders, PluginTarget()) == ["[.0]   X-Signature: \(value)"])
        #expect(await lines(.curl, PluginTarget()).first?.contains("'X-Signature: \(value)'") == true)
    }

    @Test("Exempted fields are shown")
    func fewerSecrets() async {
        var redaction = Redaction()
        redaction.headers.secretNames.remove("X-Api-Key")
        redaction.visibleFields = ["x-api-key"]
        let lines = await LoggedLines(redaction: redaction)(.requestHeaders, PluginTarget(headers: ["X-Api-Key": "7"]))
        #expect(lines == ["[.0]   X-Api-Key: 7"])
    }

    @Test("A disabled logger does nothing")
    func disabled() async {
        let lines = Recorder<String>()
        let asked = Tally()
        let isOn = Locked(false)
        let logger = NetworkLoggerPlugin(
            level: .body,
            output: { lines.append($0) },
            isEnabled: {
                asked.add()
                return isOn.withLock { $0 }
            }
        )
        let provider = Provider<PluginTarget>.stubbed(logger, NetworkLoggerPlugin(level: []) { lines.append($0) })
        _ = await provider.result(PluginTarget())
        #expect(asked.value > 0)
        #expect(lines.elements == [])
        isOn.withLock { $0 = true }
        _ = await provider.result(PluginTarget())
        #expect(lines.count > 0)
    }

    @Test("A response whose server was trusted blindly is marked at every call")
    func blindTrust() async throws {
        struct Blind: Transport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                let metrics = TransportMetrics(total: .zero, trustedBlindly: true)
                return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()), metrics: metrics)
            }
        }
        let lines = Recorder<String>()
        let logger = NetworkLoggerPlugin(level: .basic) { lines.append($0) }
        let provider = Provider<PluginTarget>(transport: Blind(), plugins: [logger])
        for _ in 0..<2 { _ = try await provider.request(PluginTarget()) }
        #expect(lines.elements.count { $0.contains("the server's certificate was NOT CHECKED") } == 2)
    }

    @Test("A body that went to a file is named, not read")
    func file() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "logger-\(UUID()).bin")
        defer { try? FileManager.default.removeItem(at: file) }
        let lines = await LoggedLines()([.response, .responseBody], PluginTarget(task: .download(to: file)))
        #expect(lines == ["[.0] ← 200 PluginTarget, in \(file.path), 12.0 ms"])
    }

    @Test("A body that is read as it is sent is said to be")
    func upload() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "logger-\(UUID()).png")
        try Data([1, 2, 3]).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let lines = await LoggedLines()([.requestBody], PluginTarget(method: .post, task: .upload(file: file)))
        #expect(lines == ["[.0]   <image/png, read as it is sent>"])
    }
}
