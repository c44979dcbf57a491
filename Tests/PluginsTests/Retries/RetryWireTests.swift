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

@Suite("Retry over the wire", .throttled, .timeLimit(.minutes(3)))
struct RetryWireTests {
    private let clock = ManualClock()

    private func provider(_ transport: any Transport) -> Provider<SturdyTarget> {
        Provider(transport: transport, plugins: [RetryPlugin(clock: clock)], clock: clock)
    }

    @Test("The server gets each attempt, and the caller the last response", arguments: Backend.allCases)
    func statuses(_ backend: Backend) async throws {
        let tally = Tally()
        let running = try RunningBackend(backend) { _ in
            tally.add()
            return tally.value < 3 ? .status(503) : .response(status: 200, data: Data("there".utf8))
        }
        let provider = provider(running.transport)
        let target = SturdyTarget(baseURL: running.baseURL, validation: .successCodes)
        let (result, sleeps) = await clock.stepping { await provider.result(target) }
        #expect(try result.get().data == Data("there".utf8))
        #expect(sleeps.count == 2)
        #expect(running.requests.count == 3)
    }

    @Test("A call is repeated after a lost connection", arguments: Backend.allCases)
    func broken(_ backend: Backend) async throws {
        let tally = Tally()
        let running = try RunningBackend(backend) { _ in
            tally.add()
            if tally.value < 3 { throw URLError(.networkConnectionLost) }
            return .status(200)
        }
        let provider = provider(running.transport)
        let target = SturdyTarget(baseURL: running.baseURL)
        let result = await clock.stepping { await provider.result(target) }.value
        #expect(RecordingPlugin.Outcome(result) == .status(200))
        #expect(running.requests.count == 3)
    }

    @Test("The delay is that of Retry-After", arguments: Backend.allCases)
    func retryAfter(_ backend: Backend) async throws {
        let tally = Tally()
        let running = try RunningBackend(backend) { _ in
            tally.add()
            return tally.value == 1 ? .status(429, ["Retry-After": "23"]) : .status(200)
        }
        let provider = provider(running.transport)
        let target = SturdyTarget(baseURL: running.baseURL)
        #expect(await clock.stepping { await provider.result(target) }.sleeps == [.seconds(23)])
    }

    /// The kinds of bodies that a task can have.
    enum Body: String, CaseIterable, Sendable {
        case data, json, form, multipart, file

        func task(file: URL) -> HTTPTask {
            switch self {
            case .data: .data(Data(repeating: 65, count: 300_000))
            case .json: .json(["a": "b"])
            case .form: .form(["a": "b c"])
            case .multipart: .multipart(MultipartForm(parts: [.file(file, name: "f"), .text("t", name: "n")]))
            case .file: .upload(file: file)
            }
        }
    }

    @Test("Each kind of body is sent again completely", arguments: Backend.allCases, Body.allCases)
    func bodies(_ backend: Backend, _ body: Body) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("body")
        try Data(repeating: 66, count: 200_000).write(to: file)
        let running = try RunningBackend(backend) { _ in .status(503) }
        let provider = provider(running.transport)
        let target = SturdyTarget(baseURL: running.baseURL, method: .put, task: body.task(file: file))
        _ = await clock.stepping { await provider.result(target) }
        let bodies = running.requests.map(\.body)
        #expect(bodies.count == 3)
        #expect(Set(bodies).count == 1)
        #expect(bodies.first?.isEmpty == false)
    }

    /// A source that can be opened once.
    private struct OneTimeSource: BodySource {
        let opened: Tally
        var length: Int64? { 4 }

        func open() throws -> any BodyReader {
            opened.add()
            guard opened.value == 1 else { throw Boom() }
            return Reader()
        }

        private final class Reader: BodyReader {
            private var isAtEnd = false

            func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
                if isAtEnd { return 0 }
                isAtEnd = true
                buffer.copyBytes(from: Data("once".utf8))
                return 4
            }
        }
    }

    @Test("A source that cannot be opened again ends the call")
    func oneTimeBody() async throws {
        let opened = Tally()
        let form = MultipartForm(parts: [.stream(OneTimeSource(opened: opened), name: "f")])
        let running = try RunningBackend(.system) { _ in .status(503) }
        let provider = provider(running.transport)
        let target = SturdyTarget(baseURL: running.baseURL, method: .put, task: .multipart(form))
        let (result, sleeps) = await clock.stepping { await provider.result(target) }
        #expect(result.failure?.stage == .transport)
        #expect(opened.value == 2)
        #expect(sleeps.count == 1)
    }
}
