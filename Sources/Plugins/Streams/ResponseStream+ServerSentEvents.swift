// SPDX-License-Identifier: MIT
import TargetKit

extension ResponseStream {
    /// The events of an event stream as they arrive (HTML standard §9.2.5 and §9.2.6).
    ///
    /// An event ends with an empty line; an incomplete event at the end of the body is ignored. The bytes are decoded
    /// as UTF-8 regardless of `Content-Type`, and invalid bytes become U+FFFD. The status code and `Content-Type`
    /// aren't checked; `Provider.serverSentEvents(for:)` checks them, and reconnects when the stream
    /// ends.
    ///
    /// - Parameter limit: The maximum size of a line, and of an event's data, in bytes; default 8 MiB. Exceeding it
    ///   ends the sequence with an error of stage `.decoding`.
    public func serverSentEvents(limit: Int = 8 << 20) -> Elements<ServerSentEvent> {
        Elements { ServerSentEventReader(self, limit: limit) }
    }
}
