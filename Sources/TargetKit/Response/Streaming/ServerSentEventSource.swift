// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Opens a stream of events, and opens it again when it ends.
struct ServerSentEventSource: Sendable {
    let target: any TargetType
    /// The time before the stream is opened again, unless the server sends one; `nil`: it is not opened again.
    let delay: Duration?
    /// The shortest time before the stream is opened again, whatever the server sends.
    var minimumDelay = Duration.milliseconds(500)
    /// How many times in a row it is opened again without an event; `nil`: no limit.
    let maximumReconnections: Int?
    let lastEventID: String?
    let limit: Int
    /// A random number from 0 to 1, so that clients that lost a server at the same time do not reconnect at the same
    /// time.
    var jitter: @Sendable () -> Double = { .random(in: 0...1) }
    /// Waits before the stream is opened again.
    let pause: @Sendable (Duration) async throws -> Void
    /// Opens the stream with header fields in addition to the target's.
    let open: @Sendable (HTTPHeaders) async throws -> ResponseStream

    /// The longest delay between two openings, unless the server asks for a longer one.
    private static let maximumDelay = Duration.seconds(30)

    /// The time before the stream is opened again. It doubles with each opening without an event, and is up to half as
    /// long again at random.
    ///
    /// - Parameters:
    ///   - base: The time that the server has sent, else the caller's.
    ///   - openings: How many times in a row the stream has been opened without an event.
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
}

/// Reads the events of a ``ServerSentEventSource``.
struct ServerSentEventReader: ElementReader {
    private let source: ServerSentEventSource
    private var events: ParsedBody<ServerSentEvent>?
    private var lastEventID: String?
    /// The time that the server has sent.
    private var delay: Duration?
    private var openingsWithoutEvent = 0
    private var isOver = false

    init(_ source: ServerSentEventSource) {
        self.source = source
        lastEventID = source.lastEventID
    }

    /// The next event, of this stream or of the one after it; `nil` at the end, and after a failure.
    ///
    /// - Throws: ``TargetKitError``: the failure of opening or reading the stream; of stage `.status` for a status code
    ///   other than 200 and 204; of stage `.decoding` for another `Content-Type`.
    mutating func next() async throws -> ServerSentEvent? {
        while !isOver {
            var failure: (any Error)?
            do {
                if let event = try await nextOfStream() { return event }
            } catch {
                failure = error
            }
            try await reconnect(after: failure)
        }
        return nil
    }

    /// The next event of the stream that is open, or of a new one; `nil` at its end.
    private mutating func nextOfStream() async throws -> ServerSentEvent? {
        if events == nil { events = try await open() }
        defer {
            if let parser = events?.parser as? ServerSentEventParser {
                lastEventID = parser.lastEventID
                delay = parser.retry ?? delay
            }
        }
        let event = try await events?.next(isolation: nil)
        if event != nil { openingsWithoutEvent = 0 }
        return event
    }

    /// Opens the stream; returns `nil` for status 204, which ends reconnecting (HTML standard §9.2.7).
    private mutating func open() async throws -> ParsedBody<ServerSentEvent>? {
        let stream: ResponseStream
        do {
            stream = try await source.open(source.headers(lastEventID: lastEventID))
        } catch let error as TargetKitError where error.stage == .status && error.response?.statusCode == 204 {
            isOver = true
            return nil
        }
        if stream.response.statusCode == 204 { isOver = true }
        guard !isOver else { return nil }
        try stream.response.checkEventStream()
        let parser = ServerSentEventParser(limit: source.limit, lastEventID: lastEventID)
        return ParsedBody(stream.body, of: stream.response, by: parser)
    }

    /// Waits before the stream is opened again, or ends the sequence.
    private mutating func reconnect(after failure: (any Error)?) async throws {
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
            throw TargetKitError(error, at: .cancelled, target: source.target)
        }
    }
}

extension Error {
    /// Whether reconnecting may succeed, because the failure is of the network, or the server is unavailable.
    fileprivate var mayPass: Bool {
        guard let error = self as? TargetKitError else { return false }
        if error.stage == .status, let response = error.response {
            return RetryAfter.statuses.contains(response.statusCode)
        }
        guard error.stage == .transport else { return false }
        return [.offline, .timedOut, .cannotConnect, .connectionLost, .unknown].contains(error.kind)
    }
}

extension Response {
    /// Checks that the response is an event stream.
    ///
    /// - Throws: ``TargetKitError`` if it is not (HTML standard §9.2.3).
    fileprivate func checkEventStream() throws {
        _ = try filter(.codes([200]))
        let contentType = headers[.contentType]
        let mediaType = contentType?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces) ?? ""
        guard mediaType.equalsIgnoringASCIICase("text/event-stream") else {
            throw streamFailure(ResponseStreamError.notAnEventStream(contentType: contentType))
        }
    }
}
