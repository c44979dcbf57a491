// SPDX-License-Identifier: MIT
import TargetKit

/// Opens a stream of events, and reopens it when it ends.
struct ServerSentEventSource: Sendable {
    let target: any TargetType
    /// The reconnection time, unless the server sends one; `nil` doesn't reopen the stream.
    let delay: Duration?
    /// The minimum reconnection time, also for a time that the server sends.
    var minimumDelay = Duration.milliseconds(500)
    /// The maximum number of consecutive reconnections without an event; `nil` for no limit.
    let maximumReconnections: Int?
    let lastEventID: String?
    let limit: Int
    /// A random number from 0 to 1, so that clients that lose a server together don't reconnect in lockstep.
    var jitter: @Sendable () -> Double = { .random(in: 0...1) }
    /// Waits before the stream is reopened.
    let pause: @Sendable (Duration) async throws -> Void
    /// Opens the stream with header fields in addition to the target's.
    let open: @Sendable (HTTPHeaders) async throws -> ResponseStream

    /// The maximum delay between openings, unless the server requests a longer delay.
    private static let maximumDelay = Duration.seconds(30)

    /// The time before the stream is reopened. It doubles with each opening without an event, plus a random amount of
    /// up to half the delay.
    ///
    /// - Parameters:
    ///   - base: The server's reconnection time, or else the caller's.
    ///   - openings: The number of consecutive openings without an event.
    func delay(_ base: Duration, after openings: Int, asked: Duration?) -> Duration {
        let base = LongestWait.limited(max(base, minimumDelay))
        let maximum = max(base, Self.maximumDelay)
        var delay = base
        for _ in 0..<min(openings, 40) where delay < maximum { delay = min(delay * 2, maximum) }
        if let asked { delay = max(delay, LongestWait.limited(asked)) }
        return delay + delay * (0.5 * jitter())
    }

    /// The header fields of HTML standard §9.2.3, and the last event's identifier (§9.2.4).
    func headers(lastEventID: String?) -> HTTPHeaders {
        var headers: HTTPHeaders = ["Accept": "text/event-stream", "Cache-Control": "no-cache"]
        headers["Last-Event-ID"] = lastEventID
        return headers
    }

    /// Checks that a response is an event stream.
    ///
    /// - Throws: `TargetKitError` if it isn't (HTML standard §9.2.3).
    fileprivate func check(_ response: Response) throws {
        _ = try response.filter(.codes([200]))
        let contentType = response.headers[.contentType]
        guard contentType?.mediaType == "text/event-stream" else {
            throw response.streamFailure(UnreadableBody.notAnEventStream(contentType: contentType))
        }
    }
}

/// Reads the events of a ``ServerSentEventSource``.
struct ReconnectingEventReader: ElementReader {
    private let source: ServerSentEventSource
    private var events: ServerSentEventReader?
    private var lastEventID: String?
    /// The server's reconnection time.
    private var delay: Duration?
    private var openingsWithoutEvent = 0
    private var isOver = false

    init(_ source: ServerSentEventSource) {
        self.source = source
        lastEventID = source.lastEventID
    }

    /// The next event of this stream or the following one; `nil` at the end and after a failure.
    ///
    /// - Throws: `TargetKitError` if the stream can't be opened or read; of stage `.status` for a status code other
    ///   than 200 and 204; of stage `.decoding` for another `Content-Type`.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
        while !isOver {
            var failure: (any Error)?
            do {
                if let event = try await nextOfStream(isolation: actor) { return event }
            } catch {
                failure = error
            }
            try await reconnect(after: failure, isolation: actor)
        }
        return nil
    }

    /// The next event of the open stream or a new one; `nil` at its end.
    private mutating func nextOfStream(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
        if events == nil { events = try await open(isolation: actor) }
        defer {
            if let events {
                lastEventID = events.lastEventID
                delay = events.retry ?? delay
            }
        }
        let event = try await events?.next(isolation: actor)
        if event != nil { openingsWithoutEvent = 0 }
        return event
    }

    /// Opens the stream; returns `nil` for status 204, which ends reconnecting (HTML standard §9.2.7).
    private mutating func open(isolation actor: isolated (any Actor)?) async throws -> ServerSentEventReader? {
        let stream: ResponseStream
        do {
            stream = try await source.open(source.headers(lastEventID: lastEventID))
        } catch let error as TargetKitError where error.stage == .status && error.response?.statusCode == 204 {
            isOver = true
            return nil
        }
        if stream.response.statusCode == 204 { isOver = true }
        guard !isOver else { return nil }
        try source.check(stream.response)
        return ServerSentEventReader(stream, limit: source.limit, lastEventID: lastEventID)
    }

    /// Waits before the stream is reopened, or ends the sequence.
    private mutating func reconnect(after failure: (any Error)?, isolation actor: isolated (any Actor)?) async throws {
        events = nil
        let isLastingFailure = failure.map { !$0.mayPass } ?? false
        let isAllowed = source.maximumReconnections.map { openingsWithoutEvent < $0 } ?? true
        guard !isOver, !isLastingFailure, isAllowed, let usual = source.delay else {
            isOver = true
            if let failure { throw failure }
            return
        }
        let asked = (failure as? TargetKitError)?.response.flatMap { RetryAfter.delay(in: $0.headers, now: Date()) }
        let time = source.delay(delay ?? usual, after: openingsWithoutEvent, asked: asked)
        openingsWithoutEvent += 1
        do {
            try await source.pause(time)
        } catch {
            isOver = true
            throw TargetKitError(stage: .cancelled, target: source.target, underlying: error)
        }
    }
}

extension Error {
    /// Whether reconnecting may succeed, because the network failed or the server is unavailable.
    fileprivate var mayPass: Bool {
        guard let error = self as? TargetKitError else { return false }
        if let status = error.rejectedStatusCode { return RetryAfter.statuses.contains(status) }
        guard error.stage == .transport else { return false }
        return [.offline, .timedOut, .cannotConnect, .connectionLost, .unknown].contains(error.kind)
    }
}
