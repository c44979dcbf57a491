// SPDX-License-Identifier: MIT

import Foundation

extension ResponseStream {
    /// The events of the body, each of up to 8 MiB; see ``serverSentEvents(limit:)``.
    public var serverSentEvents: Elements<ServerSentEvent> { serverSentEvents(limit: 8 << 20) }

    /// The events of an event stream as they arrive (HTML standard §9.2.5 and §9.2.6).
    ///
    /// An event is complete with the empty line after it; an incomplete one at the end of the body is ignored. The bytes
    /// are decoded as UTF-8 regardless of `Content-Type`: invalid ones become U+FFFD. The status code and `Content-Type`
    /// are not checked; `Provider.serverSentEvents(for:)` checks them, and reconnects when the stream ends.
    ///
    /// - Parameter limit: The maximum size of a line, and of an event's data, in bytes, so that an event without an end
    ///   does not fill the memory. A larger one ends the sequence with a ``ResponseStreamError``.
    public func serverSentEvents(limit: Int) -> Elements<ServerSentEvent> {
        Elements(response: response, body: body, parser: ServerSentEventParser(limit: limit, lastEventID: nil))
    }
}
