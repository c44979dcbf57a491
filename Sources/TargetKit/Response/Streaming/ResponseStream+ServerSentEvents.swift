// SPDX-License-Identifier: MIT

extension ResponseStream {
    /// The events of an event stream as they arrive (HTML standard §9.2.5 and §9.2.6).
    ///
    /// An event ends with an empty line; an incomplete event at the end of the body is ignored. The bytes are decoded
    /// as UTF-8 regardless of `Content-Type`, and invalid bytes become U+FFFD. The status code and `Content-Type`
    /// aren't checked; `Provider.serverSentEvents(for:)` of TargetKitPlugins checks them, and reconnects when the stream
    /// ends.
    ///
    /// - Parameter limit: The maximum size of a line, and of an event's data, in bytes; default 8 MiB. Exceeding it
    ///   ends the sequence with an error of stage `.decoding`.
    public func serverSentEvents(limit: Int = 8 << 20) -> Elements<ServerSentEvent> {
        Elements(response: response, body: body, parser: ServerSentEventParser(limit: limit, lastEventID: nil))
    }
}

extension ResponseStream {
    /// The events of a stream that continues another one.
    ///
    /// - Parameter lastEventID: The last identifier of the other one.
    package func serverSentEvents(limit: Int, after lastEventID: String?) -> ParsedBody<ServerSentEvent> {
        ParsedBody(body, of: response, by: ServerSentEventParser(limit: limit, lastEventID: lastEventID))
    }
}

extension ParsedBody<ServerSentEvent> {
    /// What the server has sent for the stream that continues this one: the value for `Last-Event-ID`, and the
    /// reconnection time.
    package var nextStream: (lastEventID: String?, retry: Duration?)? {
        (parser as? ServerSentEventParser).map { ($0.lastEventID, $0.retry) }
    }
}
