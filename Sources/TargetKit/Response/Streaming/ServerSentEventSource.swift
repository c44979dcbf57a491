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
    /// How many times in a row it is opened again without an event; `nil`: no limit.
    let maximumReconnections: Int?
    let lastEventID: String?
    let limit: Int
    /// Waits before the stream is opened again.
    let pause: @Sendable (Duration) async throws -> Void
    /// Opens the stream with header fields in addition to the target's.
    let open: @Sendable (HTTPHeaders) async throws -> ResponseStream

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
        openingsWithoutEvent += 1
        do {
            try await source.pause(delay ?? usual)
        } catch {
            isOver = true
            throw TargetKitError(error, at: .cancelled, target: source.target)
        }
    }
}

extension Error {
    /// Whether reconnecting may succeed, because the failure is of the network.
    fileprivate var mayPass: Bool {
        guard let error = self as? TargetKitError, error.stage == .transport else { return false }
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
