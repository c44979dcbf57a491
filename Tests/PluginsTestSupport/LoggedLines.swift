// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The lines that a logger writes about one call, with the call's number left out: `[.0] → GET …`.
package struct LoggedLines {
    /// How long each exchange takes, by the logger's clock.
    let duration: Duration
    let plugins: [any Plugin]
    let redaction: Redaction
    let bodyLimit: Int

    package init(
        duration: Duration = .milliseconds(12),
        plugins: [any Plugin] = [],
        redaction: Redaction = Redaction(),
        bodyLimit: Int = 4096
    ) {
        self.duration = duration
        self.plugins = plugins
        self.redaction = redaction
        self.bodyLimit = bodyLimit
    }

    package func callAsFunction(
        _ level: NetworkLoggerPlugin.Level,
        _ target: any TargetType,
        answer: SampleResponse? = nil
    ) async -> [String] {
        let clock = ManualClock()
        let lines = Recorder<String>()
        let logger = NetworkLoggerPlugin(
            level: level,
            redaction: redaction,
            bodyLimit: bodyLimit,
            clock: clock,
            output: { lines.append($0) }
        )
        let provider = Provider<MultiTarget>(
            transport: StubTransport { [duration] _ in
                clock.advance(by: duration)
                return answer ?? target.sampleResponse
            },
            plugins: plugins + [logger]
        )
        _ = await provider.result(MultiTarget(target))
        let number = /^\[\d+/
        return lines.elements.map { $0.replacing(number, with: "[") }
    }

    /// The lines that a response's body makes, without what stands before them.
    package func responseBody(_ body: Data, type: String?) async -> [String] {
        let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? [:]
        let answer = SampleResponse.response(status: 200, headers: headers, data: body)
        return await self([.responseBody], PluginTarget(), answer: answer).map { String($0.dropFirst("[.0]   ".count)) }
    }
}
