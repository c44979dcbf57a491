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

@Suite("Presented errors", .throttled, .timeLimit(.minutes(2)))
struct ErrorPresentationPluginTests {
    private let shown = Recorder<String>()

    private var plugin: ErrorPresentationPlugin {
        ErrorPresentationPlugin { [shown] message, error in
            MainActor.assertIsolated()
            shown.append(message)
        }
    }

    @Test("A failed call is shown once, at its end; a cancelled one is not", arguments: CallEnding.allCases)
    func endings(_ ending: CallEnding) async {
        let result = await ending.run(through: plugin)
        await MainQueue.settle()
        let isShown = result.failure.map { $0.stage != .cancelled } ?? false
        #expect(shown.elements == (isShown ? [result.failure?.text(.summary) ?? ""] : []))
    }

    @Test("The message says what happened and what to do")
    func message() async {
        let target = PluginTarget(sampleResponse: .failure(URLError(.notConnectedToInternet)))
        let error = await Provider<PluginTarget>.stubbed(plugin).result(target).failure
        await MainQueue.settle()
        #expect(shown.elements == [error?.text(.summary) ?? ""])
        #expect(shown.elements.first?.contains(error?.text(.recoverySuggestion) ?? "?") == true)
    }

    @Test("A call that opts out is not shown, and overrides its target")
    func optOut() async {
        let provider = Provider<PluginTarget>.stubbed(plugin)
        let target = PluginTarget(sampleResponse: .failure(URLError(.timedOut)))
        for isShown in [false, true] {
            await #expect(throws: TargetKitError.self) {
                try await provider.request(target, options: .setting(\.showsErrors, isShown)) as Response
            }
        }
        await MainQueue.settle()
        #expect(shown.count == 1)
    }

    @Test("The failure of a stream's body and a response that cannot be decoded are shown")
    func later() async throws {
        var transport = StreamingTransport()
        transport.failure = URLError(.networkConnectionLost)
        transport.gate.open()
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin])
        let stream = try await provider.stream(PluginTarget())
        await #expect(throws: TargetKitError.self) { for try await _ in stream {} }
        await #expect(throws: TargetKitError.self) {
            try await Provider<PluginTarget>.stubbed(plugin).request(PluginTarget(), as: [Int].self)
        }
        await MainQueue.settle()
        #expect(shown.count == 2)
    }

    @Test("A call of a scope that is shut down is not shown")
    func shutDown() async {
        let scope = RequestScope()
        let provider = Provider<PluginTarget>.stubbed(plugin, scope: scope)
        await scope.shutdown(grace: .zero)
        #expect(await provider.result(PluginTarget()).failure?.stage == .shutDown)
        await MainQueue.settle()
        #expect(shown.count == 0)
    }
}
