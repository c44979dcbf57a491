// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport

@testable import TargetKitPlugins

/// A server whose streams a test lists: each is opened once, in order.
final class EventStreamScript: Sendable {
    typealias Opening = @Sendable () throws -> ResponseStream

    let clock = ManualClock()
    let opened = Recorder<HTTPHeaders>()
    private let openings: Locked<[Opening]>

    convenience init(_ openings: Opening...) {
        self.init(openings)
    }

    init(_ openings: [Opening]) {
        self.openings = Locked(openings)
    }

    /// Whether the streams are opened again.
    enum Reconnection {
        case never
        case always(after: Duration = .seconds(3), limit: Int? = nil)
    }

    func events(
        _ reconnection: Reconnection,
        lastEventID: String? = nil
    ) -> ResponseStream.Elements<ServerSentEvent> {
        let (delay, limit): (Duration?, Int?) =
            switch reconnection {
            case .never: (nil, nil)
            case .always(let delay, let limit): (delay, limit)
            }
        let source = ServerSentEventSource(
            target: TestTarget(.example),
            delay: delay,
            maximumReconnections: limit,
            lastEventID: lastEventID,
            limit: 100,
            jitter: { 0 },
            pause: { try await self.clock.sleep(for: $0) }
        ) { headers in
            self.opened.append(headers)
            let opening = self.openings.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let opening else { return ResponseStream(statusCode: 204, body: ResponseBody { nil }) }
            return try opening()
        }
        return ResponseStream.Elements { ReconnectingEventReader(source) }
    }
}

extension ResponseStream.Elements<ServerSentEvent> {
    /// Reads to the end, and lets every wait on the clock pass at once.
    func read(on clock: ManualClock) async -> (events: [ServerSentEvent], error: (any Error)?, waits: [Duration]) {
        let reading = Task { await collected() }
        let waiting = Task {
            var waits: [Duration] = []
            while !Task.isCancelled {
                try? await clock.waitForSleepers(within: .seconds(600))
                if !Task.isCancelled { waits.append(clock.advanceToNextDeadline()) }
            }
            return waits
        }
        let (events, error) = await reading.value
        waiting.cancel()
        return (events, error, await waiting.value)
    }
}

extension ResponseStream {
    /// A stream that says it is one of events.
    static func events(
        _ text: String,
        status: Int = 200,
        type: String? = "text/event-stream",
        failure: (any Error)? = nil
    ) -> ResponseStream {
        var headers = HTTPHeaders()
        headers[.contentType] = type
        return ResponseStream(statusCode: status, headers: headers, body: ResponseBody(text, failure: failure))
    }
}
